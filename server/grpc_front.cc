#include "server/grpc_front.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/service_type.h>

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

#include "server/text.h"

namespace assay::server {

namespace {

using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;
using Handler = grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>;

grpc::Status GrpcStatus(const absl::Status& status) {
  // The codes have the same numbers.
  return {static_cast<grpc::StatusCode>(status.raw_code()), std::string(status.message())};
}

bool Parse(const grpc::ByteBuffer& buffer, google::protobuf::Message& message) {
  grpc::Slice slice;
  if (buffer.DumpToSingleSlice(&slice).ok())
    return message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
  return false;
}

grpc::ByteBuffer Print(const google::protobuf::Message& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeToArray(const_cast<uint8_t*>(slice.begin()), static_cast<int>(slice.size()));
  return grpc::ByteBuffer(&slice, 1);
}

// One call. Lives until both gRPC and the Api have let go of it.
class Reactor : public grpc::ServerUnaryReactor {
 public:
  static Reactor* Start(Api& api, const MethodDescriptor* method, grpc::CallbackServerContext* context,
                        const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
    auto* reactor = new Reactor;
    auto call = std::make_shared<Call>();
    reactor->call_ = call;
    call->request = api.NewRequest(method);
    if (!Parse(*request, *call->request)) {
      reactor->Finish(
          {grpc::StatusCode::INVALID_ARGUMENT, Cat("the request is not a ", method->input_type()->full_name())});
      return reactor;
    }
    std::string authorization;
    const auto it = context->client_metadata().find("authorization");
    if (it != context->client_metadata().end()) authorization.assign(it->second.data(), it->second.size());
    // OnDone, which deletes the reactor, comes after Finish.
    call->done = [reactor, response, raw = call.get()](absl::Status status) {
      if (status.ok()) *response = Print(*raw->response);
      reactor->Finish(GrpcStatus(status));
    };
    api.Start(method, authorization, std::move(call));
    return reactor;
  }

  void OnDone() override { delete this; }
  void OnCancel() override { call_->cancelled = true; }

 private:
  std::shared_ptr<Call> call_;
};

class Service : public grpc::Service {
 public:
  Service(Api& api, const std::vector<const MethodDescriptor*>& methods) {
    for (size_t i = 0; i < methods.size(); ++i) {
      const MethodDescriptor* method = methods[i];
      names_.push_back(std::make_unique<std::string>(Cat("/", method->service()->full_name(), "/", method->name())));
      AddMethod(
          new grpc::internal::RpcServiceMethod(names_.back()->c_str(), grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
      MarkMethodRawCallback(static_cast<int>(i),
                            new Handler([&api, method](grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
                              return Reactor::Start(api, method, context, request, response);
                            }));
    }
  }

 private:
  std::vector<std::unique_ptr<std::string>> names_;  // gRPC keeps the pointers
};

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return absl::NotFoundError(Cat("cannot read ", path));
  return text.str();
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> Credentials(const GrpcOptions& options) {
  if (options.tls_cert.empty() && options.tls_key.empty() && options.tls_client_ca.empty()) {
    return grpc::InsecureServerCredentials();
  }
  const auto cert = ReadFile(options.tls_cert);
  if (!cert.ok()) return cert.status();
  const auto key = ReadFile(options.tls_key);
  if (!key.ok()) return key.status();
  grpc::SslServerCredentialsOptions ssl;
  if (!options.tls_client_ca.empty()) {
    const auto ca = ReadFile(options.tls_client_ca);
    if (!ca.ok()) return ca.status();
    ssl.pem_root_certs = *ca;
    ssl.client_certificate_request = GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  }
  ssl.pem_key_cert_pairs.push_back({*key, *cert});
  return grpc::SslServerCredentials(ssl);
}

class Front : public GrpcFront {
 public:
  ~Front() override { Stop(); }

  absl::Status Start(Api& api, const GrpcOptions& options) {
    const auto credentials = Credentials(options);
    if (!credentials.ok()) return credentials.status();
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    builder.AddListeningPort(options.address, *credentials, &port_);
    builder.SetMaxReceiveMessageSize(options.max_message_bytes);
    builder.SetMaxSendMessageSize(-1);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    // A waiting worker may probe its connection every few seconds; dead ones are found from here too.
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
    std::map<const ServiceDescriptor*, std::vector<const MethodDescriptor*>> methods;
    for (const MethodDescriptor* method : api.methods()) methods[method->service()].push_back(method);
    for (const auto& [service, list] : methods) {
      services_.push_back(std::make_unique<Service>(api, list));
      builder.RegisterService(services_.back().get());
    }
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0) {
      return absl::UnavailableError(Cat("cannot listen for gRPC on ", options.address, ": is the port taken?"));
    }
    return absl::OkStatus();
  }

  int port() const override { return port_; }

  void Stop() override {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
    server_->Wait();
    server_.reset();
  }

 private:
  std::vector<std::unique_ptr<Service>> services_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcFront>> StartGrpc(Api& api, const GrpcOptions& options) {
  auto front = std::make_unique<Front>();
  if (const absl::Status status = front->Start(api, options); !status.ok()) return status;
  return front;
}

}  // namespace assay::server
