// assay-worker: reads flags, wires, runs.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "boost/json.hpp"
#include "google/protobuf/util/json_util.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"
#include "worker/config.h"
#include "worker/daemon.h"
#include "worker/runner_check.h"
#include "worker/sandbox.h"
#include "worker/service.h"

namespace assay::worker {
namespace {

struct Flags {
  std::string config, trial, graph, sandbox = "full";
  bool describe = false, json = false;
  std::vector<std::string> check, paths;
};

int Fail(const absl::Status& status) {
  std::cerr << "assay-worker: " << std::string(status.message()) << "\n";
  return 1;
}

int Check(const Flags& flags) {
  Config config;
  config.sandbox = flags.sandbox == "none" ? SandboxLevel::kNone : SandboxLevel::kFull;
  if (!flags.config.empty()) {
    absl::StatusOr<Config> read = ReadConfig(flags.config);
    if (!read.ok()) return Fail(read.status());
    config = *std::move(read);
  }
  if (absl::Status works = ProbeSandbox(config.sandbox); !works.ok()) return Fail(works);
  RunnerConfig runner;
  runner.name = "checked";
  runner.command = flags.check;
  runner.paths = flags.paths;
  std::error_code error;
  runner.command[0] = std::filesystem::absolute(runner.command[0], error).lexically_normal().string();
  // A runner of the configuration is checked as it would be started, with its environment and paths.
  for (const RunnerConfig& known : config.runners) {
    if (known.command == runner.command) runner = known;
  }
  bool passed = true;
  boost::json::array checks;
  for (const CheckResult& result : CheckRunner(runner, config)) {
    passed &= result.passed;
    if (flags.json) {
      checks.push_back(
          boost::json::object({{"what", result.what}, {"passed", result.passed}, {"message", result.message}}));
      continue;
    }
    std::cout << (result.passed ? "ok    " : "FAIL  ") << result.what;
    if (!result.passed) std::cout << ": " << result.message;
    std::cout << "\n";
  }
  if (flags.json)
    std::cout << boost::json::serialize(boost::json::object({{"passed", passed}, {"checks", checks}})) << "\n";
  return passed ? 0 : 1;
}

int RunTrialFile(const Flags& flags, const Config& config) {
  std::ifstream in(flags.trial);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return Fail(absl::NotFoundError(flags.trial + " cannot be read"));
  v1::Assignment assignment;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text.str(), &assignment);
  if (!parsed.ok()) {
    return Fail(absl::InvalidArgumentError(
        flags.trial +
        " is not an Assignment (proto/assay/v1/workers.proto) in JSON: " + std::string(parsed.message())));
  }
  const absl::StatusOr<v1::Measurement> measurement = RunOneTrial(config, std::move(assignment), flags.graph);
  if (!measurement.ok()) return Fail(measurement.status());
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  if (!google::protobuf::util::MessageToJsonString(*measurement, &json, options).ok()) {
    return Fail(absl::InternalError("the measurement cannot be printed"));
  }
  std::cout << json << std::flush;
  return 0;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Runs trials of an Assay service on this machine.");
  app.set_version_flag("--version", kWorkerVersion);
  app.add_option("--config", flags.config, "Configuration file (worker/README.md)");
  app.add_flag("--describe", flags.describe, "Print what this worker offers as JSON, and exit");
  app.add_option("--trial", flags.trial, "Run one trial, an Assignment as JSON, print its Measurement, and exit");
  app.add_option("--graph", flags.graph, "Folder of the graph of --trial");
  app.add_option("--sandbox", flags.sandbox, "Sandbox of --check-runner without --config")
      ->check(CLI::IsMember({"full", "none"}));
  app.add_option("--path", flags.paths, "File or folder that the runner of --check-runner may read; again for more")
      ->expected(1)
      ->allow_extra_args(false);
  app.add_flag("--json", flags.json, "Print what --check-runner found as JSON");
  app.footer(
      "--check-runner COMMAND [ARGUMENT…]\n  Check a runner against runner/protocol.md; all that follows is its "
      "command.");
  // A runner's command has options of its own, which are not the worker's.
  char** const check =
      std::find_if(argv, argv + argc, [](const char* a) { return a == std::string("--check-runner"); });
  flags.check.assign(std::min(check + 1, argv + argc), argv + argc);
  argc = static_cast<int>(check - argv);
  CLI11_PARSE(app, argc, argv);
  if (*check != nullptr && flags.check.empty()) {
    return Fail(absl::InvalidArgumentError("--check-runner needs the runner's command behind it"));
  }

  spdlog::set_default_logger(spdlog::stderr_logger_mt("worker"));
  spdlog::set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  if (!flags.check.empty()) return Check(flags);
  if (flags.config.empty()) return Fail(absl::InvalidArgumentError("--config FILE is needed; see --help"));
  const absl::StatusOr<Config> config = ReadConfig(flags.config);
  if (!config.ok()) return Fail(config.status());
  if (flags.describe) {
    const absl::StatusOr<std::string> description = DescribeWorker(*config);
    if (!description.ok()) return Fail(description.status());
    std::cout << *description << "\n";
    return 0;
  }
  if (!flags.trial.empty()) {
    if (flags.graph.empty()) return Fail(absl::InvalidArgumentError("--trial needs --graph FOLDER"));
    return RunTrialFile(flags, *config);
  }
  absl::StatusOr<std::unique_ptr<Service>> service = MakeGrpcService(*config);
  if (!service.ok()) return Fail(service.status());
  const absl::Status status = RunDaemon(*config, **service);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace
}  // namespace assay::worker

int main(int argc, char** argv) { return assay::worker::Main(argc, argv); }
