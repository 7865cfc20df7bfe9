#include "worker/slot.h"

#include <future>
#include <utility>

#include "spdlog/spdlog.h"
#include "worker/scheduling.h"

namespace assay::worker {
namespace {

// Runners inherit the CPUs of the thread that starts them.
void PinTo(const std::vector<int>& cpus) {
  if (!cpus.empty() && !SetAllowedCpus(0, cpus)) {
    spdlog::error("the CPUs of the configuration cannot be used; runners are not pinned");
  }
}

}  // namespace

Slot::Slot(const Config& config, FetchGraph fetch, const LoweredStore& lowered, MemoryGroups* groups)
    : config_(config), fetch_(std::move(fetch)), lowered_(lowered), groups_(groups) {
  thread_ = std::jthread([this](std::stop_token stop) { Serve(stop); });
}

Slot::~Slot() {
  thread_.request_stop();
  thread_.join();
}

void Slot::Serve(std::stop_token stop) {
  PinTo(config_.cpus);
  boost::asio::io_context io;
  RunnerPool pool(io, config_, groups_);
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !jobs_.empty(); })) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job(pool);
  }
}

void Slot::Do(Job job) {
  std::unique_lock lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

absl::StatusOr<std::vector<KnownRunner>> Slot::Describe(std::stop_token stop) {
  std::promise<absl::StatusOr<std::vector<KnownRunner>>> promise;
  Do([&](RunnerPool& pool) {
    std::vector<KnownRunner> runners;
    absl::Status first;
    for (const RunnerConfig& config : config_.runners) {
      absl::StatusOr<KnownRunner> runner = pool.Describe(config, stop);
      if (runner.ok()) {
        runners.push_back(*std::move(runner));
      } else {
        spdlog::error("{}", std::string(runner.status().message()));
        if (first.ok()) first = runner.status();
      }
    }
    for (const std::string& compiler : LinkLowering(runners)) {
      spdlog::warn("{} is not offered: no runner of its environment lowers graphs for it", compiler);
    }
    if (runners.empty()) {
      promise.set_value(first.ok()
                            ? absl::InvalidArgumentError("the worker's configuration names no runner: add [[runner]]")
                            : first);
    } else {
      promise.set_value(std::move(runners));
    }
  });
  return promise.get_future().get();
}

void Slot::Assign(v1::Device device, const std::vector<KnownRunner>* runners, const Environment* environment) {
  device_ = std::move(device);
  runners_ = runners;
  environment_ = environment;
}

void Slot::Start(v1::Assignment assignment, std::stop_token stop, Phase phase, Done done) {
  Do([this, assignment = std::move(assignment), stop, phase = std::move(phase),
      done = std::move(done)](RunnerPool& pool) {
    const TrialContext context{pool, *runners_, config_, *environment_, lowered_, device_};
    done(RunTrial(context, assignment, fetch_, stop, phase));
  });
}

}  // namespace assay::worker
