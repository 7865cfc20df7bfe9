// Long polls of GetEvaluation: one thread asks the database for the progress of all evaluations that somebody waits
// for, five times a second, or at once when this process wrote outcomes. Thread safety: any thread. `ready` runs on the
// watcher's thread and must not block.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "server/database.h"

namespace assay::server {

class ProgressWatcher {
 public:
  explicit ProgressWatcher(Database& database);
  ~ProgressWatcher();

  // Calls `ready` once: when more than `after_finished` trials of the evaluation have outcomes, its state is final, it
  // does not exist, `cancelled` says so, or the time is up.
  void Wait(int64_t evaluation, int after_finished, double seconds, std::function<bool()> cancelled,
            std::function<void()> ready);
  // Outcomes were written.
  void Wake();
  // Everybody is ready.
  void Stop();

 private:
  struct Waiter {
    int64_t evaluation;
    int after_finished;
    std::chrono::steady_clock::time_point deadline;
    std::function<bool()> cancelled;
    std::function<void()> ready;
  };
  void Loop();

  Database& database_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool look_ = false;
  std::vector<Waiter> waiters_;
  std::thread thread_;
};

}  // namespace assay::server
