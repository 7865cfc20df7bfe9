#include "worker/sandbox.h"

#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "fmt/format.h"
#include "runner/unique_fd.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

constexpr char kBubblewrap[] = "/usr/bin/bwrap";
constexpr char kSetpriv[] = "/usr/bin/setpriv";

// What a program needs of a system besides /usr.
constexpr std::array kSystemFiles = {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
                                     "/etc/localtime",    "/etc/OpenCL",      "/etc/nvidia"};
constexpr std::array kSystemFolders = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

void Append(std::vector<std::string>& to, std::initializer_list<std::string> more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Binds `path` read-only. The folders above it are made first: those that bubblewrap makes itself may be closed to all
// but root.
void Bind(std::vector<std::string>& to, const char* option, const std::string& path) {
  std::vector<std::string> above;
  for (fs::path folder = fs::path(path).parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    above.push_back(folder.string());
  }
  for (auto folder = above.rbegin(); folder != above.rend(); ++folder)
    Append(to, {"--perms", "0755", "--dir", *folder});
  Append(to, {option, path, path});
}

std::map<std::string, std::string> Variables(const RunnerConfig& runner) {
  std::map<std::string, std::string> variables = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                                  {"HOME", "/tmp"},
                                                  {"TMPDIR", "/tmp"},
                                                  {"USER", "runner"},
                                                  {"LOGNAME", "runner"},
                                                  {"LANG", "C.UTF-8"}};
  for (const auto& [name, value] : runner.variables) variables[name] = value;
  return variables;
}

std::vector<std::string> DeviceFiles(const RunnerConfig& runner) {
  if (!runner.devices.empty()) return runner.devices;
  std::vector<std::string> files;
  glob_t found;
  for (const char* pattern : {"/dev/nvidia*", "/dev/accel*"}) {
    if (::glob(pattern, 0, nullptr, &found) == 0) {
      files.insert(files.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    }
    ::globfree(&found);
  }
  return files;
}

std::vector<std::string> Bubblewrap(const RunnerConfig& runner) {
  std::vector<std::string> a = {kBubblewrap};
  const bool root = ::geteuid() == 0;
  // As root without a user namespace: files of root's own folders can be bound, and the user is changed for real below.
  if (!root) Append(a, {"--unshare-user", "--uid", std::to_string(::geteuid()), "--gid", std::to_string(::getegid())});
  Append(a, {"--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname",
             "runner", "--die-with-parent", "--ro-bind", "/usr", "/usr"});
  for (const char* folder : kSystemFolders) {
    std::error_code error;
    if (fs::is_symlink(folder, error)) {
      Append(a, {"--symlink", fs::read_symlink(folder, error).string(), folder});
    } else {
      Append(a, {"--ro-bind-try", folder, folder});
    }
  }
  for (const char* file : kSystemFiles) Bind(a, "--ro-bind-try", file);
  // Where bubblewrap makes these two by itself, the runner's user may not enter them.
  Append(a, {"--dir", "/sys", "--dir", "/sys/bus"});
  Append(a, {"--proc", "/proc", "--dev", "/dev", "--ro-bind-try", "/sys/devices", "/sys/devices", "--ro-bind-try",
             "/sys/class", "/sys/class", "--ro-bind-try", "/sys/bus/pci", "/sys/bus/pci", "--ro-bind-try",
             "/sys/module/nvidia", "/sys/module/nvidia"});
  for (const std::string& file : DeviceFiles(runner)) Append(a, {"--dev-bind-try", file, file});
  // Before the paths below, which may lie under /tmp. Mode 1777: the runner is not the user that mounts it.
  Append(a, {"--perms", "1777", "--tmpfs", "/tmp", "--perms", "1777", "--tmpfs", "/dev/shm"});
  Bind(a, "--ro-bind", runner.command[0]);
  if (!runner.venv.empty()) Bind(a, "--ro-bind", runner.venv);
  for (const std::string& path : runner.paths) Bind(a, "--ro-bind", path);
  Append(a, {"--remount-ro", "/", "--chdir", "/tmp", "--"});
  if (root) {
    Append(a, {kSetpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups", "--no-new-privs", "--inh-caps=-all",
               "--bounding-set=-all"});
  }
  return a;
}

}  // namespace

absl::StatusOr<Launch> PlanLaunch(const RunnerConfig& runner, SandboxLevel level) {
  std::vector<std::string> needed = runner.paths;
  needed.push_back(runner.command[0]);
  if (!runner.venv.empty()) needed.push_back(runner.venv);
  for (const std::string& path : needed) {
    if (!Exists(path)) {
      return absl::NotFoundError(fmt::format("runner {} ({}): {} does not exist: correct the worker's configuration",
                                             runner.name, runner.environment, path));
    }
  }
  Launch launch;
  launch.variables = Variables(runner);
  if (level == SandboxLevel::kFull) {
    launch.arguments = Bubblewrap(runner);
  } else if (Exists(kSetpriv)) {
    launch.arguments = {kSetpriv, "--pdeathsig", "KILL"};
  }
  launch.arguments.insert(launch.arguments.end(), runner.command.begin(), runner.command.end());
  return launch;
}

absl::Status ProbeSandbox(SandboxLevel level) {
  if (level == SandboxLevel::kNone) return absl::OkStatus();
  for (const char* program : {kBubblewrap, kSetpriv}) {
    if (!Exists(program)) {
      return absl::FailedPreconditionError(
          fmt::format("the sandbox \"full\" needs {}, which is not there: install bubblewrap and util-linux, or set "
                      "sandbox = \"none\" to run compilers without a sandbox; the level \"container\" is not built yet",
                      program));
    }
  }
  RunnerConfig probe;
  probe.name = "probe";
  probe.command = {"/usr/bin/true"};
  absl::StatusOr<Launch> launch = PlanLaunch(probe, level);
  if (!launch.ok()) return launch.status();
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return absl::InternalError("pipe for probing the sandbox failed");
  runner::UniqueFd read_end(fds[0]), write_end(fds[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), 2);
  std::vector<char*> arguments;
  for (std::string& argument : launch->arguments) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  char* no_variables[] = {nullptr};
  pid_t pid;
  const int error = ::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), no_variables);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return absl::FailedPreconditionError(fmt::format("{} cannot be started", kBubblewrap));
  write_end.reset();
  std::string text(4096, '\0');
  const ssize_t n = ::read(read_end.get(), text.data(), text.size());
  text.resize(n > 0 ? n : 0);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return absl::FailedPreconditionError(fmt::format(
      "the sandbox \"full\" does not work here ({}): allow user namespaces, start the worker as root, or set "
      "sandbox = \"none\" to run compilers without a sandbox; the level \"container\" is not built yet",
      text.empty() ? "bubblewrap failed without a message" : text));
}

}  // namespace assay::worker
