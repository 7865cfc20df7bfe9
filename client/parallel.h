// Work on many items by several threads, results in the items' order, memory bounded: at most `window` items are worked
// on or wait for an earlier one.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace assay::client {

// Calls work(i) for i in [0, count) on `threads` threads and consume(i, result) on the caller's thread, in order. When
// consume returns false no further items are begun, and none is consumed. `work` must not throw.
template <typename Work, typename Consume>
void ParallelInOrder(size_t count, int threads, const Work& work, const Consume& consume) {
  using Result = decltype(work(size_t{0}));
  const size_t window = static_cast<size_t>(threads) * 4;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<size_t, Result> done;
  size_t begun = 0, consumed = 0;
  bool stopped = false;

  const auto loop = [&] {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return stopped || begun == count || begun < consumed + window; });
      if (stopped || begun == count) return;
      const size_t i = begun++;
      lock.unlock();
      Result result = work(i);
      lock.lock();
      done.emplace(i, std::move(result));
      changed.notify_all();
    }
  };
  std::vector<std::jthread> pool;
  for (size_t i = 0; i < std::min<size_t>(threads, count); ++i) pool.emplace_back(loop);

  std::unique_lock lock(mutex);
  while (consumed < count) {
    changed.wait(lock, [&] { return done.contains(consumed); });
    auto node = done.extract(consumed);
    lock.unlock();
    const bool go_on = consume(node.key(), std::move(node.mapped()));
    lock.lock();
    ++consumed;
    stopped = !go_on;
    changed.notify_all();
    if (stopped) break;
  }
  lock.unlock();
}

}  // namespace assay::client
