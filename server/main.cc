// assay-server: the coordinator.

#include <CLI/CLI.hpp>
#include <csignal>

#include "server/server.h"
#include "server/text.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace {

// Splits HOST:PORT; IPv6 hosts are in brackets.
std::string CheckAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : assay::server::ParseInt(text.substr(colon + 1));
  return colon == 0 || !port || *port < 0 || *port > 65535 ? "'" + text + "' is not HOST:PORT" : "";
}

}  // namespace

int main(int argc, char** argv) {
  assay::server::ServerOptions options;
  bool log_json = false;
  CLI::App app{"The coordinator of Assay: keeps the queue of trials in Postgres and serves the API over gRPC and HTTP.",
               "assay-server"};
  app.footer(
      "Example: assay-server --database 'host=/run/postgresql dbname=assay' --listen-grpc 0.0.0.0:7170 --listen-http "
      "127.0.0.1:7171\n"
      "Exit codes: 0 ended by a signal, 1 could not start or serve, 2 wrong arguments.");
  const CLI::Validator address(CheckAddress, "HOST:PORT");
  app.add_option("--database", options.database, "libpq connection string or URI")->required();
  app.add_option("--database-connections", options.connections, "largest number of connections")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  app.add_option("--listen-grpc", options.listen_grpc, "address for gRPC; port 0 takes a free one")
      ->check(address)
      ->capture_default_str();
  app.add_option("--listen-http", options.listen_http, "address for HTTP; port 0 takes a free one")
      ->check(address)
      ->capture_default_str();
  app.add_option("--port-file", options.port_file, "written once it serves: {\"grpc\": PORT, \"http\": PORT}");
  app.add_option("--bootstrap-token-file", options.bootstrap_token_file,
                 "an admin token is written to this file (mode 0600) if the file does not hold a valid one");
  app.add_option("--web", options.web, "folder of the page's files")->check(CLI::ExistingDirectory);
  app.add_option("--lease-seconds", options.lease_seconds, "time after which a silent worker's trials go back")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  app.add_option("--calls-per-second", options.calls_per_second, "calls that one token may make, sustained")
      ->check(CLI::Range(1.0, 1e9))
      ->capture_default_str();
  auto* cert =
      app.add_option("--tls-cert", options.tls_cert, "PEM certificate of the gRPC server")->check(CLI::ExistingFile);
  auto* key = app.add_option("--tls-key", options.tls_key, "its PEM key")->check(CLI::ExistingFile);
  cert->needs(key);
  key->needs(cert);
  app.add_option("--tls-client-ca", options.tls_client_ca, "gRPC clients need a certificate of this CA")
      ->check(CLI::ExistingFile)
      ->needs(cert);
  app.add_flag("--log-json", log_json, "log JSON lines");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  spdlog::set_default_logger(std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  assay::server::SetLogFormat(log_json);

  // The signals are waited for by this thread alone; every thread that is started inherits the mask.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  auto server = assay::server::Server::Start(options);
  if (!server.ok()) {
    spdlog::error("{}", std::string(server.status().message()));
    return 1;
  }
  spdlog::info("serving gRPC on port {}, HTTP on port {}", (*server)->grpc_port(), (*server)->http_port());
  int received = 0;
  sigwait(&signals, &received);
  spdlog::info("ending: signal {}", received);
  (*server)->Stop();
  return 0;
}
