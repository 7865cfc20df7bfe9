// What a trial's policy comes to on this worker: what was asked for, with the policy's name and the worker's
// configuration for the rest. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "graph/replay.h"
#include "measure/schedule.h"
#include "worker/config.h"
#include "worker/trial_arm.h"

namespace assay::worker {

struct TrialPolicy {
  bool compiles_only = false;  // the candidate is the only arm, and is not run
  measure::Policy timing;      // of a trial that runs something
  bool cold = false;           // caches are emptied before each timed call
  graph::ReplayMode replay = graph::ReplayMode::kAssay;
  ArmLimits limits;
  int64_t memory_limit_bytes = 0;  // of a runner
};

// `memory_limit_bytes` is what a runner may use here, whoever asks. InvalidArgument says what this worker does not know
// or cannot do.
absl::StatusOr<TrialPolicy> ResolvePolicy(const v1::Policy& asked, const Config& config, int64_t memory_limit_bytes);

// The policy as a measurement tells it: nothing is left to a default.
void Tell(const TrialPolicy& policy, const v1::Policy& asked, v1::Policy* told);

}  // namespace assay::worker
