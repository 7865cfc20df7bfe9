#include "server/report.h"

#include <cmath>
#include <pqxx/pqxx>
#include <set>

#include "google/protobuf/util/json_util.h"
#include "measure/paired.h"
#include "server/compression.h"
#include "server/names.h"
#include "server/text.h"

namespace assay::server {

namespace {

constexpr size_t kMessageBytes = 2000;

std::string Message(const v1::Measurement& measurement) {
  return CleanText(std::string_view(measurement.message()).substr(0, kMessageBytes));
}

void AddOptional(ArrayParameter& array, bool present, double value) {
  if (present) {
    array.Add(value);
  } else {
    array.AddNull();
  }
}

bool Timed(const v1::Measurement& measurement) { return measurement.has_timing() && measurement.timing().pairs() > 0; }

bool IsReusable(const v1::Measurement& measurement) {
  return measurement.outcome_class() != v1::SKIPPED && measurement.outcome_class() != v1::INFRASTRUCTURE &&
         measurement.detail() != v1::TIMEOUT && measurement.detail() != v1::OUT_OF_MEMORY &&
         measurement.detail() != v1::QUARANTINED && !measurement.timing().unstable();
}

// Takes samples and artifacts' contents out of `measurement`; empty where there are none.
v1::Measurement Split(v1::Measurement& measurement) {
  v1::Measurement large;
  bool any = false;
  if (measurement.has_timing()) {
    v1::Timing* timing = measurement.mutable_timing();
    any = timing->candidate_samples_ns_size() + timing->baseline_samples_ns_size() > 0;
    large.mutable_timing()->mutable_candidate_samples_ns()->Swap(timing->mutable_candidate_samples_ns());
    large.mutable_timing()->mutable_baseline_samples_ns()->Swap(timing->mutable_baseline_samples_ns());
  }
  for (const bool candidate : {true, false}) {
    if (!(candidate ? measurement.has_candidate() : measurement.has_baseline())) continue;
    v1::Arm* from = candidate ? measurement.mutable_candidate() : measurement.mutable_baseline();
    v1::Arm* to = candidate ? large.mutable_candidate() : large.mutable_baseline();
    for (auto& artifact : *from->mutable_artifacts()) {
      any = any || !artifact.content().empty();
      to->add_artifacts()->mutable_content()->swap(*artifact.mutable_content());
    }
  }
  if (!any) large.Clear();
  return large;
}

// What the accepted measurements need besides themselves.
struct Accepted {
  const v1::Measurement* measurement = nullptr;
  TrialRow trial;
  int64_t candidate_id = 0;
  std::string device_model;
};

std::vector<int64_t> StoreMeasurements(Transaction& transaction, const std::vector<Accepted>& accepted) {
  ArrayParameter trials, fences, evaluations, positions, graphs, candidates, keys, models, environments, machines,
      reusable, classes, walls, bodies, holders, places;
  std::map<std::string, std::string> environment_bodies;
  std::map<int64_t, std::string> large;
  for (const auto& item : accepted) {
    v1::Measurement kept = *item.measurement;
    kept.set_graph_hash(item.trial.graph_hash);
    const v1::Measurement split = Split(kept);
    if (split.ByteSizeLong() > 0) large[item.trial.id] = Compress(split.SerializeAsString());
    if (!kept.environment_hash().empty() && kept.has_environment()) {
      std::string json;
      if (google::protobuf::util::MessageToJsonString(kept.environment(), &json).ok()) {
        environment_bodies.emplace(kept.environment_hash(), json);
        kept.clear_environment();
      }
    }
    trials.Add(item.trial.id);
    fences.Add(item.trial.fence);
    evaluations.Add(item.trial.evaluation_id);
    positions.Add(int64_t{item.trial.position});
    graphs.Add(item.trial.graph_hash);
    candidates.Add(item.candidate_id);
    keys.Add(item.trial.reuse_key);
    models.Add(item.device_model);
    environments.Add(CleanText(kept.environment_hash()));
    machines.Add(CleanText(kept.machine_hash()));
    reusable.AddBool(IsReusable(kept));
    classes.Add(OutcomeClassName(kept.outcome_class()));
    walls.Add(static_cast<double>(kept.wall_ns()) / 1e9);
    bodies.AddBytes(Compress(kept.SerializeAsString()));
    holders.Add(item.trial.worker_id);
    places.Add(item.trial.device);
  }
  ArrayParameter hashes, texts;
  for (const auto& [hash, json] : environment_bodies) {
    hashes.Add(CleanText(hash));
    texts.Add(json);
  }
  if (!environment_bodies.empty()) {
    transaction.exec_params(
        "INSERT INTO environments (hash, body) SELECT u.hash, u.body::jsonb FROM unnest($1::text[], $2::text[]) AS "
        "u(hash, body) "
        "WHERE NOT EXISTS (SELECT 1 FROM environments e WHERE e.hash = u.hash) ON CONFLICT DO NOTHING",
        hashes.str(), texts.str());
  }
  std::map<int64_t, int64_t> by_trial;
  for (const auto& row : transaction.exec_params(
           "INSERT INTO measurements (trial_id, fence, evaluation_id, position, graph_hash, candidate_id, reuse_key, "
           "device_model, "
           "environment_hash, machine_hash, reusable, outcome_class, wall_seconds, body, worker_id, device) "
           "SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::text[], $6::bigint[], "
           "$7::text[], $8::text[], $9::text[], $10::text[], $11::boolean[], $12::text[], $13::float8[], $14::bytea[], "
           "$15::text[], $16::text[]) RETURNING trial_id, id",
           trials.str(), fences.str(), evaluations.str(), positions.str(), graphs.str(), candidates.str(), keys.str(),
           models.str(), environments.str(), machines.str(), reusable.str(), classes.str(), walls.str(), bodies.str(),
           holders.str(), places.str())) {
    by_trial[row[0].as<int64_t>()] = row[1].as<int64_t>();
  }
  if (!large.empty()) {
    ArrayParameter ids, packed;
    for (const auto& [trial, body] : large) {
      ids.Add(by_trial.at(trial));
      packed.AddBytes(body);
    }
    transaction.exec_params(
        "INSERT INTO samples (measurement_id, body) SELECT * FROM unnest($1::bigint[], $2::bytea[])", ids.str(),
        packed.str());
  }
  std::vector<int64_t> out;
  for (const auto& item : accepted) out.push_back(by_trial.at(item.trial.id));
  return out;
}

void StoreOutcomes(Transaction& transaction, const std::vector<Accepted>& accepted,
                   const std::vector<int64_t>& measurements) {
  ArrayParameter trials, fences, evaluations, positions, graphs, ids, classes, details, messages, critical, speedups,
      lows, highs, errors, candidates, baselines, compiles, unstable, self_reported, degenerate, environments, models,
      replays, degeneracies, baseline_references, candidate_references;
  for (size_t i = 0; i < accepted.size(); ++i) {
    const v1::Measurement& measurement = *accepted[i].measurement;
    const TrialRow& trial = accepted[i].trial;
    const v1::Timing& timing = measurement.timing();
    const bool timed = Timed(measurement);
    const bool interval = timed && timing.has_interval() && std::isfinite(timing.low()) && std::isfinite(timing.high());
    trials.Add(trial.id);
    fences.Add(trial.fence);
    evaluations.Add(trial.evaluation_id);
    positions.Add(int64_t{trial.position});
    graphs.Add(trial.graph_hash);
    ids.Add(measurements[i]);
    classes.Add(OutcomeClassName(measurement.outcome_class()));
    details.Add(DetailName(measurement.detail()));
    messages.Add(Message(measurement));
    AddOptional(critical, measurement.comparisons_size() > 0, measurement.critical_t());
    AddOptional(speedups, timed, timing.log_speedup());
    AddOptional(lows, interval, timing.low());
    AddOptional(highs, interval, timing.high());
    AddOptional(errors, interval,
                interval ? measure::StandardErrorFromHalfWidth((timing.high() - timing.low()) / 2,
                                                               std::max(2, timing.batches()))
                         : 0);
    AddOptional(candidates, timing.candidate_quantiles_ns_size() == 5,
                timing.candidate_quantiles_ns_size() == 5 ? timing.candidate_quantiles_ns(2) : 0);
    AddOptional(baselines, timing.baseline_quantiles_ns_size() == 5,
                timing.baseline_quantiles_ns_size() == 5 ? timing.baseline_quantiles_ns(2) : 0);
    compiles.Add(measurement.candidate().compile_ns());
    unstable.AddBool(timing.unstable());
    self_reported.AddBool(measurement.self_reported());
    degenerate.AddBool(measurement.degenerate());
    environments.Add(CleanText(measurement.environment_hash()));
    models.Add(accepted[i].device_model);
    replays.Add(ReplayName(measurement.policy().replay()));
    degeneracies.Add(DegeneracyName(measurement.degeneracy()));
    const v1::Reference& reference = measurement.reference();
    const bool referred = reference.has_baseline() && reference.has_candidate();
    AddOptional(baseline_references, referred, reference.baseline().critical_t());
    AddOptional(candidate_references, referred, reference.candidate().critical_t());
  }
  transaction.exec_params(
      "INSERT INTO outcomes (trial_id, fence, evaluation_id, position, graph_hash, measurement_id, outcome_class, "
      "detail, message, "
      "critical_t, log_speedup, log_low, log_high, log_error, candidate_ns, baseline_ns, compile_ns, unstable, "
      "self_reported, "
      "degenerate, environment_hash, device_model, replay, degeneracy, reference_baseline_t, "
      "reference_candidate_t) SELECT * FROM unnest($1::bigint[], "
      "$2::bigint[], $3::bigint[], "
      "$4::int[], "
      "$5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::float8[], $11::float8[], $12::float8[], "
      "$13::float8[], "
      "$14::float8[], $15::float8[], $16::float8[], $17::bigint[], $18::boolean[], $19::boolean[], $20::boolean[], "
      "$21::text[], "
      "$22::text[], $23::text[], $24::text[], $25::float8[], $26::float8[])",
      trials.str(), fences.str(), evaluations.str(), positions.str(), graphs.str(), ids.str(), classes.str(),
      details.str(), messages.str(), critical.str(), speedups.str(), lows.str(), highs.str(), errors.str(),
      candidates.str(), baselines.str(), compiles.str(), unstable.str(), self_reported.str(), degenerate.str(),
      environments.str(), models.str(), replays.str(), degeneracies.str(), baseline_references.str(),
      candidate_references.str());
  transaction.exec_params("DELETE FROM trials WHERE id = ANY($1::bigint[])", trials.str());
}

// What a report needs to know of its trial's evaluation.
struct Reported {
  int64_t candidate_id = 0;
  bool compiles_only = false;
};

std::map<int64_t, Reported> LoadReported(Transaction& transaction, const std::map<int64_t, TrialRow>& trials) {
  std::map<int64_t, Reported> out;
  for (const auto& [id, trial] : trials) out[trial.evaluation_id];
  ArrayParameter ids;
  for (const auto& [id, unknown] : out) ids.Add(id);
  for (const auto& row : transaction.exec_params(
           "SELECT id, candidate_id, baseline_id IS NULL FROM evaluations WHERE id = ANY($1::bigint[])", ids.str())) {
    out[row[0].as<int64_t>()] = {row[1].as<int64_t>(), row[2].as<bool>()};
  }
  return out;
}

}  // namespace

absl::Status CheckMeasurement(const v1::Measurement& measurement, bool compiles_only) {
  if (OutcomeClassName(measurement.outcome_class()).empty()) {
    return absl::InvalidArgumentError("outcome_class is missing or not known to this server");
  }
  if (!v1::FailureDetail_IsValid(measurement.detail())) {
    return absl::InvalidArgumentError("detail is not known to this server");
  }
  if (measurement.outcome_class() == (compiles_only ? v1::CORRECT : v1::COMPILED)) {
    return absl::InvalidArgumentError(
        Cat("the outcome ", OutcomeClassName(measurement.outcome_class()), " is not one of the trial's policy"));
  }
  if (measurement.outcome_class() == v1::CORRECT) {
    if (measurement.comparisons().empty())
      return absl::InvalidArgumentError("a correct measurement needs its comparisons");
    if (std::isnan(measurement.critical_t()) || measurement.critical_t() > 1) {
      return absl::InvalidArgumentError("a correct measurement's critical_t must be at most 1");
    }
    if (!Timed(measurement))
      return absl::InvalidArgumentError("a correct measurement needs a timing of at least one pair");
  }
  if (Timed(measurement) && !std::isfinite(measurement.timing().log_speedup())) {
    return absl::InvalidArgumentError("timing.log_speedup must be finite");
  }
  return absl::OkStatus();
}

std::vector<v1::ReportResult> TakeReports(Transaction& transaction, const Queue& queue,
                                          const std::vector<const ReportInput*>& inputs,
                                          std::map<int64_t, TrialRow>& trials, std::vector<int64_t>& touched) {
  std::vector<v1::ReportResult> out(inputs.size());
  if (inputs.empty()) return out;
  ArrayParameter ids, worker_ids, device_ids;
  for (const ReportInput* input : inputs) {
    if (const auto id = ParseInt(input->measurement.trial_id())) ids.Add(*id);
  }
  std::set<std::pair<int64_t, int64_t>> known;
  for (const auto& row : transaction.exec_params(
           "SELECT trial_id, fence FROM measurements WHERE trial_id = ANY($1::bigint[])", ids.str())) {
    known.emplace(row[0].as<int64_t>(), row[1].as<int64_t>());
  }
  const auto evaluations = LoadReported(transaction, trials);
  std::vector<Accepted> accepted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const v1::Measurement& measurement = inputs[i]->measurement;
    v1::ReportResult& result = out[i];
    result.set_trial_id(measurement.trial_id());
    result.set_fence(measurement.fence());
    const int64_t id = ParseInt(measurement.trial_id()).value_or(0);
    if (id <= 0) {
      result.set_reason("trial_id is not a trial's number");
      continue;
    }
    if (known.contains({id, measurement.fence()})) {
      result.set_accepted(true);
      continue;
    }
    const auto it = trials.find(id);
    if (it == trials.end()) {
      result.set_reason("the trial was cancelled, or has its outcome already");
      continue;
    }
    if (!it->second.leased || it->second.fence != measurement.fence()) {
      result.set_reason(
          it->second.leased
              ? Cat("the lease was lost: fence ", measurement.fence(), " is older than ", it->second.fence)
              : Cat("the lease was lost: fence ", measurement.fence(), " is void, the trial waits again"));
      continue;
    }
    if (it->second.worker_id != inputs[i]->worker_id) {
      result.set_reason("the trial is leased to another worker");
      continue;
    }
    const Reported& evaluation = evaluations.at(it->second.evaluation_id);
    if (const absl::Status status = CheckMeasurement(measurement, evaluation.compiles_only); !status.ok()) {
      result.set_reason(std::string(status.message()));
      continue;
    }
    result.set_accepted(true);
    known.emplace(id, measurement.fence());
    accepted.push_back({&measurement, it->second, evaluation.candidate_id, ""});
    worker_ids.Add(it->second.worker_id);
    device_ids.Add(it->second.device);
  }
  if (accepted.empty()) return out;
  std::map<std::pair<std::string, std::string>, std::string> models;
  for (const auto& row : transaction.exec_params(
           "SELECT DISTINCT d.worker_id, d.id, d.model FROM unnest($1::text[], $2::text[]) AS u(worker, device) "
           "JOIN devices d ON d.worker_id = u.worker AND d.id = u.device",
           worker_ids.str(), device_ids.str())) {
    models[{row[0].c_str(), row[1].c_str()}] = row[2].c_str();
  }
  for (auto& item : accepted) {
    item.device_model = models[{item.trial.worker_id, item.trial.device}];
  }
  const std::vector<int64_t> measurement_ids = StoreMeasurements(transaction, accepted);
  std::vector<Accepted> final;
  std::vector<int64_t> final_ids;
  std::vector<std::pair<TrialRow, std::string>> failed;
  for (size_t i = 0; i < accepted.size(); ++i) {
    if (accepted[i].measurement->outcome_class() == v1::INFRASTRUCTURE) {
      failed.emplace_back(accepted[i].trial, Message(*accepted[i].measurement));
    } else {
      final.push_back(accepted[i]);
      final_ids.push_back(measurement_ids[i]);
      touched.push_back(accepted[i].trial.evaluation_id);
    }
    trials.erase(accepted[i].trial.id);
  }
  if (!final.empty()) StoreOutcomes(transaction, final, final_ids);
  queue.Fail(transaction, failed, touched);
  return out;
}

}  // namespace assay::server
