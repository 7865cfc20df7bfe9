// The whole coordinator, wired: what main() starts, and what tests start in their own process.
// Thread safety: Start and Stop() from one thread.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/queue.h"

namespace assay::server {

struct ServerOptions {
  std::string database;
  int connections = 12;
  std::string listen_grpc = "127.0.0.1:7170";
  std::string listen_http = "127.0.0.1:7171";
  std::string port_file;
  std::string bootstrap_token_file;
  std::string web;
  double lease_seconds = 60;
  double calls_per_second = 2000;  // of one token
  std::string tls_cert, tls_key, tls_client_ca;
};

class Server {
 public:
  // Migrates the database, serves, writes the port file.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  virtual ~Server() = default;

  virtual int grpc_port() const = 0;
  virtual int http_port() const = 0;
  // Long polls are answered, calls in progress end, connections close. The port file is removed.
  virtual void Stop() = 0;
};

// One line a message: text, or a JSON object.
void SetLogFormat(bool json);

}  // namespace assay::server
