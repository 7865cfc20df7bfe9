// Keeps a few child processes running: starts them, restarts one that has died, with back-off, and ends them in the
// reverse order. A signal to end (SIGINT, SIGTERM, SIGHUP) is noticed in Poll().
// Thread safety: one thread, the main one (process.h). Make it before any other thread: it blocks those signals.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/guard.h"
#include "client/process.h"

namespace assay::client {

class Supervisor {
 public:
  struct Options {
    std::chrono::milliseconds first_backoff{500};
    std::chrono::milliseconds longest_backoff{30000};
    std::chrono::milliseconds steady{60000};      // a child that lived so long starts again with the first back-off
    std::chrono::milliseconds patience{15000};    // for a child that is asked to end; then it is killed
    std::function<void(const std::string&)> say;  // what happened, for people
  };
  // Keeps a guard, which holds `lock_fd`.
  static absl::StatusOr<std::unique_ptr<Supervisor>> Make(int lock_fd, Options options);
  ~Supervisor();  // as Stop()

  // Starts a child and keeps it running. `before_restart` may change what is run the next time.
  absl::Status Start(ProcessSpec spec, std::function<void(ProcessSpec&)> before_restart = nullptr);

  // Waits for something to happen, at most so long; restarts what has died and is due.
  void Poll(std::chrono::milliseconds timeout);

  // Polls until `done` says true. Cancelled where a signal to end comes first; Internal, with the end of the child's
  // log, where it takes longer, or the child named keeps dying (three times).
  absl::Status WaitUntil(const std::function<bool()>& done, const std::string& child, std::chrono::milliseconds limit);

  // The signal that asked to end, 0: none.
  int stop_signal() const { return stop_signal_; }

  // Ends all children, newest first. A second signal to end makes it quick.
  void Stop();

  pid_t PidOf(const std::string& name) const;  // 0 while it does not run
  int RestartsOf(const std::string& name) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Child {
    ProcessSpec spec;
    std::function<void(ProcessSpec&)> before_restart;
    pid_t pid = 0;
    Clock::time_point started{};
    Clock::time_point due{};  // of the next start, while pid is 0
    std::chrono::milliseconds backoff{};
    int deaths = 0;
  };

  Supervisor(int lock_fd, Options options) : lock_fd_(lock_fd), options_(std::move(options)) {}
  absl::Status Launch(Child& child);
  void Reap();
  void RestartDue();
  // Waits for signals, at most so long.
  void WaitForSignal(std::chrono::milliseconds timeout);
  const Child* Find(const std::string& name) const;

  int lock_fd_;
  Options options_;
  Fd signals_;
  std::optional<Guard> guard_;
  std::vector<Child> children_;
  int stop_signal_ = 0;
  int stop_signals_ = 0;
  bool stopping_ = false;
};

}  // namespace assay::client
