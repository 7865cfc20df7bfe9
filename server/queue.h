// The queue of trials: claiming, leases, fences, lost workers, cancelling. State lives in Postgres alone, so any number
// of coordinators may work on it at once.
//
// Every function works inside the caller's transaction (Database::Run) and may throw libpqxx's exceptions. Time is the
// database's, so coordinators' own clocks do not matter; QueueOptions::clock_offset_seconds moves it, for tests. Rows
// that exist are always locked in the order of their ids, and claims skip locked rows: no two transactions wait for
// each other. Thread safety: a Queue is immutable.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "assay/v1/workers.pb.h"
#include "server/database.h"
#include "server/offers.h"

namespace assay::server {

struct QueueOptions {
  double lease_seconds = 60;
  int max_worker_losses = 3;            // then the trial is quarantined
  int max_infrastructure_failures = 5;  // likewise
  double clock_offset_seconds = 0;
};

// A trial as it is locked for a decision.
struct TrialRow {
  int64_t id = 0;
  int64_t evaluation_id = 0;
  int position = 0;
  std::string graph_hash;
  bool leased = false;
  int64_t fence = 0;
  std::string worker_id, incarnation, device;
  std::string reuse_key;
  int worker_losses = 0, infra_failures = 0;
};

// One device that wants a trial.
struct Slot {
  std::string worker_id, incarnation, device, kind;
  const Capabilities* capabilities = nullptr;
  bool calibration_only = false;  // its A/A error is above its worker's limit
};

// What a worker holds, as it says itself.
struct SyncInput {
  std::string worker_id, incarnation;
  std::vector<std::pair<int64_t, int64_t>> held;  // trial, fence
  std::vector<std::string> phases;                // of each held trial
  std::vector<std::string> free_devices;
};
struct SyncOutput {
  std::vector<std::pair<int64_t, int64_t>> extended;
  std::vector<std::pair<std::pair<int64_t, int64_t>, std::string>> dropped;  // with the reason
  std::vector<int64_t> redelivered;       // leased, but not named as held: the answer that gave them was lost
  std::vector<std::string> free_devices;  // those left for new trials
};

// Gives `trials` the outcomes of `measurements` (arrays of ids, as parameters, in pairs) and takes them from the queue.
void FinishByReuse(Transaction& transaction, const std::string& trials, const std::string& measurements);

class Queue {
 public:
  explicit Queue(QueueOptions options) : options_(options) {}
  const QueueOptions& options() const { return options_; }
  // SQL for the present time.
  std::string Now() const;

  // The rows of `ids` and all that `worker_ids` hold, locked.
  std::map<int64_t, TrialRow> Lock(Transaction& transaction, const std::vector<int64_t>& ids,
                                   const std::vector<std::string>& worker_ids) const;

  // Extends, drops and redelivers. `trials` is of Lock() with this worker; those of older incarnations are given back
  // and leave it. Evaluations that lost a trial to quarantine are added to `touched`.
  SyncOutput Sync(Transaction& transaction, const SyncInput& input, std::map<int64_t, TrialRow>& trials,
                  std::vector<int64_t>& touched) const;

  // Leases queued trials to the slots, one each at most, by priority and fair tag; a trial that another measurement
  // answers gets its outcome instead. Returns the ids leased.
  std::vector<int64_t> Claim(Transaction& transaction, const std::vector<Slot>& slots,
                             std::vector<int64_t>& touched) const;

  // Assignments of leased trials, by trial.
  std::map<int64_t, v1::Assignment> Assignments(Transaction& transaction, const std::vector<int64_t>& trials) const;

  // Takes the leases of lost workers away: back to the queue with back-off, or to quarantine. `why` becomes part of the
  // trial's history.
  void Lose(Transaction& transaction, const std::vector<TrialRow>& trials, std::string_view why, bool at_once,
            std::vector<int64_t>& touched) const;

  // Puts trials whose report was an infrastructure failure back, or to quarantine.
  void Fail(Transaction& transaction, const std::vector<std::pair<TrialRow, std::string>>& trials,
            std::vector<int64_t>& touched) const;

  // Gives expired leases back. Does nothing where another coordinator is at it. Returns their number.
  int Sweep(Transaction& transaction, std::vector<int64_t>& touched) const;

  // Cancels in any state; in a final one nothing happens. NotFound.
  absl::Status Cancel(Transaction& transaction, int64_t evaluation_id) const;

 private:
  std::vector<std::string> WaitingRequirements(Transaction& transaction) const;
  std::vector<int64_t> Reuse(Transaction& transaction, const std::vector<int64_t>& leased,
                             std::vector<int64_t>& touched) const;
  void Quarantine(Transaction& transaction, const std::vector<int64_t>& ids, std::vector<int64_t>& touched) const;

  const QueueOptions options_;
};

}  // namespace assay::server
