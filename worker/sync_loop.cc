#include "worker/sync_loop.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "spdlog/spdlog.h"

namespace assay::worker {
namespace {

Clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::string Text(const absl::Status& status) { return std::string(status.message()); }

// What trying again cannot mend.
bool IsRefusal(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status) || absl::IsInvalidArgument(status) ||
         absl::IsUnimplemented(status);
}

// Grows from try to try, and differs between workers so that they do not come back all at once.
class Backoff {
 public:
  explicit Backoff(const SyncTimes& times) : times_(times), seconds_(times.first_retry_seconds) {}
  void Reset() { seconds_ = times_.first_retry_seconds; }
  double Next() {
    const double now = seconds_;
    seconds_ = std::min(2 * seconds_, times_.last_retry_seconds);
    return now * std::uniform_real_distribution<double>(0.5, 1.0)(random_);
  }

 private:
  const SyncTimes& times_;
  double seconds_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

Clock::duration LeaseTime(double lease_seconds) {
  return Seconds(std::max(0.0, lease_seconds - std::min(5.0, 0.1 * lease_seconds)));
}

SyncLoop::SyncLoop(Service& service, Identity identity, std::vector<Executor*> executors, SyncTimes times)
    : service_(service), identity_(std::move(identity)), executors_(std::move(executors)), times_(times) {
  watcher_ = std::jthread([this](std::stop_token stop) { WatchLeases(stop); });
}

SyncLoop::~SyncLoop() {
  Abandon();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return std::none_of(busy_.begin(), busy_.end(), [](const auto& b) { return b.second; }); });
}

v1::SynchroniseRequest SyncLoop::MakeRequest(double& wait_seconds) {
  std::unique_lock lock(mutex_);
  v1::SynchroniseRequest request;
  request.set_worker_id(identity_.worker_id);
  request.set_incarnation(identity_.incarnation);
  request.set_name(identity_.name);
  request.set_version(identity_.version);
  request.set_sandbox(identity_.sandbox);
  request.set_maximum_calibration_error(identity_.maximum_calibration_error);
  for (const v1::Device& device : identity_.devices) *request.add_devices() = device;
  for (const v1::Runner& runner : identity_.runners) *request.add_runners() = runner;
  for (const auto& [id, held] : held_) {
    v1::HeldTrial& told = *request.add_held();
    told.set_trial_id(id);
    told.set_fence(held->assignment.fence());
    told.set_phase(held->phase);
  }
  request.set_draining(draining_);
  if (!draining_) {
    for (const Executor* executor : executors_) {
      if (!busy_[executor->device().id()]) request.add_free_devices(executor->device().id());
    }
  }
  wait_seconds = request.free_devices().empty() ? 0 : held_.empty() ? times_.poll_seconds : times_.busy_poll_seconds;
  request.set_wait_seconds(wait_seconds);
  return request;
}

absl::Status SyncLoop::Run() {
  Backoff backoff(times_);
  bool known = false;
  while (!Done()) {
    double wait_seconds = 0;
    v1::SynchroniseRequest request = MakeRequest(wait_seconds);
    if (!known) request.set_wait_seconds(0);  // announces the worker without waiting for work
    const absl::StatusOr<v1::SynchroniseResponse> response = service_.Synchronise(request, calls_.get_token());
    if (!response.ok()) {
      if (Done()) break;
      if (!known && IsRefusal(response.status())) return response.status();
      spdlog::warn("{}; trying again", Text(response.status()));
      Wait(backoff.Next());
      continue;
    }
    if (!known) spdlog::info("the coordinator knows this worker as {}", identity_.worker_id);
    known = true;
    backoff.Reset();
    Apply(*response);
    if (wait_seconds == 0) Wait(times_.heartbeat_seconds);
  }
  // Tells the coordinator what is given back, so that it need not wait for leases to end. The last call of a worker
  // that goes: lost, it costs only that wait.
  {
    std::unique_lock lock(mutex_);
    draining_ = true;
    changed_.wait(lock, [&] { return held_.empty(); });
  }
  double unused;
  v1::SynchroniseRequest last = MakeRequest(unused);
  last.set_wait_seconds(0);
  if (known) (void)service_.Synchronise(last, {});
  return absl::OkStatus();
}

bool SyncLoop::Done() {
  std::unique_lock lock(mutex_);
  return abandoned_ || (draining_ && held_.empty());
}

void SyncLoop::Wait(double seconds) {
  std::unique_lock lock(mutex_);
  const uint64_t seen = version_;
  changed_.wait_for(lock, Seconds(seconds), [&] { return version_ != seen; });
}

void SyncLoop::Apply(const v1::SynchroniseResponse& response) {
  const Clock::time_point now = Clock::now();
  {
    std::unique_lock lock(mutex_);
    for (const v1::Extension& extension : response.extensions()) {
      auto found = held_.find(extension.trial_id());
      if (found == held_.end() || found->second->assignment.fence() != extension.fence()) continue;
      found->second->deadline = now + LeaseTime(extension.lease_seconds());
    }
    for (const v1::Drop& drop : response.drops()) {
      auto found = held_.find(drop.trial_id());
      if (found == held_.end() || found->second->assignment.fence() != drop.fence()) continue;
      spdlog::info("trial {} is dropped: {}", drop.trial_id(), drop.reason());
      found->second->stop.request_stop();
    }
    if (response.drain()) draining_ = true;
    ++version_;
    changed_.notify_all();
  }
  for (const v1::Assignment& assignment : response.assignments()) StartTrial(assignment);
}

void SyncLoop::StartTrial(const v1::Assignment& assignment) {
  auto held = std::make_shared<Held>();
  {
    std::unique_lock lock(mutex_);
    const auto executor = std::find_if(executors_.begin(), executors_.end(),
                                       [&](const Executor* e) { return e->device().id() == assignment.device(); });
    // What is not taken is not named as held in the next call, and goes back.
    if (executor == executors_.end() || busy_[assignment.device()] || draining_ || abandoned_ ||
        held_.contains(assignment.trial_id())) {
      return;
    }
    held->assignment = assignment;
    held->phase = "start";
    held->deadline = Clock::now() + LeaseTime(assignment.lease_seconds());
    held->executor = *executor;
    held_[assignment.trial_id()] = held;
    busy_[assignment.device()] = true;
    ++version_;
    changed_.notify_all();
  }
  spdlog::info("trial {} begins: {} on {}", assignment.trial_id(), assignment.graph(), assignment.device());
  held->executor->Start(
      assignment, held->stop.get_token(),
      [this, held](std::string_view phase) {
        std::unique_lock lock(mutex_);
        held->phase = phase;
      },
      [this, id = assignment.trial_id(), fence = assignment.fence()](absl::StatusOr<v1::Measurement> measurement) {
        Finished(id, fence, std::move(measurement));
      });
}

void SyncLoop::Finished(const std::string& trial_id, int64_t fence, absl::StatusOr<v1::Measurement> measurement) {
  std::shared_ptr<Held> held;
  {
    std::unique_lock lock(mutex_);
    held = held_.at(trial_id);
    held->phase = "report";
  }
  if (measurement.ok()) {
    Report(*measurement, held->stop.get_token());
  } else {
    spdlog::info("trial {} ends without a report: {}", trial_id, Text(measurement.status()));
  }
  std::unique_lock lock(mutex_);
  held_.erase(trial_id);
  busy_[held->assignment.device()] = false;
  ++version_;
  changed_.notify_all();
}

void SyncLoop::Report(const v1::Measurement& measurement, std::stop_token stop) {
  v1::ReportRequest request;
  request.set_worker_id(identity_.worker_id);
  request.set_incarnation(identity_.incarnation);
  *request.add_measurements() = measurement;
  Backoff backoff(times_);
  // Until the coordinator has answered; the trial stays held and its lease is extended. A lease that ends, a drop or
  // the worker's own end make the report void.
  while (!stop.stop_requested()) {
    const absl::StatusOr<v1::ReportResponse> response = service_.Report(request, stop);
    if (response.ok() && response->results_size() == 1) {
      const v1::ReportResult& result = response->results(0);
      if (result.accepted()) {
        spdlog::info("trial {} is reported: {}", measurement.trial_id(),
                     v1::OutcomeClass_Name(measurement.outcome_class()));
      } else {
        spdlog::warn("the report of trial {} was refused: {}", measurement.trial_id(), result.reason());
      }
      return;
    }
    const absl::Status status =
        response.ok() ? absl::InternalError("Report answered without a result") : response.status();
    if (absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status)) {
      spdlog::error("the report of trial {} cannot be made: {}", measurement.trial_id(), Text(status));
      return;
    }
    if (!stop.stop_requested()) spdlog::warn("{}; trying again", Text(status));
    const Clock::time_point until = Clock::now() + Seconds(backoff.Next());
    std::unique_lock lock(mutex_);
    std::condition_variable_any pause;
    pause.wait_until(lock, stop, until, [] { return false; });
  }
}

void SyncLoop::WatchLeases(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Clock::time_point now = Clock::now();
    Clock::time_point next = now + std::chrono::hours(1);
    for (const auto& [id, held] : held_) {
      if (held->stop.stop_requested()) continue;
      if (held->deadline <= now) {
        spdlog::warn("trial {} is ended: its lease was not extended in time", id);
        held->stop.request_stop();
      } else {
        next = std::min(next, held->deadline);
      }
    }
    const uint64_t seen = version_;
    changed_.wait_until(lock, stop, next, [&] { return version_ != seen; });
  }
}

void SyncLoop::Drain() {
  std::unique_lock lock(mutex_);
  draining_ = true;
  ++version_;
  changed_.notify_all();
  if (held_.empty()) calls_.request_stop();
}

void SyncLoop::Abandon() {
  std::vector<std::shared_ptr<Held>> running;
  {
    std::unique_lock lock(mutex_);
    abandoned_ = draining_ = true;
    for (const auto& [id, held] : held_) running.push_back(held);
    ++version_;
    changed_.notify_all();
  }
  for (const auto& held : running) held->stop.request_stop();
  calls_.request_stop();
}

}  // namespace assay::worker
