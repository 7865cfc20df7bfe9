// The gRPC front: every method that the Api has, by its descriptor, over the callback API with raw messages, so that no
// generated service code is compiled in and no call holds a thread. Health and reflection beside.
// Thread safety: Start() and Stop() from one thread.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/api.h"

namespace assay::server {

struct GrpcOptions {
  std::string address = "127.0.0.1:0";
  int max_message_bytes = 64 << 20;
  // PEM files; all empty: no TLS. With `client_ca`, clients need a certificate of it.
  std::string tls_cert, tls_key, tls_client_ca;
};

class GrpcFront {
 public:
  virtual ~GrpcFront() = default;

  virtual int port() const = 0;
  // Takes no new calls, gives running ones a moment, ends.
  virtual void Stop() = 0;
};

absl::StatusOr<std::unique_ptr<GrpcFront>> StartGrpc(Api& api, const GrpcOptions& options);

}  // namespace assay::server
