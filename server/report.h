// Takes measurements in: each (trial, fence) once, and one outcome a trial.
// Thread safety: works in the caller's transaction.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/v1/evaluations.pb.h"
#include "assay/v1/workers.pb.h"
#include "server/database.h"
#include "server/queue.h"

namespace assay::server {

struct ReportInput {
  std::string worker_id;
  v1::Measurement measurement;
};

// What is wrong with a measurement in itself; OK where nothing is. `compiles_only`: its trial has no baseline.
absl::Status CheckMeasurement(const v1::Measurement& measurement, bool compiles_only);

// One result for each input, in order. `trials` is of Queue::Lock() with every trial named; those that end here leave
// it. Evaluations that lost a trial from the queue are added to `touched`.
std::vector<v1::ReportResult> TakeReports(Transaction& transaction, const Queue& queue,
                                          const std::vector<const ReportInput*>& inputs,
                                          std::map<int64_t, TrialRow>& trials, std::vector<int64_t>& touched);

}  // namespace assay::server
