#include "server/server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <pqxx/pqxx>

#include "boost/json.hpp"
#include "server/api.h"
#include "server/authenticator.h"
#include "server/coordinator.h"
#include "server/grpc_front.h"
#include "server/http_front.h"
#include "server/migrations.h"
#include "server/progress_watcher.h"
#include "server/services.h"
#include "server/text.h"
#include "server/token_store.h"
#include "spdlog/pattern_formatter.h"
#include "spdlog/spdlog.h"

namespace assay::server {

namespace {

// Whole or not at all, for others who wait for the file.
absl::Status WriteFile(const std::string& path, const std::string& text, mode_t mode) {
  const std::string draft = Cat(path, ".", getpid());
  const auto wrong = [&](std::string_view what) {
    return absl::UnavailableError(Cat("cannot ", what, " ", path, ": ", strerror(errno)));
  };
  unlink(draft.c_str());
  const int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) return wrong("create");
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  close(fd);
  if (!written || rename(draft.c_str(), path.c_str()) != 0) {
    unlink(draft.c_str());
    return wrong("write");
  }
  return absl::OkStatus();
}

absl::Status Bootstrap(Database& database, const std::string& path) {
  std::string secret;
  std::ifstream(path) >> secret;
  bool valid = false;
  std::string made;
  const absl::Status status = database.Run([&](Transaction& transaction) {
    valid = !secret.empty() && FindToken(transaction, secret).has_value();
    if (!valid) made = CreateToken(transaction, "bootstrap", v1::ADMIN, 0).secret;
    return absl::OkStatus();
  });
  if (!status.ok() || valid) return status;
  return WriteFile(path, made + "\n", 0600);
}

class Running : public Server {
 public:
  explicit Running(const ServerOptions& options)
      : options_(options),
        database_(options.database, options.connections),
        queue_({.lease_seconds = options.lease_seconds}),
        authenticator_(database_,
                       {.calls_per_second = options.calls_per_second, .burst = 5 * options.calls_per_second}),
        api_(authenticator_, metrics_, std::max(2, options.connections - 3)),
        coordinator_(database_, queue_, metrics_),
        watcher_(database_) {
    coordinator_.OnProgress([this] { watcher_.Wake(); });
    AddAllServices(api_, {database_, queue_, coordinator_, watcher_, authenticator_, {}});
  }

  ~Running() override { Stop(); }

  absl::Status Begin() {
    if (const absl::Status status = Migrate(database_); !status.ok()) return status;
    if (!options_.bootstrap_token_file.empty()) {
      if (const absl::Status status = Bootstrap(database_, options_.bootstrap_token_file); !status.ok()) return status;
    }
    coordinator_.Start();
    auto grpc = StartGrpc(api_, {.address = options_.listen_grpc,
                                 .tls_cert = options_.tls_cert,
                                 .tls_key = options_.tls_key,
                                 .tls_client_ca = options_.tls_client_ca});
    if (!grpc.ok()) return grpc.status();
    grpc_ = *std::move(grpc);
    HttpOptions http;
    const size_t colon = options_.listen_http.rfind(':');
    http.host = options_.listen_http.substr(0, colon);
    if (http.host.starts_with('[')) http.host = http.host.substr(1, http.host.size() - 2);
    http.port = static_cast<int>(ParseInt(options_.listen_http.substr(colon + 1)).value_or(0));
    http.web = options_.web;
    auto front = StartHttp(
        api_, metrics_,
        [this] {
          return database_.Run([](Transaction& transaction) {
            transaction.exec("SELECT 1");
            return absl::OkStatus();
          });
        },
        http);
    if (!front.ok()) return front.status();
    http_ = *std::move(front);
    if (!options_.port_file.empty()) {
      const std::string text =
          boost::json::serialize(boost::json::object{{"grpc", grpc_->port()}, {"http", http_->port()}});
      return WriteFile(options_.port_file, text + "\n", 0644);
    }
    return absl::OkStatus();
  }

  int grpc_port() const override { return grpc_->port(); }
  int http_port() const override { return http_->port(); }

  void Stop() override {
    if (stopped_) return;
    stopped_ = true;
    if (!options_.port_file.empty()) unlink(options_.port_file.c_str());
    watcher_.Stop();
    coordinator_.Stop();
    if (grpc_ != nullptr) grpc_->Stop();
    if (http_ != nullptr) http_->Stop();
    api_.Stop();
  }

 private:
  const ServerOptions options_;
  Database database_;
  const Queue queue_;
  Metrics metrics_;
  Authenticator authenticator_;
  Api api_;
  Coordinator coordinator_;
  ProgressWatcher watcher_;
  std::unique_ptr<GrpcFront> grpc_;
  std::unique_ptr<HttpFront> http_;
  bool stopped_ = false;
};

// The message of a JSON line must be escaped, which a pattern cannot do.
class EscapedMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string text =
        boost::json::serialize(boost::json::string(message.payload.data(), message.payload.size()));
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<EscapedMessage>(); }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  try {
    auto server = std::make_unique<Running>(options);
    if (const absl::Status status = server->Begin(); !status.ok()) return status;
    return server;
  } catch (...) {
    return StatusOfException();
  }
}

void SetLogFormat(bool json) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  if (json) {
    formatter->add_flag<EscapedMessage>('*').set_pattern(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":%*})");
  } else {
    formatter->set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v");
  }
  spdlog::set_formatter(std::move(formatter));
}

}  // namespace assay::server
