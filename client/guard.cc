#include "client/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace assay::client {
namespace {

constexpr int kMaxProcesses = 16;

struct Command {
  pid_t pid;
  int end_signal;  // 0: it has ended
};

struct Watched {
  pid_t pid;
  int end_signal;
  int pidfd;  // so that a number used again is never mistaken for it
};

int64_t NowMs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

bool Ended(const Watched& process, int timeout_ms) {
  pollfd poll = {.fd = process.pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, timeout_ms) > 0;
}

void SignalGroup(const Watched& process, int signal) {
  if (Ended(process, 0)) return;
  ::kill(-process.pid, signal);
  ::syscall(SYS_pidfd_send_signal, process.pidfd, signal, nullptr, 0);
}

// Only what is safe after a fork of a process with threads: no allocation.
[[noreturn]] void Run(int pipe, int lock_fd, int patience_ms) {
  ::setsid();
  ::prctl(PR_SET_NAME, "assay-guard");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  // Nothing else is to be kept open on behalf of the dead.
  const int low = std::min(pipe, lock_fd), high = std::max(pipe, lock_fd);
  if (low > 3) ::syscall(SYS_close_range, 3u, static_cast<unsigned>(low - 1), 0u);
  if (high > low + 1) ::syscall(SYS_close_range, static_cast<unsigned>(low + 1), static_cast<unsigned>(high - 1), 0u);
  ::syscall(SYS_close_range, static_cast<unsigned>(high + 1), ~0u, 0u);
  if (const int null = ::open("/dev/null", O_RDWR); null >= 0) {
    for (const int fd : {0, 1, 2}) ::dup2(null, fd);
    ::close(null);
  }

  Watched watched[kMaxProcesses];
  int count = 0;
  Command command{};
  while (true) {
    const ssize_t n = ::read(pipe, &command, sizeof(command));
    if (n < 0 && errno == EINTR) continue;
    if (n != static_cast<ssize_t>(sizeof(command))) break;  // the other end is gone
    for (int i = 0; i < count; ++i) {
      if (watched[i].pid != command.pid) continue;
      ::close(watched[i].pidfd);
      watched[i] = watched[--count];
      break;
    }
    if (command.end_signal == 0 || count == kMaxProcesses) continue;
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, command.pid, 0));
    if (pidfd >= 0) watched[count++] = {command.pid, command.end_signal, pidfd};
  }

  for (int i = 0; i < count; ++i) SignalGroup(watched[i], watched[i].end_signal);
  const int64_t deadline = NowMs() + patience_ms;
  for (int i = 0; i < count; ++i) {
    const int64_t left = deadline - NowMs();
    if (!Ended(watched[i], static_cast<int>(std::max<int64_t>(0, left)))) SignalGroup(watched[i], SIGKILL);
  }
  for (int i = 0; i < count; ++i) Ended(watched[i], 5000);
  ::_exit(0);
}

}  // namespace

absl::StatusOr<Guard> Guard::Start(int lock_fd, int patience_ms) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[1]);
    Run(ends[0], lock_fd, patience_ms);
  }
  ::close(ends[0]);
  Fd pipe(ends[1]);
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot start the guard process");
  return Guard(pid, std::move(pipe));
}

void Guard::Add(pid_t pid, int end_signal) {
  const Command command = {pid, end_signal};
  // A dead guard is noticed by SIGCHLD and replaced: nothing is to be done here.
  [[maybe_unused]] const ssize_t n = ::write(pipe_.get(), &command, sizeof(command));
}

void Guard::Remove(pid_t pid) { Add(pid, 0); }

}  // namespace assay::client
