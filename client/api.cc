#include "client/api.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "assay/v1/admin.grpc.pb.h"
#include "assay/v1/evaluations.grpc.pb.h"
#include "assay/v1/leaderboard.grpc.pb.h"
#include "assay/v1/suites.grpc.pb.h"
#include "assay/v1/workers.grpc.pb.h"
#include "fmt/format.h"

namespace assay::client {

struct Api::Stubs {
  Stubs(Endpoint e, const std::shared_ptr<grpc::Channel>& channel)
      : endpoint(std::move(e)),
        suites(v1::Suites::NewStub(channel)),
        evaluations(v1::Evaluations::NewStub(channel)),
        leaderboard(v1::Leaderboard::NewStub(channel)),
        workers(v1::Workers::NewStub(channel)),
        admin(v1::Admin::NewStub(channel)) {}

  Endpoint endpoint;
  std::unique_ptr<v1::Suites::Stub> suites;
  std::unique_ptr<v1::Evaluations::Stub> evaluations;
  std::unique_ptr<v1::Leaderboard::Stub> leaderboard;
  std::unique_ptr<v1::Workers::Stub> workers;
  std::unique_ptr<v1::Admin::Stub> admin;
};

namespace {

using std::chrono::seconds;
constexpr seconds kDeadline{60};
constexpr seconds kUploadDeadline{600};  // the server parses every graph again

absl::Status ToStatus(const grpc::Status& status, const Endpoint& endpoint) {
  const std::string& message = status.error_message();
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return absl::OkStatus();
    case grpc::StatusCode::UNAVAILABLE:
      return absl::UnavailableError(fmt::format("no answer from the server at {} ({}{}): {}", endpoint.address,
                                                endpoint.origin, endpoint.tls ? ", by TLS" : "", message));
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return absl::DeadlineExceededError(
          fmt::format("the server at {} ({}) did not answer in time", endpoint.address, endpoint.origin));
    case grpc::StatusCode::UNAUTHENTICATED:
      if (endpoint.token.empty()) {
        return absl::UnauthenticatedError(
            fmt::format("the server at {} wants a token: set ASSAY_TOKEN ({})", endpoint.address, message));
      }
      break;
    default:
      break;
  }
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), message);
}

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Invoke(const Endpoint& endpoint, Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request, seconds deadline = kDeadline) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  if (!endpoint.token.empty()) context.AddMetadata("authorization", "Bearer " + endpoint.token);
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (!status.ok()) return ToStatus(status, endpoint);
  return response;
}

}  // namespace

Api::Api(std::unique_ptr<Stubs> stubs) : stubs_(std::move(stubs)) {}
Api::~Api() = default;

absl::StatusOr<std::unique_ptr<Api>> Api::Connect(const Endpoint& endpoint) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (endpoint.tls) {
    grpc::SslCredentialsOptions options;
    const std::pair<const std::string*, std::string*> files[] = {{&endpoint.tls_ca, &options.pem_root_certs},
                                                                 {&endpoint.tls_cert, &options.pem_cert_chain},
                                                                 {&endpoint.tls_key, &options.pem_private_key}};
    for (const auto& [file, text] : files) {
      if (file->empty()) continue;
      absl::StatusOr<std::string> read = ReadFile(*file, 1 << 20);
      if (!read.ok()) return read.status();
      *text = *std::move(read);
    }
    credentials = grpc::SslCredentials(options);
  }
  for (const char c : endpoint.token) {
    if (c < 0x21 || c > 0x7e) return absl::UnauthenticatedError("the token has characters that no token has");
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // whole measurements with their samples
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const auto channel = grpc::CreateCustomChannel(endpoint.address, credentials, arguments);
  return std::unique_ptr<Api>(new Api(std::make_unique<Stubs>(endpoint, channel)));
}

#define ASSAY_CALL(stub, Service, Method, Request, Response, ...)                                       \
  absl::StatusOr<v1::Response> Api::Call(const v1::Request& request) {                                  \
    return Invoke(stubs_->endpoint, *stubs_->stub, &v1::Service::Stub::Method, request, ##__VA_ARGS__); \
  }

ASSAY_CALL(suites, Suites, FindMissingGraphs, FindMissingGraphsRequest, FindMissingGraphsResponse)
ASSAY_CALL(suites, Suites, UploadGraphs, UploadGraphsRequest, UploadGraphsResponse, kUploadDeadline)
ASSAY_CALL(suites, Suites, GetGraph, GetGraphRequest, GraphSample)
ASSAY_CALL(suites, Suites, CreateSuite, CreateSuiteRequest, Suite)
ASSAY_CALL(suites, Suites, ListSuites, ListSuitesRequest, ListSuitesResponse)
ASSAY_CALL(suites, Suites, GetSuite, GetSuiteRequest, Suite)
ASSAY_CALL(suites, Suites, CreateSubset, CreateSubsetRequest, CreateSubsetResponse)
ASSAY_CALL(evaluations, Evaluations, CreateEvaluation, CreateEvaluationRequest, Evaluation)
ASSAY_CALL(evaluations, Evaluations, ImportEvaluation, ImportEvaluationRequest, Evaluation, kUploadDeadline)
ASSAY_CALL(evaluations, Evaluations, GetEvaluation, GetEvaluationRequest, Evaluation,
           kDeadline + seconds(static_cast<int64_t>(request.wait_seconds())))
ASSAY_CALL(evaluations, Evaluations, ListEvaluations, ListEvaluationsRequest, ListEvaluationsResponse)
ASSAY_CALL(evaluations, Evaluations, CancelEvaluation, CancelEvaluationRequest, Evaluation)
ASSAY_CALL(evaluations, Evaluations, ListOutcomes, ListOutcomesRequest, ListOutcomesResponse)
ASSAY_CALL(evaluations, Evaluations, ListMeasurements, ListMeasurementsRequest, ListMeasurementsResponse)
ASSAY_CALL(leaderboard, Leaderboard, GetLeaderboard, GetLeaderboardRequest, GetLeaderboardResponse)
ASSAY_CALL(leaderboard, Leaderboard, GetCurve, GetCurveRequest, Curve)
ASSAY_CALL(workers, Workers, ListWorkers, ListWorkersRequest, ListWorkersResponse)
ASSAY_CALL(workers, Workers, ListTargets, ListTargetsRequest, ListTargetsResponse)
ASSAY_CALL(admin, Admin, CreateToken, CreateTokenRequest, CreateTokenResponse)
ASSAY_CALL(admin, Admin, ListTokens, ListTokensRequest, ListTokensResponse)
ASSAY_CALL(admin, Admin, RevokeToken, RevokeTokenRequest, Token)
ASSAY_CALL(admin, Admin, DrainWorker, DrainWorkerRequest, DrainWorkerResponse)
ASSAY_CALL(admin, Admin, RecordCalibration, RecordCalibrationRequest, RecordCalibrationResponse)
#undef ASSAY_CALL

}  // namespace assay::client
