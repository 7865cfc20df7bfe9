#include "server/queue.h"

#include <algorithm>
#include <pqxx/pqxx>
#include <set>
#include <tuple>

#include "fmt/format.h"
#include "google/protobuf/util/json_util.h"
#include "server/fair_queue.h"
#include "server/target_store.h"
#include "server/text.h"

namespace assay::server {

namespace {

constexpr int64_t kSweepLock = 0x73776565;  // "swee"

template <typename Container>
std::string Ids(const Container& ids) {
  ArrayParameter out;
  for (const int64_t id : ids) out.Add(id);
  return out.str();
}

}  // namespace

std::string Queue::Now() const {
  return options_.clock_offset_seconds == 0
             ? "now()"
             : fmt::format("(now() + make_interval(secs => {}))", options_.clock_offset_seconds);
}

std::map<int64_t, TrialRow> Queue::Lock(Transaction& transaction, const std::vector<int64_t>& ids,
                                        const std::vector<std::string>& worker_ids) const {
  ArrayParameter workers;
  for (const auto& id : worker_ids) workers.Add(id);
  std::map<int64_t, TrialRow> out;
  for (const auto& row : transaction.exec_params(
           "SELECT id, evaluation_id, position, graph_hash, state = 'leased', coalesce(fence, 0), coalesce(worker_id, "
           "''), "
           "coalesce(incarnation, ''), coalesce(device, ''), reuse_key, worker_losses, infra_failures FROM trials "
           "WHERE id = ANY($1::bigint[]) OR (state = 'leased' AND worker_id = ANY($2::text[])) ORDER BY id FOR UPDATE",
           Ids(ids), workers.str())) {
    TrialRow trial;
    trial.id = row[0].as<int64_t>();
    trial.evaluation_id = row[1].as<int64_t>();
    trial.position = row[2].as<int>();
    trial.graph_hash = row[3].c_str();
    trial.leased = row[4].as<bool>();
    trial.fence = row[5].as<int64_t>();
    trial.worker_id = row[6].c_str();
    trial.incarnation = row[7].c_str();
    trial.device = row[8].c_str();
    trial.reuse_key = row[9].c_str();
    trial.worker_losses = row[10].as<int>();
    trial.infra_failures = row[11].as<int>();
    out.emplace(trial.id, std::move(trial));
  }
  return out;
}

SyncOutput Queue::Sync(Transaction& transaction, const SyncInput& input, std::map<int64_t, TrialRow>& trials,
                       std::vector<int64_t>& touched) const {
  SyncOutput out;
  const std::set<std::pair<int64_t, int64_t>> held(input.held.begin(), input.held.end());
  std::set<std::string> free(input.free_devices.begin(), input.free_devices.end());
  std::vector<TrialRow> old;
  std::vector<int64_t> stray;
  for (const auto& [id, trial] : trials) {
    if (!trial.leased || trial.worker_id != input.worker_id) continue;
    if (trial.incarnation != input.incarnation) {
      old.push_back(trial);
    } else if (!held.contains({id, trial.fence})) {
      if (free.erase(trial.device) > 0) {
        out.redelivered.push_back(id);
      } else {
        stray.push_back(id);  // not held, and its device is busy with something else: the lease serves nobody
      }
    }
  }
  Lose(transaction, old, "its worker was started anew", true, touched);
  if (!stray.empty()) {
    transaction.exec_params(
        "UPDATE trials SET state = 'queued', fence = NULL, lease_until = NULL, worker_id = NULL, incarnation = NULL, "
        "device = NULL, phase = '' WHERE id = ANY($1::bigint[])",
        Ids(stray));
  }
  for (const auto& trial : old) trials.erase(trial.id);
  for (const int64_t id : stray) trials.erase(id);

  ArrayParameter extend, phases;
  for (size_t i = 0; i < input.held.size(); ++i) {
    const auto [id, fence] = input.held[i];
    const auto it = trials.find(id);
    if (it == trials.end()) {
      out.dropped.push_back({input.held[i], "cancelled"});  // or it has its outcome already
    } else if (!it->second.leased || it->second.fence != fence || it->second.worker_id != input.worker_id) {
      out.dropped.push_back({input.held[i], "lease lost"});
    } else {
      out.extended.push_back(input.held[i]);
      extend.Add(id);
      phases.Add(CleanText(i < input.phases.size() ? std::string_view(input.phases[i]).substr(0, 100) : ""));
    }
  }
  for (const int64_t id : out.redelivered) {
    extend.Add(id);
    phases.Add(std::string_view());
  }
  if (!out.extended.empty() || !out.redelivered.empty()) {
    transaction.exec_params(
        fmt::format("UPDATE trials t SET lease_until = {} + make_interval(secs => $3), phase = u.phase "
                    "FROM unnest($1::bigint[], $2::text[]) AS u(id, phase) WHERE t.id = u.id",
                    Now()),
        extend.str(), phases.str(), options_.lease_seconds);
  }
  out.free_devices.assign(free.begin(), free.end());
  return out;
}

std::vector<std::string> Queue::WaitingRequirements(Transaction& transaction) const {
  // A loose index scan: as many steps as there are requirements, however many trials wait.
  std::vector<std::string> out;
  for (const auto& row : transaction.exec(
           "WITH RECURSIVE r AS ((SELECT requirement FROM trials WHERE state = 'queued' ORDER BY requirement LIMIT 1) "
           "UNION ALL SELECT (SELECT t.requirement FROM trials t WHERE t.state = 'queued' AND t.requirement > "
           "r.requirement "
           "ORDER BY t.requirement LIMIT 1) FROM r WHERE r.requirement IS NOT NULL) "
           "SELECT requirement FROM r WHERE requirement IS NOT NULL")) {
    out.emplace_back(row[0].c_str());
  }
  return out;
}

std::vector<int64_t> Queue::Claim(Transaction& transaction, const std::vector<Slot>& slots,
                                  std::vector<int64_t>& touched) const {
  if (slots.empty()) return {};
  const std::vector<std::string> waiting = WaitingRequirements(transaction);
  if (waiting.empty()) return {};
  // Devices that can run the same things share one statement.
  std::map<std::vector<std::string>, std::vector<const Slot*>> groups;
  for (const Slot& slot : slots) {
    std::vector<std::string> served;
    for (const auto& requirement : waiting) {
      if (slot.calibration_only && !IsCalibration(requirement)) continue;
      if (slot.capabilities->Serves(requirement, slot.kind)) served.push_back(requirement);
    }
    if (!served.empty()) groups[served].push_back(&slot);
  }
  std::vector<int64_t> out;
  for (auto& [requirements, group] : groups) {
    ArrayParameter needed;
    for (const auto& requirement : requirements) needed.Add(requirement);
    while (!group.empty()) {
      ArrayParameter workers, incarnations, devices;
      for (const Slot* slot : group) {
        workers.Add(slot->worker_id);
        incarnations.Add(slot->incarnation);
        devices.Add(slot->device);
      }
      const pqxx::result rows = transaction.exec_params(
          fmt::format(
              "WITH picked AS MATERIALIZED (SELECT ARRAY("
              "  SELECT q.id FROM (SELECT c.*, row_number() OVER ("
              "      PARTITION BY CASE WHEN c.fresh THEN c.id::text ELSE c.reuse_key END ORDER BY c.id) AS copy"
              "    FROM unnest($1::text[]) AS r(requirement) CROSS JOIN LATERAL ("
              "      SELECT id, priority, fair_tag, fresh, reuse_key FROM trials t"
              "      WHERE t.state = 'queued' AND t.requirement = r.requirement AND t.not_before <= {0}"
              "        AND (t.fresh OR NOT EXISTS (SELECT 1 FROM trials l WHERE l.state = 'leased' AND l.reuse_key = "
              "t.reuse_key)"
              "          OR EXISTS (SELECT 1 FROM measurements m WHERE m.reuse_key = t.reuse_key AND m.reusable))"
              "      ORDER BY priority DESC, fair_tag, id LIMIT $2 FOR UPDATE SKIP LOCKED) AS c) AS q"
              "  WHERE q.copy = 1 ORDER BY q.priority DESC, q.fair_tag, q.id LIMIT $2) AS ids) "
              "UPDATE trials t SET state = 'leased', fence = nextval('fences'), attempts = attempts + 1, phase = '',"
              "  lease_until = {0} + make_interval(secs => $3),"
              "  worker_id = ($4::text[])[array_position(p.ids, t.id)],"
              "  incarnation = ($5::text[])[array_position(p.ids, t.id)],"
              "  device = ($6::text[])[array_position(p.ids, t.id)] "
              "FROM picked p WHERE t.id = ANY(p.ids) RETURNING t.id, t.worker_id, t.device",
              Now()),
          needed.str(), static_cast<int>(group.size()), options_.lease_seconds, workers.str(), incarnations.str(),
          devices.str());
      std::vector<int64_t> leased;
      std::map<int64_t, std::pair<std::string, std::string>> places;
      for (const auto& row : rows) {
        leased.push_back(row[0].as<int64_t>());
        places[leased.back()] = {row[1].c_str(), row[2].c_str()};
      }
      if (leased.empty()) break;
      const std::vector<int64_t> reused = Reuse(transaction, leased, touched);
      // The slots of trials that needed no run are free again.
      std::set<std::pair<std::string, std::string>> taken;
      for (const int64_t id : leased) {
        if (std::find(reused.begin(), reused.end(), id) == reused.end()) {
          out.push_back(id);
          taken.insert(places[id]);
        }
      }
      if (reused.empty()) break;
      std::erase_if(group, [&](const Slot* slot) { return taken.contains({slot->worker_id, slot->device}); });
    }
  }
  if (!out.empty()) {
    transaction.exec_params(
        "UPDATE evaluations SET state = 'running' WHERE id = ANY(ARRAY("
        "SELECT e.id FROM evaluations e WHERE e.state = 'queued' AND e.id IN (SELECT evaluation_id FROM trials WHERE "
        "id = ANY($1::bigint[])) "
        "ORDER BY e.id FOR NO KEY UPDATE SKIP LOCKED))",
        Ids(out));
  }
  return out;
}

std::vector<int64_t> Queue::Reuse(Transaction& transaction, const std::vector<int64_t>& leased,
                                  std::vector<int64_t>& touched) const {
  ArrayParameter trials, measurements;
  std::vector<int64_t> out;
  for (const auto& row : transaction.exec_params(
           "SELECT t.id, m.id, t.evaluation_id FROM trials t "
           "JOIN devices d ON d.worker_id = t.worker_id AND d.id = t.device "
           "CROSS JOIN LATERAL (SELECT id FROM measurements m WHERE m.reuse_key = t.reuse_key AND m.reusable "
           "  AND m.device_model = d.model AND m.machine_hash = d.machine_hash ORDER BY id DESC LIMIT 1) m "
           "WHERE t.id = ANY($1::bigint[]) AND NOT t.fresh",
           Ids(leased))) {
    out.push_back(row[0].as<int64_t>());
    trials.Add(row[0].as<int64_t>());
    measurements.Add(row[1].as<int64_t>());
    touched.push_back(row[2].as<int64_t>());
  }
  if (!out.empty()) FinishByReuse(transaction, trials.str(), measurements.str());
  return out;
}

void FinishByReuse(Transaction& transaction, const std::string& trials, const std::string& measurements) {
  transaction.exec_params(
      "INSERT INTO outcomes (trial_id, fence, evaluation_id, position, graph_hash, measurement_id, outcome_class, "
      "detail, message, "
      "critical_t, log_speedup, log_low, log_high, log_error, candidate_ns, baseline_ns, compile_ns, unstable, "
      "self_reported, "
      "degenerate, environment_hash, device_model, replay, degeneracy, "
      "reference_baseline_t, reference_candidate_t) "
      "SELECT t.id, 0, t.evaluation_id, t.position, t.graph_hash, o.measurement_id, o.outcome_class, o.detail, "
      "o.message, "
      "o.critical_t, o.log_speedup, o.log_low, o.log_high, o.log_error, o.candidate_ns, o.baseline_ns, o.compile_ns, "
      "o.unstable, "
      "o.self_reported, o.degenerate, o.environment_hash, o.device_model, o.replay, o.degeneracy, "
      "o.reference_baseline_t, o.reference_candidate_t "
      "FROM unnest($1::bigint[], $2::bigint[]) AS u(trial_id, measurement_id) JOIN trials t ON t.id = u.trial_id "
      "CROSS JOIN LATERAL (SELECT * FROM outcomes o WHERE o.measurement_id = u.measurement_id ORDER BY o.trial_id "
      "LIMIT 1) o",
      trials, measurements);
  transaction.exec_params("DELETE FROM trials WHERE id = ANY($1::bigint[])", trials);
}

std::map<int64_t, v1::Assignment> Queue::Assignments(Transaction& transaction,
                                                     const std::vector<int64_t>& trials) const {
  std::map<int64_t, v1::Assignment> out;
  if (trials.empty()) return out;
  std::map<int64_t, std::pair<int64_t, int64_t>> arms;  // baseline 0: none
  std::set<int64_t> targets;
  for (const auto& row :
       transaction.exec_params("SELECT t.id, t.fence, t.device, t.evaluation_id, s.name, t.graph_hash, e.policy, "
                               "t.attempts, e.candidate_id, "
                               "e.baseline_id FROM trials t JOIN evaluations e ON e.id = t.evaluation_id "
                               "JOIN suite_graphs s ON s.suite_id = e.suite_id AND s.position = t.position "
                               "WHERE t.id = ANY($1::bigint[]) AND t.state = 'leased'",
                               Ids(trials))) {
    v1::Assignment& assignment = out[row[0].as<int64_t>()];
    assignment.set_trial_id(row[0].c_str());
    assignment.set_fence(row[1].as<int64_t>());
    assignment.set_lease_seconds(options_.lease_seconds);
    assignment.set_device(row[2].c_str());
    assignment.set_evaluation_id(row[3].c_str());
    assignment.set_graph(row[4].c_str());
    assignment.set_graph_hash(row[5].c_str());
    if (!google::protobuf::util::JsonStringToMessage(row[6].c_str(), assignment.mutable_policy()).ok()) {
      throw std::runtime_error(Cat("evaluation ", row[3].c_str(), " has a policy that is not readable"));
    }
    assignment.set_attempt(row[7].as<int>());
    arms[row[0].as<int64_t>()] = {row[8].as<int64_t>(), row[9].as<int64_t>(0)};
    targets.insert(row[8].as<int64_t>());
    if (!row[9].is_null()) targets.insert(row[9].as<int64_t>());
  }
  const auto loaded = LoadTargets(transaction, targets);
  for (auto& [id, assignment] : out) {
    *assignment.mutable_candidate() = loaded.at(arms[id].first);
    if (arms[id].second != 0) *assignment.mutable_baseline() = loaded.at(arms[id].second);
  }
  return out;
}

void Queue::Quarantine(Transaction& transaction, const std::vector<int64_t>& ids, std::vector<int64_t>& touched) const {
  if (ids.empty()) return;
  for (const auto& row :
       transaction.exec_params("WITH gone AS (DELETE FROM trials WHERE id = ANY($1::bigint[]) RETURNING *) "
                               "INSERT INTO outcomes (trial_id, fence, evaluation_id, position, graph_hash, "
                               "outcome_class, detail, message) "
                               "SELECT id, coalesce(fence, 0), evaluation_id, position, graph_hash, 'skipped', "
                               "'quarantined', history FROM gone "
                               "RETURNING evaluation_id",
                               Ids(ids))) {
    touched.push_back(row[0].as<int64_t>());
  }
}

void Queue::Lose(Transaction& transaction, const std::vector<TrialRow>& trials, std::string_view why, bool at_once,
                 std::vector<int64_t>& touched) const {
  if (trials.empty()) return;
  std::vector<int64_t> ids, quarantined;
  for (const auto& trial : trials) {
    ids.push_back(trial.id);
    if (trial.worker_losses + 1 >= options_.max_worker_losses) quarantined.push_back(trial.id);
  }
  // The first loss costs no waiting where the worker itself says that it was started anew.
  transaction.exec_params(
      fmt::format("UPDATE trials t SET worker_losses = worker_losses + 1,"
                  "  history = history || to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' worker ' || "
                  "worker_id ||"
                  "    ' was lost in phase ''' || phase || ''', attempt ' || attempts || ': ' || $2 || E'\\n',"
                  "  not_before = {0} + make_interval(secs => CASE WHEN $3 AND worker_losses = 0 THEN 0 "
                  "    ELSE least(300, 2 ^ (worker_losses + 1)) END),"
                  "  state = 'queued', fence = NULL, lease_until = NULL, worker_id = NULL, incarnation = NULL, device "
                  "= NULL, phase = '' "
                  "WHERE id = ANY($1::bigint[])",
                  Now()),
      Ids(ids), std::string(why), at_once);
  Quarantine(transaction, quarantined, touched);
}

void Queue::Fail(Transaction& transaction, const std::vector<std::pair<TrialRow, std::string>>& trials,
                 std::vector<int64_t>& touched) const {
  if (trials.empty()) return;
  ArrayParameter ids, messages;
  std::vector<int64_t> quarantined;
  for (const auto& [trial, message] : trials) {
    ids.Add(trial.id);
    messages.Add(message);
    if (trial.infra_failures + 1 >= options_.max_infrastructure_failures) quarantined.push_back(trial.id);
  }
  transaction.exec_params(
      fmt::format("UPDATE trials t SET infra_failures = infra_failures + 1,"
                  "  history = history || to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' worker ' || "
                  "worker_id ||"
                  "    ' could not measure, attempt ' || attempts || ': ' || u.message || E'\\n',"
                  "  not_before = {0} + make_interval(secs => least(300, 2 ^ (infra_failures + 1))),"
                  "  state = 'queued', fence = NULL, lease_until = NULL, worker_id = NULL, incarnation = NULL, device "
                  "= NULL, phase = '' "
                  "FROM unnest($1::bigint[], $2::text[]) AS u(id, message) WHERE t.id = u.id",
                  Now()),
      ids.str(), messages.str());
  Quarantine(transaction, quarantined, touched);
}

int Queue::Sweep(Transaction& transaction, std::vector<int64_t>& touched) const {
  if (!transaction.exec_params1("SELECT pg_try_advisory_xact_lock($1)", kSweepLock)[0].as<bool>()) return 0;
  std::vector<TrialRow> lost;
  for (const auto& row : transaction.exec(
           fmt::format("SELECT id, worker_losses FROM trials WHERE state = 'leased' AND lease_until < {} ORDER BY id "
                       "FOR UPDATE SKIP LOCKED",
                       Now()))) {
    TrialRow trial;
    trial.id = row[0].as<int64_t>();
    trial.worker_losses = row[1].as<int>();
    lost.push_back(std::move(trial));
  }
  Lose(transaction, lost, "its lease ran out", false, touched);
  return static_cast<int>(lost.size());
}

absl::Status Queue::Cancel(Transaction& transaction, int64_t evaluation_id) const {
  // The lock of the class before those of its rows, as submissions take them.
  std::set<std::tuple<std::string, int, int64_t>> classes;
  for (const auto& row : transaction.exec_params(
           "SELECT DISTINCT requirement, priority, submitter FROM trials WHERE evaluation_id = $1", evaluation_id)) {
    classes.emplace(row[0].c_str(), row[1].as<int>(), row[2].as<int64_t>());
  }
  for (const auto& [requirement, priority, submitter] : classes) LockClass(transaction, requirement, priority);
  transaction.exec_params("SELECT id FROM trials WHERE evaluation_id = $1 ORDER BY id FOR UPDATE", evaluation_id);
  const pqxx::result changed = transaction.exec_params(
      fmt::format(
          "UPDATE evaluations SET state = 'cancelled', completed = {} WHERE id = $1 AND state IN ('queued', 'running') "
          "RETURNING id",
          Now()),
      evaluation_id);
  if (changed.empty()) {
    if (transaction.exec_params("SELECT 1 FROM evaluations WHERE id = $1", evaluation_id).empty()) {
      return absl::NotFoundError(Cat("there is no evaluation ", evaluation_id, ": `assay status` lists them"));
    }
    return absl::OkStatus();
  }
  transaction.exec_params("DELETE FROM trials WHERE evaluation_id = $1", evaluation_id);
  for (const auto& [requirement, priority, submitter] : classes) {
    Retag(transaction, requirement, priority, submitter, Now());
  }
  return absl::OkStatus();
}

}  // namespace assay::server
