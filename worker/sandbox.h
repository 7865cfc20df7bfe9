// How a runner is started: the command line that puts it into its sandbox.
//
// `full` is bubblewrap: no network, a read-only file system that holds only the system's programs and libraries and
// the runner's own paths, an own /tmp, own PIDs, IPC and host name, a cleared environment; it dies with the worker.
// Started by root, the runner is user 65534 without any capability. `none` gives a cleared environment and the
// worker's own user, and must be asked for.
// Thread safety: pure functions, apart from the file system.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/config.h"

namespace assay::worker {

struct Launch {
  std::vector<std::string> arguments;            // arguments[0] is the program's absolute path
  std::map<std::string, std::string> variables;  // the whole environment
};

// NotFound where the runner's program or one of its paths does not exist: the message names it.
absl::StatusOr<Launch> PlanLaunch(const RunnerConfig& runner, SandboxLevel level);

// Runs a trivial program in the sandbox. FailedPrecondition says why it does not work here and what can be done.
absl::Status ProbeSandbox(SandboxLevel level);

}  // namespace assay::worker
