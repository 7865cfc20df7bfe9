#include "client/local_worker.h"

#include <unistd.h>

#include "fmt/format.h"

namespace assay::client {
namespace fs = std::filesystem;
namespace {

// A basic string of TOML.
std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string PythonRunner(const LocalWorker& worker, const std::string& environment, const fs::path& venv) {
  std::string text = fmt::format(
      "\n[[runner]]\nname = \"python\"\nenvironment = {}\ncommand = [{}, \"-m\", \"assay_runner\"]\nvenv = {}\n"
      "trusted = true\nwarm = true\n",
      Quoted(environment), Quoted((venv / "bin/python").string()), Quoted(venv.string()));
  if (!worker.python_path.empty()) {
    const std::string path = Quoted(worker.python_path.string());
    text += fmt::format("paths = [{}]\nvariables = {{ PYTHONPATH = {} }}\n", path, path);
  }
  return text;
}

// `arguments`: of the plug-in and what it compiles for.
std::string XlaRunner(const LocalWorker& worker, std::string_view name, const std::vector<std::string>& arguments,
                      std::vector<fs::path> paths) {
  const Installation::Xla& xla = worker.xla;
  std::vector<std::string> command = {Quoted(worker.xla_runner.string())};
  for (const std::string& argument : arguments) command.push_back(Quoted(argument));
  for (const std::string& argument : {std::string("--lowering"), (xla.venv / "bin/python").string(), std::string("-m"),
                                      std::string("assay_lowering")}) {
    command.push_back(Quoted(argument));
  }
  std::string text = fmt::format("\n[[runner]]\nname = {}\ncommand = [{}]\nvenv = {}\ntrusted = true\n",
                                 Quoted(std::string(name)), fmt::join(command, ", "), Quoted(xla.venv.string()));
  if (!xla.lowering.empty()) {
    paths.push_back(xla.lowering);
    text += fmt::format("variables = {{ PYTHONPATH = {} }}\n", Quoted(xla.lowering.string()));
  }
  std::vector<std::string> readable;
  for (const fs::path& path : paths) readable.push_back(Quoted(path.string()));
  return text + fmt::format("paths = [{}]\n", fmt::join(readable, ", "));
}

// The chips that libtpu compiles for, as it calls the smallest arrangement of each.
constexpr std::pair<const char*, const char*> kTpus[] = {
    {"v4", "v4:2x2x1"}, {"v5e", "v5e:1x1"}, {"v5p", "v5p:2x2x1"}, {"v6e", "v6e:1x1"}, {"tpu7x", "tpu7x:2x2x1"}};

std::string XlaRunners(const LocalWorker& worker) {
  const Installation::Xla& xla = worker.xla;
  std::string text = XlaRunner(worker, "xla", {"--plugin", xla.plugin.string()}, {});
  if (worker.gpu && !xla.cuda_plugin.empty()) {
    text += XlaRunner(worker, "xla-cuda-device", {"--plugin", xla.cuda_plugin.string()}, {});
  }
  if (worker.tpu && !xla.tpu_plugin.empty()) {
    text += XlaRunner(worker, "xla-tpu-device", {"--plugin", xla.tpu_plugin.string()}, {});
  }
  if (!xla.tpu_plugin.empty()) {
    std::vector<std::string> arguments = {"--plugin", xla.tpu_plugin.string()};
    for (const auto& [label, topology] : kTpus) {
      for (const char* argument : {"--topology", topology, "--label", label}) arguments.emplace_back(argument);
    }
    text += XlaRunner(worker, "xla-tpu", arguments, {});
  }
  if (!xla.cuda_plugin.empty() && !xla.gpus.empty()) {
    std::vector<std::string> arguments = {"--plugin", xla.cuda_plugin.string()};
    for (const fs::path& gpu : xla.gpus) {
      for (const std::string& argument :
           {std::string("--topology"), gpu.stem().string(), std::string("--label"), gpu.stem().string(),
            std::string("--plugin-option"), std::string("topology=1x1x1"), std::string("--plugin-option"),
            "target_config=@" + gpu.string()}) {
        arguments.push_back(argument);
      }
    }
    text += XlaRunner(worker, "xla-cuda", arguments, {});
  }
  return text;
}

}  // namespace

absl::StatusOr<std::pair<std::string, fs::path>> ParseEnvironment(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (equals == std::string::npos || name.empty() || name.find_first_not_of(kName) != std::string::npos) {
    return absl::InvalidArgumentError(
        fmt::format("--env '{}': written NAME=FOLDER, for example nightly=/opt/venv-nightly", text));
  }
  if (name == "default")
    return absl::InvalidArgumentError("--env: 'default' is Assay's own environment; choose another name");
  std::error_code error;
  const fs::path folder = fs::absolute(text.substr(equals + 1), error).lexically_normal();
  if (::access((folder / "bin/python").c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        fmt::format("--env {}: {} is no virtual environment (it has no bin/python)", name, folder.string()));
  }
  return std::pair(name, folder);
}

std::string WorkerConfig(const LocalWorker& worker) {
  std::string text;
  if (!worker.server.empty()) {
    text += fmt::format("server = {}\ntoken_file = {}\n", Quoted(worker.server), Quoted(worker.token_file.string()));
  }
  text += fmt::format("state_dir = {}\n", Quoted(worker.state_folder.string()));
  // Its process is killed soon after it was asked to end: it must have given its trials back by then.
  text += "drain_seconds = 1.0\n";
  if (worker.threads > 0) text += fmt::format("threads = {}\n", worker.threads);
  if (!worker.torch_runner.empty()) {
    text += fmt::format("\n[[runner]]\nname = \"torch\"\ncommand = [{}]\nvenv = {}\ntrusted = true\nwarm = true\n",
                        Quoted(worker.torch_runner.string()), Quoted(worker.venv.string()));
  }
  if (!worker.xla_runner.empty()) text += XlaRunners(worker);
  if (!worker.venv.empty()) text += PythonRunner(worker, "default", worker.venv);
  for (const auto& [name, venv] : worker.environments) text += PythonRunner(worker, name, venv);
  return text;
}

}  // namespace assay::client
