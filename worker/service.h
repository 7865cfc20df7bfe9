// The coordinator, as a worker sees it.
// Thread safety: all methods may be called from any thread.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "assay/v1/workers.pb.h"
#include "graph/parse.h"
#include "worker/config.h"

namespace assay::worker {

class Service {
 public:
  virtual ~Service() = default;
  // Each waits at most a time of its own beyond what the request asks to wait, and ends early where `stop` is
  // triggered.
  virtual absl::StatusOr<v1::SynchroniseResponse> Synchronise(const v1::SynchroniseRequest& request,
                                                              std::stop_token stop) = 0;
  virtual absl::StatusOr<v1::ReportResponse> Report(const v1::ReportRequest& request, std::stop_token stop) = 0;
  virtual absl::StatusOr<graph::Sample> GetGraph(std::string_view hash) = 0;
  // A graph that was lowered before, as PutLowering() was given it; NotFound where there is none.
  virtual absl::StatusOr<std::string> GetLowering(const v1::LoweringKey& key) = 0;
  virtual absl::Status PutLowering(const v1::LoweringKey& key, std::string_view content) = 0;
};

// Over gRPC, with the token, TLS and certificates of the configuration. InvalidArgument where those cannot be used.
absl::StatusOr<std::unique_ptr<Service>> MakeGrpcService(const Config& config);

}  // namespace assay::worker
