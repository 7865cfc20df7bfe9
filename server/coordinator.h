// Serves all of this process's workers: one thread takes what arrived meanwhile (reports, synchronisations) into one
// transaction, and gives trials to the long polls that wait; another sweeps expired leases and ends evaluations. A
// third listens for submissions at other coordinators. Nothing here matters after a crash: the truth is in the
// database. Thread safety: any thread. Calls are finished on the coordinator's threads or within the call.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "assay/v1/workers.pb.h"
#include "server/api.h"
#include "server/database.h"
#include "server/metrics.h"
#include "server/queue.h"
#include "server/report.h"

namespace assay::server {

struct CoordinatorOptions {
  double poll_seconds = 0.5;  // how often waiting polls look for work that no notification told of
  double sweep_seconds = 1;
  int largest_batch = 200;  // calls in one transaction
};

class Coordinator {
 public:
  Coordinator(Database& database, const Queue& queue, Metrics& metrics, CoordinatorOptions options = {});
  ~Coordinator();

  void Start();
  // Ends the threads; waiting calls are answered with what there is.
  void Stop();

  // Handlers of Workers.Synchronise and Workers.Report.
  void Synchronise(const std::shared_ptr<Call>& call);
  void Report(const std::shared_ptr<Call>& call);

  // Something was submitted or cancelled: waiting polls look at once, other coordinators are told (at most ten times a
  // second).
  void Submitted();
  // These evaluations may have ended.
  void Touched(const std::vector<int64_t>& evaluations);
  // Called, on one of the coordinator's threads, when outcomes were written or an evaluation ended.
  void OnProgress(std::function<void()> listener) { on_progress_ = std::move(listener); }

  // One round of each thread's work, for tests that want no threads. Returns the number of calls answered.
  int Serve();
  void Sweep();

 private:
  struct Poll;
  struct Batch;

  void ServeLoop();
  void SweepLoop();
  void ListenLoop();
  absl::Status RunBatch(Batch& batch);
  void Finish(Poll& poll, absl::Status status);
  void FinishTouched();

  Database& database_;
  const Queue& queue_;
  Metrics& metrics_;
  const CoordinatorOptions options_;
  std::function<void()> on_progress_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool look_ = false;  // waiting polls should look for work now
  std::deque<std::shared_ptr<Call>> reports_;
  std::deque<std::shared_ptr<Poll>> arrived_;
  std::set<int64_t> touched_;
  std::condition_variable sweep_wake_;
  std::chrono::steady_clock::time_point last_notify_;
  bool notify_ = false;

  std::vector<std::shared_ptr<Poll>> waiting_;  // of the serving thread alone
  std::vector<std::thread> threads_;
};

}  // namespace assay::server
