// One execution of a trial, step by step: fetch, replay, lock, start, load, compile, run on both input sets, compare,
// time, compare again. Every way in which a runner can fail ends in a measurement; only Assay's own failures are of the
// class INFRASTRUCTURE.
// Thread safety: none; on the thread that runs `io`. The stop token may be triggered from anywhere.
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "assay/v1/workers.pb.h"
#include "graph/parse.h"
#include "worker/config.h"
#include "worker/environment.h"
#include "worker/lowered_store.h"
#include "worker/runner_pool.h"

namespace assay::worker {

struct TrialContext {
  RunnerPool& pool;
  const std::vector<KnownRunner>& runners;
  const Config& config;
  const Environment& environment;
  const LoweredStore& lowered;
  v1::Device device;
};

// The canonical sample of the trial's graph.
using FetchGraph = std::function<absl::StatusOr<graph::Sample>(std::string_view hash)>;

// Cancelled where `stop` was triggered: then there is nothing to report. `on_phase` hears each phase's name.
absl::StatusOr<v1::Measurement> RunTrial(const TrialContext& context, const v1::Assignment& assignment,
                                         const FetchGraph& fetch, std::stop_token stop,
                                         std::function<void(std::string_view)> on_phase);

}  // namespace assay::worker
