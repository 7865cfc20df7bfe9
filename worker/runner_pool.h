// The runners of a worker's configuration: what each describes, and a process for each trial. A runner that can fork
// has one warm parent here, started again where it died; any other is started for every trial. Thread safety: none; a
// pool belongs to the thread that runs `io`, and must end before it does.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/workers.pb.h"
#include "worker/config.h"
#include "worker/runner_process.h"

namespace assay::worker {

// One runner of the configuration with what it said of itself.
struct KnownRunner {
  RunnerConfig config;
  Launch launch;
  v1::Runner offer;
  std::vector<v1::Device> devices;
  bool forks = false;
  bool pairs = false;     // has `pair`
  std::string reference;  // its compiler that runs graphs in float64 as a reference; empty: none
  bool colds = false;     // its `pair` can empty the caches before each sample
  bool lowers = false;    // has `lower`, for its own compilers
  std::map<std::string, std::string> lowered_by;  // compilers that another runner lowers for: its name
  std::vector<v1::Compiler> lowers_for;           // compilers of other runners that it lowers for
  std::vector<std::string> graphs;                // kinds that it takes: "torch", "stablehlo"
  std::string lowering;  // of a runner that lowers: what its result depends on beside the graph and the environment
};

struct TrialProcess {
  std::shared_ptr<RunnerProcess> process;
  bool isolated = false;
};

class RunnerPool {
 public:
  // `groups`, where there are any, limit the runners' memory.
  RunnerPool(boost::asio::io_context& io, const Config& config, MemoryGroups* groups = nullptr)
      : io_(io), config_(config), groups_(groups) {}
  ~RunnerPool();

  // Starts the runner, asks it to describe itself and keeps its parent warm. The error names the runner, and has the
  // end of its output.
  absl::StatusOr<KnownRunner> Describe(const RunnerConfig& runner, std::stop_token stop);

  // A process that serves one trial. Its output starts empty.
  absl::StatusOr<TrialProcess> Start(const KnownRunner& runner, int64_t memory_limit_bytes, std::stop_token stop);

 private:
  struct Parent {
    std::string key;
    std::shared_ptr<RunnerProcess> process;
  };
  absl::StatusOr<std::shared_ptr<RunnerProcess>> StartProcess(const Launch& launch, int64_t memory_limit_bytes);
  absl::StatusOr<std::shared_ptr<RunnerProcess>> WarmParent(const KnownRunner& runner, int64_t memory_limit_bytes);

  boost::asio::io_context& io_;
  const Config& config_;
  MemoryGroups* groups_;
  std::vector<Parent> parents_;
};

// Whether the runner has devices of a kind.
bool Drives(const KnownRunner& runner, const std::string& device_kind);

// A compiler that the runner offers; nullptr where it has none of that name.
const v1::Compiler* FindCompiler(const KnownRunner& runner, const std::string& name);

// The runner that has the target's compiler in an environment for a kind of device; nullptr where none has. An
// environment is known by its content: the same under another name serves where none has both, and where none has the
// content that the target wants, one of the right name comes back all the same, for its caller to say so.
const KnownRunner* RunnerFor(const std::vector<KnownRunner>& runners, const v1::Target& target,
                             const std::string& environment, const std::string& device_kind);

// The runner that lowers for a compiler of `runner`, in the same environment; nullptr where there is none.
const KnownRunner* LoweringRunner(const std::vector<KnownRunner>& runners, const KnownRunner& runner,
                                  const std::string& compiler);

// Gives compilers that another runner lowers for the options and the version that it told, and takes those out of the
// offers for which there is no such runner. Their names.
std::vector<std::string> LinkLowering(std::vector<KnownRunner>& runners);

// Reads a reply to `describe` into `runner`. InvalidArgument says which part breaks the protocol.
absl::Status ReadDescription(const boost::json::object& description, KnownRunner& runner);

}  // namespace assay::worker
