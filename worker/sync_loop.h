// The exchange with the coordinator: says what this worker holds and has free, and does what the answer says. Trials
// run on executors, one a device. A trial whose lease is about to end by this machine's monotonic clock is stopped,
// whether or not the coordinator can be reached. Thread safety: Run() on one thread; all other methods from any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "assay/v1/workers.pb.h"
#include "worker/runner_process.h"
#include "worker/service.h"

namespace assay::worker {

// Runs trials on one device, one at a time.
class Executor {
 public:
  using Phase = std::function<void(std::string_view)>;
  // Cancelled where the stop token was triggered.
  using Done = std::function<void(absl::StatusOr<v1::Measurement>)>;

  virtual ~Executor() = default;
  virtual const v1::Device& device() const = 0;
  // Returns at once; `done` is called on the executor's own thread, once. Not called again before `done` has returned.
  virtual void Start(v1::Assignment assignment, std::stop_token stop, Phase phase, Done done) = 0;
};

struct Identity {
  std::string worker_id, incarnation, name, version, sandbox;
  std::vector<v1::Device> devices;
  std::vector<v1::Runner> runners;
  double maximum_calibration_error = 0;
};

struct SyncTimes {
  double poll_seconds = 20;          // long poll while everything is free
  double busy_poll_seconds = 2;      // while something runs and something is free
  double heartbeat_seconds = 5;      // while nothing is free
  double first_retry_seconds = 0.2;  // doubled up to
  double last_retry_seconds = 10;
};

class SyncLoop {
 public:
  SyncLoop(Service& service, Identity identity, std::vector<Executor*> executors, SyncTimes times = {});
  ~SyncLoop();

  // Until drained or abandoned. An error where the coordinator refuses this worker at its first contact.
  absl::Status Run();

  // Takes nothing new; Run() returns when what runs has been reported.
  void Drain();
  // Stops what runs, gives it back and returns from Run().
  void Abandon();

 private:
  struct Held {
    v1::Assignment assignment;
    std::string phase;
    Clock::time_point deadline;
    std::stop_source stop;
    Executor* executor = nullptr;
  };

  v1::SynchroniseRequest MakeRequest(double& wait_seconds);
  void Apply(const v1::SynchroniseResponse& response);
  void StartTrial(const v1::Assignment& assignment);
  void Finished(const std::string& trial_id, int64_t fence, absl::StatusOr<v1::Measurement> measurement);
  void Report(const v1::Measurement& measurement, std::stop_token stop);
  void WatchLeases(std::stop_token stop);
  // Waits, or until something has changed.
  void Wait(double seconds);
  bool Done();

  Service& service_;
  const Identity identity_;
  const std::vector<Executor*> executors_;
  const SyncTimes times_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  uint64_t version_ = 0;                               // counts changes
  std::map<std::string, std::shared_ptr<Held>> held_;  // by trial
  std::map<std::string, bool> busy_;                   // by device: until `done` has returned
  bool draining_ = false;
  bool abandoned_ = false;
  std::stop_source calls_;  // ends calls to the coordinator
  std::jthread watcher_;
};

// The lease's end by the worker's clock: a margin before the coordinator's.
Clock::duration LeaseTime(double lease_seconds);

}  // namespace assay::worker
