#include "server/calibration.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <pqxx/pqxx>
#include <set>
#include <tuple>

#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/time_util.h"
#include "measure/paired.h"
#include "measure/quantiles.h"
#include "server/evaluation_store.h"
#include "server/text.h"

namespace assay::server {

namespace {

// A calibration counts for trials that were timed as its own were: worker, device, runner, one process, threads. (And
// with warm caches, as all are.)
using Kind = std::tuple<std::string, std::string, std::string, bool, int>;

Kind KindOf(const v1::Calibration& c) {
  return {c.worker_id(), c.device(), c.target().runner(), c.one_process(), c.policy().threads()};
}

// What the evaluations share.
struct Shared {
  std::string target_id, policy, created;
  v1::Calibration calibration;
};

absl::StatusOr<Shared> LoadShared(Transaction& transaction, const std::vector<int64_t>& ids) {
  std::optional<Shared> shared;
  ArrayParameter list;
  for (const int64_t id : ids) list.Add(id);
  for (const int64_t id : ids) {
    const pqxx::result rows = transaction.exec_params(
        "SELECT e.candidate_id, e.baseline_id, e.state, e.fresh, e.policy FROM evaluations e WHERE e.id = $1", id);
    if (rows.empty()) return absl::NotFoundError(Cat("there is no evaluation ", id, ": `assay status` lists them"));
    const auto& row = rows[0];
    if (row[0].as<int64_t>() != row[1].as<int64_t>(0)) {
      return absl::FailedPreconditionError(
          Cat("evaluation ", id, " compares different targets: for a calibration candidate and baseline are the same"));
    }
    if (std::string_view(row[2].c_str()) != "completed") {
      return absl::FailedPreconditionError(Cat("evaluation ", id, " is ", row[2].c_str(), ", not completed"));
    }
    if (!row[3].as<bool>()) {
      return absl::FailedPreconditionError(
          Cat("evaluation ", id, " may have reused measurements: for a calibration ask for a fresh one"));
    }
    if (!shared) {
      shared.emplace();
      shared->target_id = row[0].c_str();
      shared->policy = row[4].c_str();
    }
    if (shared->target_id != row[0].c_str() || shared->policy != row[4].c_str()) {
      return absl::FailedPreconditionError(
          Cat("evaluation ", id, " has another target or policy than evaluation ", ids[0]));
    }
    shared->calibration.add_evaluation_ids(std::to_string(id));
  }
  if (!google::protobuf::util::JsonStringToMessage(shared->policy, shared->calibration.mutable_policy()).ok()) {
    return absl::DataLossError(Cat("the policy of evaluation ", ids[0], " is not readable"));
  }
  const pqxx::row end = transaction.exec_params1(
      "SELECT max(completed)::text, (extract(epoch FROM max(completed)) * 1000000)::bigint FROM evaluations "
      "WHERE id = ANY($1::bigint[])",
      list.str());
  shared->created = end[0].c_str();
  *shared->calibration.mutable_created() =
      google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(end[1].as<int64_t>());
  *shared->calibration.mutable_target() = LoadEvaluations(transaction, {ids[0]}).at(0).candidate();
  if (shared->calibration.policy().cache() == "cold") {
    return absl::InvalidArgumentError(
        Cat("evaluation ", ids[0], " has cold caches: a calibration is made with warm ones, and counts for such"));
  }
  shared->calibration.set_one_process(!shared->calibration.policy().two_processes());
  return *std::move(shared);
}

struct OnDevice {
  std::vector<CalibrationTrial> trials;
  int left_out = 0;
  std::string model, environment_hash;
};

}  // namespace

v1::Calibration SummariseCalibration(std::span<const CalibrationTrial> trials) {
  v1::Calibration out;
  std::vector<double> errors;
  for (const CalibrationTrial& trial : trials) {
    errors.push_back(std::abs(trial.log_speedup));
    if (!std::isfinite(trial.low) || !std::isfinite(trial.high)) continue;
    measure::PairedEstimate estimate;
    estimate.log_ratio = trial.log_speedup;
    estimate.low = trial.low;
    estimate.high = trial.high;
    estimate.batches = measure::kBatches;
    const measure::Verdict verdict = measure::Judge(estimate);
    out.set_intervals(out.intervals() + 1);
    if (trial.low <= 0 && 0 <= trial.high) out.set_covering(out.covering() + 1);
    if (verdict == measure::Verdict::kFaster || verdict == measure::Verdict::kSlower) {
      out.set_wrong_verdicts(out.wrong_verdicts() + 1);
    }
  }
  out.set_trials(static_cast<int>(errors.size()));
  out.set_median_error(measure::Median(errors));
  out.set_p95_error(measure::Quantile(errors, 0.95));
  out.set_max_error(*std::max_element(errors.begin(), errors.end()));
  return out;
}

absl::StatusOr<std::vector<v1::Calibration>> RecordCalibration(Transaction& transaction,
                                                               const std::vector<std::string>& evaluation_ids) {
  if (evaluation_ids.empty()) return absl::InvalidArgumentError("evaluation_ids is empty: name completed evaluations");
  std::set<int64_t> unique;
  for (const std::string& text : evaluation_ids) {
    const auto id = EvaluationId(text);
    if (!id.ok()) return id.status();
    unique.insert(*id);
  }
  const std::vector<int64_t> ids(unique.begin(), unique.end());
  const absl::StatusOr<Shared> shared = LoadShared(transaction, ids);
  if (!shared.ok()) return shared.status();

  ArrayParameter list;
  for (const int64_t id : ids) list.Add(id);
  std::map<std::pair<std::string, std::string>, OnDevice> devices;
  for (const auto& row : transaction.exec_params(
           "SELECT m.worker_id, m.device, m.device_model, m.environment_hash, o.log_speedup, o.log_low, o.log_high, "
           "o.outcome_class = 'correct' AND o.log_speedup IS NOT NULL AND o.baseline_ns <= $2 "
           "FROM outcomes o JOIN measurements m ON m.id = o.measurement_id "
           "WHERE o.evaluation_id = ANY($1::bigint[]) AND m.worker_id <> '' ORDER BY m.id",
           list.str(), kLongestCalibratedNs)) {
    OnDevice& device = devices[{row[0].c_str(), row[1].c_str()}];
    device.model = row[2].c_str();
    device.environment_hash = row[3].c_str();
    if (row[7].is_null() || !row[7].as<bool>()) {
      ++device.left_out;
      continue;
    }
    CalibrationTrial trial;
    trial.log_speedup = row[4].as<double>();
    if (!row[5].is_null() && !row[6].is_null()) {
      trial.low = row[5].as<double>();
      trial.high = row[6].as<double>();
    }
    device.trials.push_back(trial);
  }
  std::vector<v1::Calibration> out;
  size_t most = 0;
  for (const auto& [place, device] : devices) {
    most = std::max(most, device.trials.size());
    if (device.trials.size() < static_cast<size_t>(kMinimumCalibrationTrials)) continue;
    v1::Calibration calibration = SummariseCalibration(device.trials);
    calibration.MergeFrom(shared->calibration);
    calibration.set_worker_id(place.first);
    calibration.set_device(place.second);
    calibration.set_device_model(device.model);
    calibration.set_environment_hash(device.environment_hash);
    calibration.set_left_out(device.left_out);
    transaction.exec_params(
        "INSERT INTO calibrations (worker_id, device, runner, one_process, threads, p95_error, body, created) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8::timestamptz)",
        calibration.worker_id(), calibration.device(), calibration.target().runner(), calibration.one_process(),
        calibration.policy().threads(), calibration.p95_error(), BytesParameter(calibration.SerializeAsString()),
        shared->created);
    out.push_back(std::move(calibration));
  }
  if (out.empty()) {
    return absl::FailedPreconditionError(
        Cat("no device has the ", kMinimumCalibrationTrials, " trials that a calibration needs (at most ", most,
            " were timed on one, with calls of at most 20 ms): evaluate more or smaller graphs"));
  }
  return out;
}

std::vector<v1::Calibration> NewestCalibrations(Transaction& transaction) {
  std::vector<v1::Calibration> out;
  for (const auto& row :
       transaction.exec("SELECT DISTINCT ON (worker_id, device, runner, one_process, threads) body FROM calibrations "
                        "ORDER BY worker_id, device, runner, one_process, threads, created DESC, id DESC")) {
    if (!out.emplace_back().ParseFromString(BytesFromText(row[0].c_str())))
      throw std::runtime_error("a stored calibration is not readable");
  }
  return out;
}

std::map<std::pair<std::string, std::string>, double> LargestErrors(const std::vector<v1::Calibration>& calibrations) {
  std::map<std::pair<std::string, std::string>, double> out;
  for (const v1::Calibration& c : calibrations) {
    double& largest = out[{c.worker_id(), c.device()}];
    largest = std::max(largest, c.p95_error());
  }
  return out;
}

void StoreEvaluationDevices(Transaction& transaction, int64_t evaluation_id) {
  transaction.exec_params(
      "INSERT INTO evaluation_devices (evaluation_id, worker_id, device) SELECT DISTINCT $1::bigint, m.worker_id, "
      "m.device FROM outcomes o JOIN measurements m ON m.id = o.measurement_id "
      "WHERE o.evaluation_id = $1 AND m.worker_id <> '' AND o.log_speedup IS NOT NULL",
      evaluation_id);
}

void AddCalibration(Transaction& transaction, v1::GetLeaderboardResponse* leaderboard) {
  std::map<Kind, double> errors;
  for (const v1::Calibration& c : NewestCalibrations(transaction)) errors[KindOf(c)] = c.p95_error();
  if (errors.empty()) return;
  ArrayParameter ids;
  for (const auto& section : leaderboard->sections()) {
    for (const auto& entry : section.entries()) ids.Add(*ParseInt(entry.evaluation().id()));
  }
  // Absent from the map: no device is known; 0: one that has no calibration of this kind.
  std::map<std::string, double> of_evaluation;
  for (const auto& row : transaction.exec_params(
           "SELECT d.evaluation_id, d.worker_id, d.device, b.runner, "
           "  (c.runner, c.runner_build, c.environment_hash) = (b.runner, b.runner_build, b.environment_hash) "
           "    AND NOT coalesce((e.policy->>'twoProcesses')::boolean, false), "
           "  coalesce((e.policy->>'threads')::int, 0), coalesce(e.policy->>'cache', '') = 'cold' "
           "FROM evaluation_devices d JOIN evaluations e ON e.id = d.evaluation_id "
           "JOIN targets c ON c.id = e.candidate_id JOIN targets b ON b.id = e.baseline_id "
           "WHERE d.evaluation_id = ANY($1::bigint[])",
           ids.str())) {
    const auto error =
        errors.find(Kind(row[1].c_str(), row[2].c_str(), row[3].c_str(), row[4].as<bool>(), row[5].as<int>()));
    const double found = error == errors.end() || row[6].as<bool>() ? 0 : error->second;
    const auto [it, first] = of_evaluation.emplace(row[0].c_str(), found);
    if (!first) it->second = it->second == 0 || found == 0 ? 0 : std::max(it->second, found);
  }
  for (auto& section : *leaderboard->mutable_sections()) {
    for (auto& entry : *section.mutable_entries()) {
      const auto error = of_evaluation.find(entry.evaluation().id());
      if (error == of_evaluation.end()) continue;
      entry.set_calibration_p95(error->second);
      entry.set_noisy_device(error->second > kNoisyError);
    }
  }
}

}  // namespace assay::server
