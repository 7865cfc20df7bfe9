#include "client/process.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "client/fd.h"
#include "client/state_folder.h"
#include "client/text.h"
#include "fmt/format.h"

extern char** environ;

namespace assay::client {
namespace {

// What the child reports where it cannot become the program.
struct StartError {
  int error = 0;
  char step[24] = {};
};

struct Prepared {
  std::vector<char*> argv, envp;
  std::vector<std::string> env_texts;
};

Prepared Prepare(const ProcessSpec& spec) {
  Prepared p;
  for (const std::string& argument : spec.argv) p.argv.push_back(const_cast<char*>(argument.c_str()));
  p.argv.push_back(nullptr);
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry = *e;
    if (!spec.env.contains(std::string(entry.substr(0, entry.find('='))))) p.env_texts.emplace_back(entry);
  }
  for (const auto& [name, value] : spec.env) p.env_texts.push_back(name + "=" + value);
  for (const std::string& entry : p.env_texts) p.envp.push_back(const_cast<char*>(entry.c_str()));
  p.envp.push_back(nullptr);
  return p;
}

// Runs in the child: only what is safe after a fork of a process with threads.
[[noreturn]] void BecomeProgram(const ProcessSpec& spec, const Prepared& prepared, pid_t parent, int input, int log,
                                int report) {
  const auto fail = [&](const char* step) {
    StartError error{.error = errno};
    std::strncpy(error.step, step, sizeof(error.step) - 1);
    [[maybe_unused]] const ssize_t n = ::write(report, &error, sizeof(error));
    ::_exit(127);
  };
  if (::setpgid(0, 0) != 0) fail("setpgid");
  if (::dup2(input, 0) < 0 || ::dup2(log, 1) < 0 || ::dup2(log, 2) < 0) fail("dup2");
  if (::syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) != 0) fail("close_range");
  if (!spec.folder.empty() && ::chdir(spec.folder.c_str()) != 0) fail("chdir");
  if (spec.user.has_value()) {
    if (::setgroups(0, nullptr) != 0) fail("setgroups");
    if (::setgid(spec.user->gid) != 0) fail("setgid");
    if (::setuid(spec.user->uid) != 0) fail("setuid");
  }
  // After the change of user, which would clear it.
  if (::prctl(PR_SET_PDEATHSIG, spec.end_signal) != 0) fail("prctl");
  if (::getppid() != parent) ::_exit(127);  // the parent died before that
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
  fail("execve");
  ::_exit(127);
}

absl::StatusOr<pid_t> Start(const ProcessSpec& spec, int input) {
  const Fd log(::open(spec.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log.valid()) return absl::ErrnoToStatus(errno, "cannot open " + spec.log.string());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
  Fd report(ends[0]);
  const Prepared prepared = Prepare(spec);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) BecomeProgram(spec, prepared, parent, input, log.get(), ends[1]);
  ::close(ends[1]);
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot start " + spec.name);
  StartError error;
  ssize_t n = 0;
  do {
    n = ::read(report.get(), &error, sizeof(error));
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof(error))) {
    ::waitpid(pid, nullptr, 0);
    return absl::ErrnoToStatus(error.error,
                               fmt::format("cannot start {} ({}): {}", spec.name, spec.argv[0], error.step));
  }
  return pid;
}

}  // namespace

absl::StatusOr<pid_t> StartProcess(const ProcessSpec& spec) {
  const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.valid()) return absl::ErrnoToStatus(errno, "cannot open /dev/null");
  return Start(spec, null.get());
}

absl::Status RunToEnd(const ProcessSpec& spec, const std::string& standard_input) {
  const Fd input(::memfd_create("input", MFD_CLOEXEC));
  if (!input.valid() ||
      ::write(input.get(), standard_input.data(), standard_input.size()) !=
          static_cast<ssize_t>(standard_input.size()) ||
      ::lseek(input.get(), 0, SEEK_SET) != 0) {
    return absl::ErrnoToStatus(errno, "cannot prepare the input of " + spec.name);
  }
  const absl::StatusOr<pid_t> pid = Start(spec, input.get());
  if (!pid.ok()) return pid.status();
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::InternalError(fmt::format("{} ended with {}; the end of {}:\n{}", spec.name, EndText(status),
                                         spec.log.string(), LogTail(spec.log)));
}

std::string EndText(int wait_status) {
  if (WIFEXITED(wait_status)) return fmt::format("exit code {}", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

std::string LogTail(const std::filesystem::path& log, int lines) {
  const absl::StatusOr<std::string> text = ReadFile(log);
  if (!text.ok()) return MessageOf(text.status());
  std::string_view rest = Trim(*text);
  size_t begin = rest.size();
  for (int i = 0; i < lines && begin != std::string_view::npos && begin > 0; ++i) begin = rest.rfind('\n', begin - 1);
  return std::string(begin == std::string_view::npos || begin == 0 ? rest : rest.substr(begin + 1));
}

}  // namespace assay::client
