// The HTTP front: the API's routes as JSON, /openapi.json, /metrics, /healthz, and the page's static files.
//
// Asynchronous on threads of its own; a call in progress holds none. On a loopback address the Host header must name
// it, so that a page of another site cannot reach the server by a name that it points here. Tokens are taken from the
// Authorization header only, and no cross-origin header is sent. Thread safety: Start and Stop() from one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/api.h"
#include "server/metrics.h"

namespace assay::server {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;
  std::string web;  // folder of static files; empty: none
  size_t max_body_bytes = size_t{48} << 20;
  double header_seconds = 15;  // until a request is there whole; idle connections as well
  int threads = 2;
};

class HttpFront {
 public:
  virtual ~HttpFront() = default;

  virtual int port() const = 0;
  virtual void Stop() = 0;
};

// `healthy` says, on a thread of the Api, whether the store answers.
absl::StatusOr<std::unique_ptr<HttpFront>> StartHttp(Api& api, const Metrics& metrics,
                                                     std::function<absl::Status()> healthy, const HttpOptions& options);

}  // namespace assay::server
