// The float64 reference: the graph run once more by eager, with inputs, weights and dtypes widened (graph/float64.h),
// on both input sets. It says which of two arms is wrong where they differ, and changes no outcome. Thread safety:
// none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "graph/graph.h"
#include "runner/memory_file.h"
#include "worker/input_set.h"
#include "worker/phase_log.h"
#include "worker/runner_pool.h"
#include "worker/trial_arm.h"

namespace assay::worker {

struct ReferenceRequest {
  RunnerPool& pool;
  const std::vector<KnownRunner>& runners;
  const KnownRunner* preferred = nullptr;  // the baseline's
  const graph::Graph& graph;
  std::string graph_hash;
  const v1::Device& device;
  const InputSets& inputs;
  ArmLimits limits;
  const LoweredStore& store;
  int64_t memory_limit = 0;
  int lock = -1;
  int harness_threads = 1;
  // By arm, then by set: public, secret.
  std::array<const std::array<std::optional<runner::TensorBytes>, 2>*, 2> outputs;
};

// `failure` of what it returns says why there is no reference.
v1::Reference RunReference(const ReferenceRequest& request, PhaseLog& phases, std::stop_token stop);

// Both sets with every floating-point tensor as float64, every complex one as complex128.
absl::StatusOr<InputSets> WidenInputs(const InputSets& inputs);

// The reference's outputs in the dtypes of an arm's, rounded to the nearest value. InvalidArgument where they do not
// belong together.
absl::StatusOr<runner::TensorBytes> NarrowOutputs(const runner::TensorBytes& reference,
                                                  const runner::TensorBytes& like);

}  // namespace assay::worker
