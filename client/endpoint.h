// Where the server is and how to speak with it. What is said on the command line comes first, then ASSAY_SERVER and
// ASSAY_TOKEN, then a local `assay up`, then config.toml ($XDG_CONFIG_HOME/assay or ~/.config/assay), whose keys are
// server, token, tls_ca, tls_cert, tls_key and insecure.
//
// A server is written HOST:PORT (its gRPC port), http://HOST:PORT or https://HOST:PORT. A loopback address is spoken to
// in the clear, any other by TLS: a token sent in the clear can be read on the way, which needs `insecure`. Thread
// safety: pure but for the files and the environment read.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/state_folder.h"

namespace assay::client {

struct Endpoint {
  std::string address;  // host:port
  std::string token;
  bool tls = false;
  std::string tls_ca;    // files in PEM form; the system's authorities where empty
  std::string tls_cert;  // of the client, where the server asks for one
  std::string tls_key;
  std::string origin;  // how it was found, for messages
};

// What the command line says; empty: nothing.
struct EndpointFlags {
  std::string server, token, tls_ca, tls_cert, tls_key;
  bool insecure = false;
};

absl::StatusOr<Endpoint> FindEndpoint(const EndpointFlags& flags, const GetEnv& env = SystemEnv);

}  // namespace assay::client
