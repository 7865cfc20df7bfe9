// What the server counts, for Prometheus.
// Thread safety: any thread.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"

namespace prometheus {
class Registry;
}

namespace assay::server {

// The state of the queue, read from the database when it is asked for.
struct QueueState {
  int64_t queued = 0;
  int64_t leased = 0;
  int64_t live_workers = 0;
};

// The A/A error of a device.
struct CalibrationState {
  std::string worker_id, device, runner;
  int processes = 1;
  int threads = 0;
  double median = 0, p95 = 0, maximum = 0;
  double coverage = 0;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();

  void CountCall(const std::string& method, absl::StatusCode code, double seconds);
  void CountLeases(int count);
  void CountReports(const std::string& result, int count);  // "accepted", "refused"
  void CountLostLeases(int count);
  void ObserveBatch(int items, double seconds);  // one transaction of the coordinator
  void SetQueue(const QueueState& state);
  void SetCalibration(const CalibrationState& state);

  // In Prometheus' text format.
  std::string Text() const;

 private:
  struct Families;
  std::shared_ptr<prometheus::Registry> registry_;
  std::unique_ptr<Families> families_;
};

}  // namespace assay::server
