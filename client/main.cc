// The `assay` command: reads flags and hands over.
#include <csignal>
#include <cstdio>

#include "client/command.h"
#include "client/unknown_command.h"

int main(int argc, char** argv) {
  using namespace assay::client;
  std::signal(SIGPIPE, SIG_DFL);  // `assay results 1 | head` ends quietly

  Command command;
  CLI::App app("Assay benchmarks graph (tensor) compilers: real graphs in, a leaderboard out.", "assay");
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.fallthrough();
  app.require_subcommand(1);
  app.add_flag("--json", command.json, "Print the API's own JSON");
  app.add_option("--server", command.endpoint.server,
                 "HOST:PORT, http://… or https://… of the server's gRPC port (else ASSAY_SERVER, a local `assay up`, "
                 "config.toml)");
  app.add_option("--token", command.endpoint.token, "Token (better: ASSAY_TOKEN, which other users cannot see)");
  app.add_option("--tls-ca", command.endpoint.tls_ca, "Certificate authorities that may vouch for the server, PEM");
  app.add_option("--tls-cert", command.endpoint.tls_cert, "Certificate of this client, PEM");
  app.add_option("--tls-key", command.endpoint.tls_key, "Private key of this client, PEM");
  app.add_flag("--insecure", command.endpoint.insecure, "Speak to another machine without TLS");
  app.footer(
      "Start here:\n"
      "  assay up                                  everything on this machine\n"
      "  assay import samples --suite bundled      (in another terminal)\n"
      "  assay evaluate --suite bundled --target inductor --wait\n"
      "  assay leaderboard --suite bundled\n\n" +
      std::string(kExitCodesHelp));
  AddUp(app, command);
  AddGraph(app, command);
  AddSuite(app, command);
  AddEvaluation(app, command);
  AddResults(app, command);
  AddLeaderboard(app, command);
  AddImportLog(app, command);
  AddExport(app, command);
  AddCompare(app, command);
  AddBisect(app, command);
  AddRepro(app, command);
  AddFleet(app, command);
  AddCalibrate(app, command);
  AddToken(app, command);
  AddTools(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& e) {
    const std::string unknown = UnknownCommand(app);
    if (unknown.empty()) {
      app.exit(e);
    } else {
      std::fprintf(stderr, "assay: %s\n", unknown.c_str());
    }
    return kUsage;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kOk : kUsage;
  }
  return command.action();
}
