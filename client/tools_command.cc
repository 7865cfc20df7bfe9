// assay extract, assay runner check: programs of other rooms under this command's roof.
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "client/command.h"
#include "client/installation.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

// Becomes the program; comes back only where it cannot.
int Become(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  return Fail(absl::ErrnoToStatus(errno, "cannot run " + program.string()));
}

int Extract(std::vector<std::string> arguments) {
  const Installation installation = Installation::OfThisProgram();
  const absl::StatusOr<std::filesystem::path> venv = installation.Venv();
  if (!venv.ok()) return Fail(venv.status());
  if (const std::filesystem::path packages = installation.PythonPath(); !packages.empty()) {
    const std::string before = SystemEnv("PYTHONPATH");
    ::setenv("PYTHONPATH", (packages.string() + (before.empty() ? "" : ":" + before)).c_str(), 1);
  }
  arguments.insert(arguments.begin(), {"-m", "assay_extract"});
  return Become(*venv / "bin/python", arguments);
}

int CheckRunner(const std::vector<std::string>& paths, bool json, const std::vector<std::string>& runner) {
  const absl::StatusOr<std::filesystem::path> worker = Installation::OfThisProgram().Program("worker", "assay-worker");
  if (!worker.ok()) return Fail(worker.status());
  std::vector<std::string> arguments;
  for (const std::string& path : paths) arguments.insert(arguments.end(), {"--path", path});
  if (json) arguments.push_back("--json");
  arguments.push_back("--check-runner");
  arguments.insert(arguments.end(), runner.begin(), runner.end());
  return Become(*worker, arguments);
}

// What stands behind the subcommand goes on as it is, options included.
CLI::App* AddPassing(CLI::App& app, const std::string& name, const std::string& what, const std::string& examples) {
  CLI::App* sub = AddSubcommand(app, name, what, examples);
  sub->fallthrough(false);
  sub->prefix_command();
  return sub;
}

}  // namespace

void AddTools(CLI::App& app, Command& command) {
  CLI::App* extract = AddPassing(app, "extract", "Write a GraphNet sample from a PyTorch module of your own",
                                 "  assay extract my_models.py:make_model -o my_suite/my_model\n"
                                 "  assay extract --help                              all its options\n");
  extract->set_help_flag();  // it explains itself
  extract->callback([&command, extract] { command.action = [extract] { return Extract(extract->remaining()); }; });

  CLI::App* runner =
      AddSubcommand(app, "runner", "For those who write a runner", "  assay runner check ./my-runner --some-flag\n");
  runner->require_subcommand(1);
  CLI::App* check =
      AddPassing(*runner, "check", "Test a runner against the runner protocol",
                 "  assay runner check ./my-runner --some-flag\n"
                 "  assay runner check --path /opt/mine ./my-runner      which reads files there\n"
                 "  assay runner check --json ./my-runner                {passed, checks: [{what, passed,\n"
                 "                                                       message}]}\n");
  check->add_flag("--json", command.json, "Print JSON; what stands behind the runner is the runner's own");
  auto paths = std::make_shared<std::vector<std::string>>();
  check->add_option("--path", *paths, "Absolute path of a file or folder that the runner may read; again for more")
      ->expected(1)
      ->allow_extra_args(false);
  check->callback([&command, check, paths] {
    command.action = [&command, check, paths] {
      if (check->remaining().empty()) {
        return Fail(
            absl::InvalidArgumentError("name the runner's command: assay runner check ./my-runner --some-flag"));
      }
      return CheckRunner(*paths, command.json, check->remaining());
    };
  });
}

}  // namespace assay::client
