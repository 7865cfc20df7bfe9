// What all commands share: the flags that each of them takes, the connection, and how an answer or an error is printed.
// A command is a function void AddX(CLI::App&, Command&): it adds a subcommand whose callback sets Command::action.
// Thread safety: one thread.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "client/api.h"
#include "client/exit_code.h"

namespace google::protobuf {
class Message;
}

namespace assay::client {

struct Command {
  bool json = false;
  EndpointFlags endpoint;
  // What to do; set by the subcommand that was given. Its result is the exit code.
  std::function<int()> action;

  absl::StatusOr<std::unique_ptr<Api>> Connect() const;
};

// "assay: message" on standard error; the exit code that the status has.
int Fail(const absl::Status& status);

// The message as one line of JSON (json.h).
int PrintJson(const google::protobuf::Message& message);
// Writes text to standard output; kFailed where it cannot be written (a full disk).
int Print(std::string_view text);

// Calls the server and hands the answer to `print`, or prints it as JSON.
template <typename Request, typename PrintAnswer>
int CallAndPrint(const Command& command, const Request& request, const PrintAnswer& print) {
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return Fail(api.status());
  const auto answer = (*api)->Call(request);
  if (!answer.ok()) return Fail(answer.status());
  return command.json ? PrintJson(*answer) : print(*answer);
}

// Adds a subcommand with examples at the end of its help.
CLI::App* AddSubcommand(CLI::App& app, const std::string& name, const std::string& what, const std::string& examples);

// A number above 0.
CLI::Validator AboveZero();

// Flags that several commands have.
void AddWithoutDegenerate(CLI::App& sub, bool& flag);
void AddSynthesizeMetadata(CLI::App& sub, bool& flag);

void AddUp(CLI::App& app, Command& command);           // up, down
void AddGraph(CLI::App& app, Command& command);        // graph check, graph print
void AddSuite(CLI::App& app, Command& command);        // import, suite list, suite show
void AddSubset(CLI::App& suite, Command& command);     // suite subset
void AddEvaluation(CLI::App& app, Command& command);   // evaluate, status, watch, cancel
void AddResults(CLI::App& app, Command& command);      // results, show
void AddLeaderboard(CLI::App& app, Command& command);  // leaderboard, curve
void AddImportLog(CLI::App& app, Command& command);    // import-log
void AddExport(CLI::App& app, Command& command);       // export
void AddCompare(CLI::App& app, Command& command);      // compare
void AddBisect(CLI::App& app, Command& command);       // bisect-graph
void AddRepro(CLI::App& app, Command& command);        // repro
void AddFleet(CLI::App& app, Command& command);        // targets, workers
void AddCalibrate(CLI::App& app, Command& command);    // calibrate
void AddToken(CLI::App& app, Command& command);        // token create, list, revoke
void AddTools(CLI::App& app, Command& command);        // extract, runner check

}  // namespace assay::client
