// The one door: every call of the API, over gRPC or HTTP, comes through Api::Start(), which knows who calls, whether
// they may, and which handler answers. A method is known by its descriptor, so both fronts need no code per method.
//
// Handlers of two kinds: a plain one returns its status and runs on a thread of the pool; an asynchronous one keeps the
// call and finishes it later, so that long polls hold no thread. Thread safety: Add() before the first Start(); Start()
// from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "assay/v1/admin.pb.h"
#include "boost/asio/thread_pool.hpp"
#include "google/protobuf/message.h"
#include "server/authenticator.h"
#include "server/metrics.h"

namespace assay::server {

struct Call {
  std::unique_ptr<google::protobuf::Message> request;
  std::unique_ptr<google::protobuf::Message> response;
  v1::Token token;                         // of the caller
  std::atomic<bool> cancelled = false;     // nobody waits for the answer any more
  std::function<void(absl::Status)> done;  // once; `response` is read in it
};

class Api {
 public:
  Api(Authenticator& authenticator, Metrics& metrics, int threads);
  ~Api();

  // `name` is the method's full name without a slash: "assay.v1.Suites.GetGraph".
  template <typename Request, typename Response>
  void Add(const std::string& name, std::function<absl::Status(const v1::Token&, const Request&, Response*)> handler) {
    AddAsync(name, [handler](const std::shared_ptr<Call>& call) {
      call->done(handler(call->token, static_cast<const Request&>(*call->request),
                         static_cast<Response*>(call->response.get())));
    });
  }
  void AddAsync(const std::string& name, std::function<void(const std::shared_ptr<Call>&)> handler);

  // The methods that were added.
  std::vector<const google::protobuf::MethodDescriptor*> methods() const;
  std::unique_ptr<google::protobuf::Message> NewRequest(const google::protobuf::MethodDescriptor* method) const;

  // `call` has its request and `done`; `authorization` is the header's value. Never blocks.
  void Start(const google::protobuf::MethodDescriptor* method, const std::string& authorization,
             std::shared_ptr<Call> call);

  // Runs on a thread of the pool.
  void Post(std::function<void()> work);
  // Waits for running handlers; nothing starts any more.
  void Stop();

 private:
  Authenticator& authenticator_;
  Metrics& metrics_;
  boost::asio::thread_pool pool_;
  std::map<const google::protobuf::MethodDescriptor*, std::function<void(const std::shared_ptr<Call>&)>> handlers_;
};

}  // namespace assay::server
