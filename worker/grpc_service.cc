#include <grpcpp/grpcpp.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include "assay/v1/suites.grpc.pb.h"
#include "assay/v1/workers.grpc.pb.h"
#include "fmt/format.h"
#include "worker/service.h"

namespace assay::worker {
namespace {

constexpr double kCallSeconds = 20;
constexpr int kMessageBytes = 256 << 20;

absl::Status ToStatus(const grpc::Status& status, std::string_view call, const std::string& server) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      fmt::format("{} of {}: {}", call, server, status.error_message()));
}

absl::StatusOr<std::string> ReadPem(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return absl::InvalidArgumentError(fmt::format("{} cannot be read", file));
  return text.str();
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> Credentials(const Config& config) {
  if (config.server_ca.empty()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  for (const auto& [file, to] : {std::pair{&config.server_ca, &options.pem_root_certs},
                                 std::pair{&config.client_certificate, &options.pem_cert_chain},
                                 std::pair{&config.client_key, &options.pem_private_key}}) {
    if (file->empty()) continue;
    absl::StatusOr<std::string> pem = ReadPem(*file);
    if (!pem.ok()) return pem.status();
    *to = *std::move(pem);
  }
  return grpc::SslCredentials(options);
}

class GrpcService : public Service {
 public:
  GrpcService(const std::shared_ptr<grpc::Channel>& channel, const Config& config)
      : workers_(v1::Workers::NewStub(channel)),
        suites_(v1::Suites::NewStub(channel)),
        token_(config.token),
        server_(config.server) {}

  absl::StatusOr<v1::SynchroniseResponse> Synchronise(const v1::SynchroniseRequest& request,
                                                      std::stop_token stop) override {
    return Call<v1::SynchroniseResponse>("Synchronise", request.wait_seconds() + kCallSeconds, stop,
                                         [&](grpc::ClientContext* context, v1::SynchroniseResponse* response) {
                                           return workers_->Synchronise(context, request, response);
                                         });
  }

  absl::StatusOr<v1::ReportResponse> Report(const v1::ReportRequest& request, std::stop_token stop) override {
    return Call<v1::ReportResponse>("Report", kCallSeconds, stop,
                                    [&](grpc::ClientContext* context, v1::ReportResponse* response) {
                                      return workers_->Report(context, request, response);
                                    });
  }

  absl::StatusOr<graph::Sample> GetGraph(std::string_view hash) override {
    v1::GetGraphRequest request;
    request.set_hash(std::string(hash));
    absl::StatusOr<v1::GraphSample> sample = Call<v1::GraphSample>(
        "GetGraph", kCallSeconds, {}, [&](grpc::ClientContext* context, v1::GraphSample* response) {
          return suites_->GetGraph(context, request, response);
        });
    if (!sample.ok()) return sample.status();
    return graph::Sample{sample->model(), sample->weight_meta(), sample->input_meta(), sample->info()};
  }

  absl::StatusOr<std::string> GetLowering(const v1::LoweringKey& key) override {
    v1::GetLoweringRequest request;
    *request.mutable_key() = key;
    absl::StatusOr<v1::Lowering> lowering =
        Call<v1::Lowering>("GetLowering", kCallSeconds, {}, [&](grpc::ClientContext* context, v1::Lowering* response) {
          return workers_->GetLowering(context, request, response);
        });
    if (!lowering.ok()) return lowering.status();
    return std::move(*lowering->mutable_content());
  }

  absl::Status PutLowering(const v1::LoweringKey& key, std::string_view content) override {
    v1::PutLoweringRequest request;
    *request.mutable_key() = key;
    request.set_content(std::string(content));
    return Call<v1::PutLoweringResponse>("PutLowering", kCallSeconds, {},
                                         [&](grpc::ClientContext* context, v1::PutLoweringResponse* response) {
                                           return workers_->PutLowering(context, request, response);
                                         })
        .status();
  }

 private:
  template <typename Response, typename Function>
  absl::StatusOr<Response> Call(std::string_view name, double seconds, std::stop_token stop, Function function) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds)));
    if (!token_.empty()) context.AddMetadata("authorization", "Bearer " + token_);
    std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
    Response response;
    const grpc::Status status = function(&context, &response);
    if (absl::Status s = ToStatus(status, name, server_); !s.ok()) return s;
    return response;
  }

  std::unique_ptr<v1::Workers::Stub> workers_;
  std::unique_ptr<v1::Suites::Stub> suites_;
  std::string token_, server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Service>> MakeGrpcService(const Config& config) {
  if (config.server.empty())
    return absl::InvalidArgumentError("the worker's configuration names no server (server = \"host:port\")");
  absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> credentials = Credentials(config);
  if (!credentials.ok()) return credentials.status();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytes);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30000);
  return std::make_unique<GrpcService>(grpc::CreateCustomChannel(config.server, *credentials, arguments), config);
}

}  // namespace assay::worker
