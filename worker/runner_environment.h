// The content address of a runner environment: what is installed in its packages' folder, by which interpreter, and the
// runner's own program. Two machines with the same packages have the same hash; two builds of one compiler differ.
// Thread safety: pure functions, apart from the file system.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/config.h"

namespace assay::worker {

// 64 hex digits. Each installed distribution counts by its RECORD (names, sizes and hashes of its files), the
// interpreter by its version, the program by its bytes. No path of this machine is in it.
absl::StatusOr<std::string> HashRunnerEnvironment(const RunnerConfig& runner);

}  // namespace assay::worker
