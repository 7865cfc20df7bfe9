#include "client/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {

using std::chrono::milliseconds;

absl::StatusOr<std::unique_ptr<Supervisor>> Supervisor::Make(int lock_fd, Options options) {
  std::unique_ptr<Supervisor> supervisor(new Supervisor(lock_fd, std::move(options)));
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  if (::pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0) return absl::InternalError("cannot block signals");
  supervisor->signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!supervisor->signals_.valid()) return absl::ErrnoToStatus(errno, "cannot make a signalfd");
  absl::StatusOr<Guard> guard = Guard::Start(lock_fd, static_cast<int>(supervisor->options_.patience.count()));
  if (!guard.ok()) return guard.status();
  supervisor->guard_.emplace(*std::move(guard));
  return supervisor;
}

Supervisor::~Supervisor() { Stop(); }

absl::Status Supervisor::Launch(Child& child) {
  const absl::StatusOr<pid_t> pid = StartProcess(child.spec);
  if (!pid.ok()) return pid.status();
  child.pid = *pid;
  child.started = Clock::now();
  guard_->Add(*pid, child.spec.end_signal);
  return absl::OkStatus();
}

absl::Status Supervisor::Start(ProcessSpec spec, std::function<void(ProcessSpec&)> before_restart) {
  Child child{.spec = std::move(spec), .before_restart = std::move(before_restart), .backoff = options_.first_backoff};
  if (absl::Status status = Launch(child); !status.ok()) return status;
  children_.push_back(std::move(child));
  return absl::OkStatus();
}

void Supervisor::WaitForSignal(milliseconds timeout) {
  pollfd poll = {.fd = signals_.get(), .events = POLLIN, .revents = 0};
  ::poll(&poll, 1, static_cast<int>(std::max<int64_t>(0, timeout.count())));
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    if (info.ssi_signo == SIGCHLD) continue;
    stop_signal_ = static_cast<int>(info.ssi_signo);
    ++stop_signals_;
  }
}

void Supervisor::Reap() {
  int status = 0;
  while (true) {
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    if (guard_.has_value() && pid == guard_->pid()) {
      absl::StatusOr<Guard> guard = Guard::Start(lock_fd_, static_cast<int>(options_.patience.count()));
      if (!guard.ok()) {
        options_.say("the guard process died and cannot be started again: " + MessageOf(guard.status()));
        guard_.reset();
        stop_signal_ = SIGTERM;  // without it a kill -9 would leave processes behind
        continue;
      }
      *guard_ = *std::move(guard);
      for (const Child& child : children_) {
        if (child.pid != 0) guard_->Add(child.pid, child.spec.end_signal);
      }
      continue;
    }
    for (Child& child : children_) {
      if (child.pid != pid) continue;
      child.pid = 0;
      if (guard_.has_value()) guard_->Remove(pid);
      if (stopping_) break;
      const Clock::time_point now = Clock::now();
      if (now - child.started >= options_.steady) child.backoff = options_.first_backoff;
      ++child.deaths;
      child.due = now + child.backoff;
      options_.say(fmt::format("{} ended with {}; it is started again in {:.1f} s (its log: {})", child.spec.name,
                               EndText(status), static_cast<double>(child.backoff.count()) / 1000,
                               child.spec.log.string()));
      child.backoff = std::min(child.backoff * 2, options_.longest_backoff);
    }
  }
}

void Supervisor::RestartDue() {
  const Clock::time_point now = Clock::now();
  for (Child& child : children_) {
    if (child.pid != 0 || now < child.due) continue;
    if (child.before_restart) child.before_restart(child.spec);
    if (const absl::Status status = Launch(child); !status.ok()) {
      options_.say(MessageOf(status));
      child.due = now + child.backoff;
      child.backoff = std::min(child.backoff * 2, options_.longest_backoff);
    }
  }
}

void Supervisor::Poll(milliseconds timeout) {
  milliseconds wait = timeout;
  for (const Child& child : children_) {
    if (child.pid == 0) {
      wait = std::min(wait, std::chrono::ceil<milliseconds>(child.due - Clock::now()));
    }
  }
  WaitForSignal(wait);
  Reap();
  if (stop_signal_ == 0) RestartDue();
}

absl::Status Supervisor::WaitUntil(const std::function<bool()>& done, const std::string& name, milliseconds limit) {
  constexpr int kDeaths = 3;
  const Clock::time_point deadline = Clock::now() + limit;
  while (true) {
    if (stop_signal_ != 0) return absl::CancelledError(fmt::format("stopped by signal {}", stop_signal_));
    if (done()) return absl::OkStatus();
    const Child* child = Find(name);
    if (child != nullptr && child->deaths >= kDeaths) {
      return absl::InternalError(
          fmt::format("{} keeps ending; the end of {}:\n{}", name, child->spec.log.string(), LogTail(child->spec.log)));
    }
    if (Clock::now() >= deadline) {
      return absl::InternalError(fmt::format(
          "{} is not ready after {:.0f} s; the end of {}:\n{}", name, static_cast<double>(limit.count()) / 1000,
          child == nullptr ? "" : child->spec.log.string(), child == nullptr ? "" : LogTail(child->spec.log)));
    }
    Poll(milliseconds(50));
  }
}

void Supervisor::Stop() {
  stopping_ = true;
  stop_signals_ = 0;
  for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
    if (child->pid == 0) continue;
    ::kill(child->pid, child->spec.end_signal);
    const Clock::time_point deadline = Clock::now() + options_.patience;
    while (child->pid != 0) {
      WaitForSignal(std::min(milliseconds(500), std::chrono::ceil<milliseconds>(deadline - Clock::now())));
      Reap();
      if (child->pid != 0 && (Clock::now() >= deadline || stop_signals_ > 0)) {
        options_.say(fmt::format("{} does not end; it is killed", child->spec.name));
        ::kill(-child->pid, SIGKILL);
        while (::waitpid(child->pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        if (guard_.has_value()) guard_->Remove(child->pid);
        child->pid = 0;
      }
    }
  }
  children_.clear();
}

const Supervisor::Child* Supervisor::Find(const std::string& name) const {
  for (const Child& child : children_) {
    if (child.spec.name == name) return &child;
  }
  return nullptr;
}

pid_t Supervisor::PidOf(const std::string& name) const {
  const Child* child = Find(name);
  return child == nullptr ? 0 : child->pid;
}

int Supervisor::RestartsOf(const std::string& name) const {
  const Child* child = Find(name);
  return child == nullptr ? 0 : child->deaths;
}

}  // namespace assay::client
