// One device's thread: it starts the runners, keeps their warm parents, and runs the trials of that device one after
// another. Runners live as long as the thread that started them.
// Thread safety: Start() and Do() from any thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "worker/config.h"
#include "worker/environment.h"
#include "worker/runner_pool.h"
#include "worker/sync_loop.h"
#include "worker/trial.h"

namespace assay::worker {

class Slot : public Executor {
 public:
  // `groups`, where there are any, limit the runners' memory.
  Slot(const Config& config, FetchGraph fetch, const LoweredStore& lowered, MemoryGroups* groups);
  // Ends what runs and its runners.
  ~Slot() override;

  // Starts every runner of the configuration and asks it to describe itself. Those that fail are logged and left out;
  // an error where none is left.
  absl::StatusOr<std::vector<KnownRunner>> Describe(std::stop_token stop);

  // To be called before the first Start().
  void Assign(v1::Device device, const std::vector<KnownRunner>* runners, const Environment* environment);

  const v1::Device& device() const override { return device_; }
  void Start(v1::Assignment assignment, std::stop_token stop, Phase phase, Done done) override;

 private:
  using Job = std::function<void(RunnerPool&)>;
  void Do(Job job);
  void Serve(std::stop_token stop);

  const Config& config_;
  FetchGraph fetch_;
  const LoweredStore& lowered_;
  MemoryGroups* groups_;
  v1::Device device_;
  const std::vector<KnownRunner>* runners_ = nullptr;
  const Environment* environment_ = nullptr;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> jobs_;
  std::jthread thread_;
};

}  // namespace assay::worker
