// The worker as a daemon: runners, devices, the exchange with the coordinator, and signals.
// Thread safety: one thread.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "assay/v1/workers.pb.h"
#include "worker/config.h"
#include "worker/service.h"

namespace assay::worker {

inline constexpr char kWorkerVersion[] = "0.1.0";

// Until drained. SIGTERM lets what runs finish for config.drain_seconds; SIGINT, or a second signal, gives it back at
// once.
absl::Status RunDaemon(const Config& config, Service& service);

// Runs one assignment with the graph in `graph_folder`, without a coordinator.
absl::StatusOr<v1::Measurement> RunOneTrial(const Config& config, v1::Assignment assignment,
                                            const std::string& graph_folder);

// What this worker would offer, as JSON: worker, devices, runners, environment.
absl::StatusOr<std::string> DescribeWorker(const Config& config);

}  // namespace assay::worker
