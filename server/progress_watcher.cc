#include "server/progress_watcher.h"

#include <map>
#include <set>

#include "server/evaluation_store.h"
#include "spdlog/spdlog.h"

namespace assay::server {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kEvery = std::chrono::milliseconds(200);

}  // namespace

ProgressWatcher::ProgressWatcher(Database& database) : database_(database), thread_([this] { Loop(); }) {}

ProgressWatcher::~ProgressWatcher() { Stop(); }

void ProgressWatcher::Wait(int64_t evaluation, int after_finished, double seconds, std::function<bool()> cancelled,
                           std::function<void()> ready) {
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      waiters_.push_back({evaluation, after_finished, deadline, std::move(cancelled), std::move(ready)});
      look_ = true;
      changed_.notify_one();
      return;
    }
  }
  ready();
}

void ProgressWatcher::Wake() {
  const std::lock_guard lock(mutex_);
  look_ = true;
  changed_.notify_one();
}

void ProgressWatcher::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void ProgressWatcher::Loop() {
  for (;;) {
    std::set<int64_t> ids;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !waiters_.empty(); });
      changed_.wait_for(lock, kEvery, [&] { return stopping_ || look_; });
      look_ = false;
      if (stopping_) break;
      for (const auto& waiter : waiters_) ids.insert(waiter.evaluation);
    }
    std::map<int64_t, Progress> progress;
    const absl::Status status = database_.Run([&](Transaction& transaction) {
      progress.clear();
      for (const auto& one : LoadProgress(transaction, {ids.begin(), ids.end()})) progress[one.id] = one;
      return absl::OkStatus();
    });
    if (!status.ok()) spdlog::warn("progress cannot be read: {}", std::string(status.message()));
    std::vector<Waiter> ready;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(waiters_, [&](Waiter& waiter) {
        bool is_ready = Clock::now() >= waiter.deadline || waiter.cancelled();
        if (status.ok() && ids.contains(waiter.evaluation)) {
          const auto it = progress.find(waiter.evaluation);
          is_ready =
              is_ready || it == progress.end() || it->second.final || it->second.finished > waiter.after_finished;
        }
        if (is_ready) ready.push_back(std::move(waiter));
        return is_ready;
      });
    }
    for (const auto& waiter : ready) waiter.ready();
  }
  std::vector<Waiter> rest;
  {
    const std::lock_guard lock(mutex_);
    rest.swap(waiters_);
  }
  for (const auto& waiter : rest) waiter.ready();
}

}  // namespace assay::server
