// The API's calls as plain functions. gRPC's headers stay behind this one.
//
// Every call has a deadline. A status has the server's own message; where no server answers it is Unavailable and says
// which server was asked and how it was found.
// Thread safety: safe.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "assay/v1/admin.pb.h"
#include "assay/v1/evaluations.pb.h"
#include "assay/v1/leaderboard.pb.h"
#include "assay/v1/suites.pb.h"
#include "assay/v1/workers.pb.h"
#include "client/endpoint.h"

namespace assay::client {

class Api {
 public:
  // Reads the TLS files; does not speak with the server yet.
  static absl::StatusOr<std::unique_ptr<Api>> Connect(const Endpoint& endpoint);
  ~Api();

  absl::StatusOr<v1::FindMissingGraphsResponse> Call(const v1::FindMissingGraphsRequest& request);
  absl::StatusOr<v1::UploadGraphsResponse> Call(const v1::UploadGraphsRequest& request);
  absl::StatusOr<v1::GraphSample> Call(const v1::GetGraphRequest& request);
  absl::StatusOr<v1::Suite> Call(const v1::CreateSuiteRequest& request);
  absl::StatusOr<v1::ListSuitesResponse> Call(const v1::ListSuitesRequest& request);
  absl::StatusOr<v1::Suite> Call(const v1::GetSuiteRequest& request);
  absl::StatusOr<v1::CreateSubsetResponse> Call(const v1::CreateSubsetRequest& request);

  absl::StatusOr<v1::Evaluation> Call(const v1::CreateEvaluationRequest& request);
  absl::StatusOr<v1::Evaluation> Call(const v1::ImportEvaluationRequest& request);
  absl::StatusOr<v1::Evaluation> Call(const v1::GetEvaluationRequest& request);
  absl::StatusOr<v1::ListEvaluationsResponse> Call(const v1::ListEvaluationsRequest& request);
  absl::StatusOr<v1::Evaluation> Call(const v1::CancelEvaluationRequest& request);
  absl::StatusOr<v1::ListOutcomesResponse> Call(const v1::ListOutcomesRequest& request);
  absl::StatusOr<v1::ListMeasurementsResponse> Call(const v1::ListMeasurementsRequest& request);

  absl::StatusOr<v1::GetLeaderboardResponse> Call(const v1::GetLeaderboardRequest& request);
  absl::StatusOr<v1::Curve> Call(const v1::GetCurveRequest& request);

  absl::StatusOr<v1::ListWorkersResponse> Call(const v1::ListWorkersRequest& request);
  absl::StatusOr<v1::ListTargetsResponse> Call(const v1::ListTargetsRequest& request);

  absl::StatusOr<v1::CreateTokenResponse> Call(const v1::CreateTokenRequest& request);
  absl::StatusOr<v1::ListTokensResponse> Call(const v1::ListTokensRequest& request);
  absl::StatusOr<v1::Token> Call(const v1::RevokeTokenRequest& request);
  absl::StatusOr<v1::DrainWorkerResponse> Call(const v1::DrainWorkerRequest& request);
  absl::StatusOr<v1::RecordCalibrationResponse> Call(const v1::RecordCalibrationRequest& request);

 private:
  struct Stubs;
  explicit Api(std::unique_ptr<Stubs> stubs);
  std::unique_ptr<Stubs> stubs_;
};

}  // namespace assay::client
