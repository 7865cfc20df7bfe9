#include "worker/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "fmt/format.h"

namespace assay::worker {
namespace {

// Length of the UTF-8 character at the start of `text`, 0 where it is not one.
size_t CharacterLength(std::string_view text) {
  const unsigned char c = text[0];
  const size_t length = c < 0x80                ? 1
                        : c >= 0xc2 && c < 0xe0 ? 2
                        : c >= 0xe0 && c < 0xf0 ? 3
                        : c >= 0xf0 && c < 0xf5 ? 4
                                                : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = length > 1 ? text[1] : 0;
  if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) || (c == 0xf0 && second < 0x90) ||
      (c == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return length;
}

class SpawnActions {
 public:
  SpawnActions() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

}  // namespace

void ByteTail::Add(std::string_view bytes) {
  if (bytes.size() >= limit_) {
    bytes_.assign(bytes.substr(bytes.size() - limit_));
    return;
  }
  if (bytes_.size() + bytes.size() > limit_) bytes_.erase(0, bytes_.size() + bytes.size() - limit_);
  bytes_.append(bytes);
}

std::string ByteTail::Text() const {
  std::string text;
  std::string_view rest = bytes_;
  while (!rest.empty() && bytes_.size() >= limit_ && (rest[0] & 0xc0) == 0x80) rest.remove_prefix(1);
  while (!rest.empty()) {
    const size_t length = CharacterLength(rest);
    if (length == 0 || rest[0] == '\0') {
      text += '?';
      rest.remove_prefix(1);
    } else {
      text.append(rest.substr(0, length));
      rest.remove_prefix(length);
    }
  }
  return text;
}

absl::StatusOr<std::unique_ptr<Process>> Process::Start(const Launch& launch,
                                                        const std::vector<std::pair<int, int>>& fds) {
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return absl::InternalError(fmt::format("pipe: {}", strerror(errno)));
  std::unique_ptr<Process> process(new Process());
  process->output_.reset(pipe_fds[0]);
  const runner::UniqueFd write_end(pipe_fds[1]);
  ::fcntl(process->output_.get(), F_SETFL, O_NONBLOCK);

  // Copies out of the way of the numbers wanted, so that no assignment overwrites the source of a later one.
  std::vector<runner::UniqueFd> high;
  for (const auto& [from, to] : fds) {
    high.emplace_back(::fcntl(from, F_DUPFD_CLOEXEC, 100));
    if (!high.back().valid())
      return absl::InternalError(fmt::format("dup of descriptor {}: {}", from, strerror(errno)));
  }
  SpawnActions spawn;
  posix_spawn_file_actions_addopen(&spawn.actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&spawn.actions, write_end.get(), 1);
  posix_spawn_file_actions_adddup2(&spawn.actions, write_end.get(), 2);
  for (size_t i = 0; i < fds.size(); ++i) {
    posix_spawn_file_actions_adddup2(&spawn.actions, high[i].get(), fds[i].second);
  }
  sigset_t none, defaults;
  sigemptyset(&none);
  sigfillset(&defaults);
  posix_spawnattr_setsigmask(&spawn.attributes, &none);
  posix_spawnattr_setsigdefault(&spawn.attributes, &defaults);
  posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> arguments = launch.arguments, variables;
  for (const auto& [name, value] : launch.variables) variables.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const int error = ::posix_spawn(&process->pid_, argv[0], &spawn.actions, &spawn.attributes, argv.data(), envp.data());
  if (error != 0) {
    process->pid_ = -1;
    const std::string message = fmt::format("{} cannot be started: {}", argv[0], strerror(error));
    return error == ENOENT ? absl::NotFoundError(message) : absl::PermissionDeniedError(message);
  }
  process->pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, process->pid_, 0)));
  if (!process->pidfd_.valid()) return absl::InternalError(fmt::format("pidfd_open: {}", strerror(errno)));
  return process;
}

bool ProcessEnded(int pidfd) {
  pollfd waited{pidfd, POLLIN, 0};
  return ::poll(&waited, 1, 0) > 0 && (waited.revents & POLLIN) != 0;
}

Process::~Process() {
  if (pid_ > 0) Kill();
}

void Process::Signal(int signal) {
  if (!reaped_ && pid_ > 0) ::kill(-pid_, signal);
}

ProcessEnd Process::Kill() {
  Signal(SIGKILL);
  return Reap();
}

ProcessEnd Process::Reap() {
  if (reaped_) return end_;
  siginfo_t info;
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  // What the process left in its group goes with it; before it is reaped, so that the number is still the group's.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  if (WIFSIGNALED(status)) {
    end_.signal = WTERMSIG(status);
  } else if (WIFEXITED(status) && WEXITSTATUS(status) > 128 && WEXITSTATUS(status) <= 128 + 64) {
    end_.signal = WEXITSTATUS(status) - 128;  // as the sandbox's supervisor passes a signal on
  } else {
    end_.exit_code = WEXITSTATUS(status);
  }
  Drain();
  return end_;
}

bool Process::Drain() {
  char bytes[16 << 10];
  // Bounded, so that one that writes without end cannot hold the worker here.
  for (int i = 0; i < 64; ++i) {
    const ssize_t n = ::read(output_.get(), bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return true;
    if (n == 0) return false;
    tail_.Add({bytes, static_cast<size_t>(n)});
  }
  return true;
}

}  // namespace assay::worker
