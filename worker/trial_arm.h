// One arm of a trial: its target, the process that serves it, and the requests that bring it from nothing to outputs.
// Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "worker/input_set.h"
#include "worker/lowered_store.h"
#include "worker/phase_log.h"
#include "worker/runner_pool.h"

namespace assay::worker {

inline constexpr char kSecretSetName[] = "s1";  // a name that tells a runner nothing
inline constexpr int kNoSecretSet = -1;         // in the place of its descriptor

// How a trial ends before its end: a failure of an arm.
struct ArmFailure {
  CallFailure failure;
  bool cheating = false;  // the contents of a reply contradict what the worker saw
};

struct ArmLimits {
  double load_seconds = 0, compile_seconds = 0, run_seconds = 0;
  int threads = 0;
  int64_t output_bytes = 0;
  std::string default_dtype = {};  // of tensors that a graph makes without naming one; empty: the runner's own
};

struct TrialArm {
  v1::Target target;
  const KnownRunner* runner = nullptr;
  const KnownRunner* lowering = nullptr;  // another runner that lowers for this compiler
  std::shared_ptr<RunnerProcess> process;
  bool isolated = false;
  int64_t handle = 0;
  bool mutates = false;
  std::string graph_hash;                                     // of the graph that is loaded
  std::optional<runner::MemoryFile> lowered;                  // what the other runner made
  int64_t lower_ns = 0, lower_peak_bytes = 0;                 // … and what that took
  v1::Arm told;                                               // for the measurement
  std::array<std::optional<runner::TensorBytes>, 2> outputs;  // of the public and of the secret set
  std::vector<double> call_seconds;                           // of the calls so far, in this process

  bool worker_timed() const { return !runner->config.trusted || !runner->pairs; }
};

class ArmSteps {
 public:
  // `store` keeps what runners lowered.
  ArmSteps(PhaseLog& phases, const ArmLimits& limits, const LoweredStore& store, std::stop_token stop)
      : phases_(phases), limits_(limits), store_(store), stop_(stop) {}

  // Sends graph and tensors; the secret set too, where there is one. `lock` is the device lock that the process keeps.
  std::optional<ArmFailure> Load(TrialArm& arm, const boost::json::object& graph, const std::string& device,
                                 int public_set, int secret_set, int lock, const std::string& phase);
  // Has `process`, of the runner `arm.lowering`, lower the graph for the arm's compiler.
  std::optional<ArmFailure> LowerElsewhere(RunnerProcess& process, TrialArm& arm, const boost::json::object& graph,
                                           const std::string& device, int public_set, int lock,
                                           const std::string& phase);
  // `name` is the arm's. A runner that lowers does so before, in a phase of its own.
  std::optional<ArmFailure> Compile(TrialArm& arm, const std::string& name);
  // One call on each input set; keeps the outputs.
  std::optional<ArmFailure> Run(TrialArm& arm, const std::string& phase);
  // Fetches what `compile` told of, as far as it is small enough to keep.
  std::optional<ArmFailure> FetchArtifacts(TrialArm& arm);

 private:
  Outcome<Reply> RequestLoad(RunnerProcess& process, const boost::json::object& graph, const std::string& device,
                             int public_set, int lock);
  std::optional<ArmFailure> Lower(TrialArm& arm, const std::string& phase);
  std::optional<ArmFailure> RunSet(TrialArm& arm, int set);

  PhaseLog& phases_;
  const ArmLimits& limits_;
  const LoweredStore& store_;
  std::stop_token stop_;
};

}  // namespace assay::worker
