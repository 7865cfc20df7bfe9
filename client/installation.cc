#include "client/installation.h"

#include <unistd.h>

#include <algorithm>

#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {
namespace fs = std::filesystem;
namespace {

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// The first folder at or above `start` in which `relative` exists.
fs::path Above(fs::path start, const fs::path& relative) {
  std::error_code error;
  for (; !start.empty(); start = start.parent_path()) {
    if (fs::exists(start / relative, error)) return start / relative;
    if (start == start.root_path()) break;
  }
  return {};
}

}  // namespace

Installation::Installation(fs::path program_folder, GetEnv env)
    : folder_(std::move(program_folder)), env_(std::move(env)) {}

Installation Installation::OfThisProgram() {
  std::error_code error;
  return Installation(fs::read_symlink("/proc/self/exe", error).parent_path());
}

absl::StatusOr<fs::path> Installation::Program(const std::string& room, const std::string& name) const {
  const fs::path places[] = {folder_ / name, folder_.parent_path() / room / name,
                             folder_.parent_path() / "libexec/assay" / name};
  for (const fs::path& place : places) {
    if (IsProgram(place)) return place;
  }
  for (const std::string& folder : Split(env_("PATH"), ':')) {
    if (!folder.empty() && IsProgram(fs::path(folder) / name)) return fs::absolute(fs::path(folder) / name);
  }
  return absl::NotFoundError(fmt::format("no {}: looked for {}, {}, {} and on PATH; build it with scripts/build", name,
                                         places[0].string(), places[1].string(), places[2].string()));
}

absl::StatusOr<fs::path> Installation::Venv() const {
  if (const std::string venv = env_("ASSAY_VENV"); !venv.empty()) {
    if (IsProgram(fs::path(venv) / "bin/python")) return fs::absolute(venv).lexically_normal();
    return absl::NotFoundError(fmt::format("ASSAY_VENV names {}, which has no bin/python", venv));
  }
  const fs::path python = Above(folder_, ".venv/bin/python");
  if (!python.empty()) return python.parent_path().parent_path();
  return absl::NotFoundError(
      fmt::format("no .venv in a folder above {}: make one with scripts/setup, or set ASSAY_VENV", folder_.string()));
}

absl::StatusOr<Installation::Xla> Installation::FindXla() const {
  Xla xla;
  if (const std::string venv = env_("ASSAY_XLA_VENV"); !venv.empty()) {
    if (!IsProgram(fs::path(venv) / "bin/python"))
      return absl::NotFoundError(fmt::format("ASSAY_XLA_VENV names {}, which has no bin/python", venv));
    xla.venv = fs::absolute(venv).lexically_normal();
  } else {
    const fs::path python = Above(folder_, ".venv-xla/bin/python");
    if (python.empty()) {
      return absl::NotFoundError(
          fmt::format("no .venv-xla in a folder above {}: scripts/setup-xla makes one", folder_.string()));
    }
    xla.venv = python.parent_path().parent_path();
  }
  std::error_code error;
  for (const fs::directory_entry& lib : fs::directory_iterator(xla.venv / "lib", error)) {
    const fs::path plugin = lib.path() / "site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";
    if (fs::is_regular_file(plugin, error)) xla.plugin = plugin;
  }
  if (xla.plugin.empty()) {
    return absl::NotFoundError(
        fmt::format("no plug-in for CPUs (xla_cpu_pjrt.so) in {}: scripts/setup-xla installs it", xla.venv.string()));
  }
  const fs::path package = Above(folder_, "runner/lowering/assay_lowering");
  if (!package.empty()) xla.lowering = package.parent_path();
  const fs::path plugins = xla.venv / "plugins";
  if (const fs::path tpu = plugins / "tpu/libtpu/libtpu.so"; fs::is_regular_file(tpu, error)) xla.tpu_plugin = tpu;
  for (const fs::directory_entry& version : fs::directory_iterator(plugins / "cuda/jax_plugins", error)) {
    const fs::path cuda = version.path() / "xla_cuda_plugin.so";
    if (fs::is_regular_file(cuda, error)) xla.cuda_plugin = cuda;
  }
  for (const fs::directory_entry& gpu : fs::directory_iterator(plugins / "gpus", error)) {
    if (gpu.path().extension() == ".txtpb") xla.gpus.push_back(gpu.path());
  }
  std::sort(xla.gpus.begin(), xla.gpus.end());
  return xla;
}

fs::path Installation::PythonPath() const {
  const fs::path package = Above(folder_, "runner/python/assay_runner");
  return package.empty() ? fs::path() : package.parent_path();
}

}  // namespace assay::client
