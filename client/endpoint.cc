#include "client/endpoint.h"

#include <toml++/toml.h>

#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {
namespace fs = std::filesystem;
namespace {

struct Config : EndpointFlags {
  fs::path file;
};

absl::StatusOr<Config> ReadConfig(const GetEnv& env) {
  Config config;
  if (const std::string folder = env("XDG_CONFIG_HOME"); !folder.empty()) {
    config.file = fs::path(folder) / "assay/config.toml";
  } else {
    config.file = fs::path(env("HOME")) / ".config/assay/config.toml";
  }
  absl::StatusOr<std::string> text = ReadFile(config.file, 1 << 20);
  if (absl::IsNotFound(text.status())) return config;
  if (!text.ok()) return text.status();
  const auto bad = [&](std::string_view why) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", config.file.string(), why));
  };
  try {
    const toml::table table = toml::parse(*text);
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      std::string* text_value = name == "server"     ? &config.server
                                : name == "token"    ? &config.token
                                : name == "tls_ca"   ? &config.tls_ca
                                : name == "tls_cert" ? &config.tls_cert
                                : name == "tls_key"  ? &config.tls_key
                                                     : nullptr;
      if (text_value != nullptr) {
        if (!node.is_string()) return bad(fmt::format("'{}' must be a text", name));
        *text_value = node.as_string()->get();
      } else if (name == "insecure") {
        if (!node.is_boolean()) return bad("'insecure' must be true or false");
        config.insecure = node.as_boolean()->get();
      } else {
        return bad(fmt::format("unknown key '{}'; known are server, token, tls_ca, tls_cert, tls_key, insecure", name));
      }
    }
  } catch (const toml::parse_error& e) {
    return bad(fmt::format("line {}: {}", e.source().begin.line, e.description()));
  }
  return config;
}

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

// Fills address and tls.
absl::Status ReadAddress(std::string_view server, bool insecure, Endpoint& endpoint) {
  std::string_view rest = server;
  const bool http = rest.starts_with("http://");
  const bool https = rest.starts_with("https://");
  if (http || https) rest.remove_prefix(rest.find("//") + 2);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t colon = rest.rfind(':');
  const int port = colon == std::string_view::npos ? 0 : ParseNumber<int>(rest.substr(colon + 1)).value_or(0);
  if (colon == 0 || port < 1 || port > 65535 || rest.find('/') != std::string_view::npos) {
    return absl::InvalidArgumentError(fmt::format(
        "server '{}' ({}) is not HOST:PORT, http://HOST:PORT or https://HOST:PORT", server, endpoint.origin));
  }
  const bool loopback = IsLoopback(rest.substr(0, colon));
  if (!loopback && http && !insecure) {
    return absl::InvalidArgumentError(fmt::format(
        "server '{}' ({}) is not on this machine: use https://, or --insecure where the network between is trusted",
        server, endpoint.origin));
  }
  endpoint.address = std::string(rest);
  endpoint.tls = https || (!http && !loopback && !insecure);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Endpoint> FindEndpoint(const EndpointFlags& flags, const GetEnv& env) {
  const absl::StatusOr<Config> config = ReadConfig(env);
  if (!config.ok()) return config.status();
  const auto first = [](std::initializer_list<std::string> values) {
    for (const std::string& value : values) {
      if (!value.empty()) return value;
    }
    return std::string();
  };

  Endpoint endpoint;
  std::string server, server_token;
  if (!flags.server.empty()) {
    server = flags.server;
    endpoint.origin = "--server";
  } else if (server = env("ASSAY_SERVER"); !server.empty()) {
    endpoint.origin = "ASSAY_SERVER";
  } else {
    const absl::StatusOr<fs::path> folder = StateFolder(env);
    const absl::StatusOr<LocalService> local = folder.ok() ? ReadLocalService(*folder) : folder.status();
    if (local.ok()) {
      server = fmt::format("127.0.0.1:{}", local->grpc_port);
      server_token = local->token;
      endpoint.origin = "the local 'assay up'";
    } else if (!config->server.empty()) {
      server = config->server;
      endpoint.origin = config->file.string();
    } else {
      return absl::UnavailableError(fmt::format(
          "no server: {}, and neither --server, ASSAY_SERVER nor config.toml names one. Start one here with "
          "'assay up'",
          MessageOf(local.status())));
    }
  }
  // A token in config.toml is for the server in config.toml.
  if (endpoint.origin == config->file.string()) server_token = config->token;
  endpoint.token = first({flags.token, env("ASSAY_TOKEN"), server_token});
  endpoint.tls_ca = first({flags.tls_ca, config->tls_ca});
  endpoint.tls_cert = first({flags.tls_cert, config->tls_cert});
  endpoint.tls_key = first({flags.tls_key, config->tls_key});
  if (absl::Status status = ReadAddress(server, flags.insecure || config->insecure, endpoint); !status.ok()) {
    return status;
  }
  return endpoint;
}

}  // namespace assay::client
