#include "server/api.h"

#include <chrono>

#include "boost/asio/post.hpp"
#include "server/database.h"
#include "server/permissions.h"
#include "server/text.h"

namespace assay::server {

using google::protobuf::DescriptorPool;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;

Api::Api(Authenticator& authenticator, Metrics& metrics, int threads)
    : authenticator_(authenticator), metrics_(metrics), pool_(threads) {}

Api::~Api() { Stop(); }

void Api::AddAsync(const std::string& name, std::function<void(const std::shared_ptr<Call>&)> handler) {
  const MethodDescriptor* method = DescriptorPool::generated_pool()->FindMethodByName(name);
  if (method == nullptr) throw std::logic_error("the API has no method " + name);
  handlers_[method] = std::move(handler);
}

std::vector<const MethodDescriptor*> Api::methods() const {
  std::vector<const MethodDescriptor*> out;
  for (const auto& [method, handler] : handlers_) out.push_back(method);
  return out;
}

std::unique_ptr<google::protobuf::Message> Api::NewRequest(const MethodDescriptor* method) const {
  return std::unique_ptr<google::protobuf::Message>(
      MessageFactory::generated_factory()->GetPrototype(method->input_type())->New());
}

void Api::Start(const MethodDescriptor* method, const std::string& authorization, std::shared_ptr<Call> call) {
  const auto started = std::chrono::steady_clock::now();
  call->response.reset(MessageFactory::generated_factory()->GetPrototype(method->output_type())->New());
  call->done = [this, method, started, answer = std::move(call->done)](absl::Status status) {
    metrics_.CountCall(method->full_name(), status.code(),
                       std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    answer(std::move(status));
  };
  Post([this, method, authorization, call] {
    absl::Status status;
    try {
      const auto handler = handlers_.find(method);
      if (handler == handlers_.end()) {
        status = absl::UnimplementedError(Cat("this server does not answer ", method->full_name()));
      } else {
        auto token = authenticator_.Authenticate(authorization);
        status = token.status();
        if (token.ok()) {
          call->token = *std::move(token);
          status = CheckPermission(method->full_name(), call->token.role());
        }
      }
      if (status.ok()) {
        handler->second(call);
        return;
      }
    } catch (...) {
      status = StatusOfException();
    }
    call->done(std::move(status));
  });
}

void Api::Post(std::function<void()> work) { boost::asio::post(pool_, std::move(work)); }

void Api::Stop() { pool_.join(); }

}  // namespace assay::server
