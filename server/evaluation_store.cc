#include "server/evaluation_store.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <pqxx/pqxx>
#include <set>

#include "fmt/format.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/time_util.h"
#include "measure/paired.h"
#include "server/calibration.h"
#include "server/compression.h"
#include "server/names.h"
#include "server/target_store.h"
#include "server/text.h"
#include "server/worker_store.h"

namespace assay::server {

namespace {

using google::protobuf::util::TimeUtil;

constexpr int kPage = 1000;
constexpr int kLargestPage = 10000;

std::string Ids(const std::vector<int64_t>& ids) {
  ArrayParameter out;
  for (const int64_t id : ids) out.Add(id);
  return out.str();
}

absl::StatusOr<int> PageSize(const v1::Page& page) {
  if (page.size() < 0 || page.size() > kLargestPage) {
    return absl::InvalidArgumentError(
        Cat("page.size is ", page.size(), "; accepted: 1 to ", kLargestPage, ", 0 for ", kPage));
  }
  return page.size() == 0 ? kPage : page.size();
}

absl::StatusOr<int64_t> PageToken(const v1::Page& page, int64_t first) {
  if (page.token().empty()) return first;
  const auto token = ParseInt(page.token());
  if (!token) return absl::InvalidArgumentError("page.token is not one that this list gave");
  return *token;
}

double Number(const pqxx::field& field) {
  const std::string_view text = field.c_str();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  return field.as<double>();
}

// Whether every device of the worker gets calibration trials only.
bool IsTooNoisy(const v1::Worker& worker) {
  if (worker.maximum_calibration_error() <= 0) return false;
  const auto errors = LargestErrors({worker.calibrations().begin(), worker.calibrations().end()});
  return std::all_of(worker.devices().begin(), worker.devices().end(), [&](const v1::Device& device) {
    const auto error = errors.find({worker.worker_id(), device.id()});
    return error != errors.end() && error->second > worker.maximum_calibration_error();
  });
}

// Why nothing of the evaluation runs, given that something of it waits.
std::string WaitingFor(Transaction& transaction, const Queue& queue, int64_t id) {
  const pqxx::result head = transaction.exec_params(
      fmt::format(
          "SELECT requirement, priority, fair_tag, not_before <= {0}, "
          "  extract(epoch FROM greatest(not_before, {0}) - {0})::bigint, history, "
          "  NOT fresh AND EXISTS (SELECT 1 FROM trials l WHERE l.state = 'leased' AND l.reuse_key = t.reuse_key) "
          "FROM trials t WHERE evaluation_id = $1 AND state = 'queued' ORDER BY not_before <= {0} DESC, fair_tag, id "
          "LIMIT 1",
          queue.Now()),
      id);
  if (head.empty()) return "";
  const std::string requirement = head[0][0].c_str();
  const std::vector<v1::Worker> workers = ListWorkers(transaction, queue.options().lease_seconds, queue.Now());
  int live = 0, serving = 0, draining = 0, refusing = 0;
  for (const auto& worker : workers) {
    if (!worker.live()) continue;
    ++live;
    if (!Capabilities(OffersOf(worker.runners(), worker.devices())).Serves(requirement)) continue;
    ++serving;
    if (worker.draining()) ++draining;
    if (!IsCalibration(requirement) && IsTooNoisy(worker)) ++refusing;
  }
  if (live == 0) return "no worker is connected";
  if (serving == 0) return Cat("no connected worker serves ", DescribeRequirement(requirement));
  if (draining == serving) return Cat("every worker that serves ", DescribeRequirement(requirement), " is draining");
  if (refusing == serving) {
    return Cat("every worker that serves ", DescribeRequirement(requirement),
               " has an A/A error above its maximum_calibration_error: `assay workers` shows it, `assay calibrate` "
               "measures it again");
  }
  if (!head[0][3].as<bool>()) {
    std::string history = head[0][5].c_str();
    while (!history.empty() && history.back() == '\n') history.pop_back();
    return Cat("the next try in ", head[0][4].as<int64_t>(), " s: ", history.substr(history.rfind('\n') + 1));
  }
  if (head[0][6].as<bool>()) return "an equal trial of another evaluation is running: its measurement will be used";
  const int64_t ahead = transaction
                            .exec_params1(
                                "SELECT count(*) FROM trials WHERE state = 'queued' AND requirement = $1 AND "
                                "(priority > $2 OR (priority = $2 AND fair_tag < $3))",
                                requirement, head[0][1].as<int>(), head[0][2].c_str())[0]
                            .as<int64_t>();
  return ahead == 0 ? "a free device" : Cat("a free device, behind ", ahead, " other trials");
}

v1::Outcome OutcomeOf(const pqxx::row& row) {
  v1::Outcome out;
  out.set_graph(row[1].c_str());
  out.set_graph_hash(row[2].c_str());
  out.set_outcome_class(OutcomeClassFromName(row[3].c_str()));
  out.set_detail(DetailFromName(row[4].c_str()));
  out.set_message(row[5].c_str());
  if (!row[6].is_null()) out.set_critical_t(Number(row[6]));
  measure::PairedEstimate estimate;
  if (!row[7].is_null()) {
    estimate.log_ratio = row[7].as<double>();
    out.set_speedup(std::exp(estimate.log_ratio));
    if (!row[8].is_null() && !row[9].is_null()) {
      estimate.low = row[8].as<double>();
      estimate.high = row[9].as<double>();
      estimate.half_width = (estimate.high - estimate.low) / 2;
      estimate.pairs = measure::kMinimumPairs;
      estimate.batches = measure::kMinimumPairs;  // an interval was kept only where there were enough
      out.set_speedup_low(std::exp(estimate.low));
      out.set_speedup_high(std::exp(estimate.high));
    }
    switch (measure::Judge(estimate)) {
      case measure::Verdict::kFaster:
        out.set_verdict(v1::FASTER);
        break;
      case measure::Verdict::kSlower:
        out.set_verdict(v1::SLOWER);
        break;
      case measure::Verdict::kSame:
        out.set_verdict(v1::SAME);
        break;
      case measure::Verdict::kUnclear:
        out.set_verdict(v1::UNCLEAR);
        break;
    }
  }
  if (!row[10].is_null()) out.set_candidate_ns(row[10].as<double>());
  if (!row[11].is_null()) out.set_baseline_ns(row[11].as<double>());
  if (!row[12].is_null()) out.set_compile_ns(row[12].as<int64_t>());
  out.set_unstable(row[13].as<bool>());
  out.set_self_reported(row[14].as<bool>());
  out.set_degenerate(row[15].as<bool>());
  if (!row[16].is_null()) out.set_measurement_id(row[16].c_str());
  out.set_structure(row[17].c_str());
  if (!row[18].is_null()) out.set_log_error(row[18].as<double>());
  out.set_degeneracy(DegeneracyFromName(row[19].c_str()));
  out.set_replay(row[20].c_str());
  if (!row[21].is_null()) out.set_reference_baseline_t(Number(row[21]));
  if (!row[22].is_null()) out.set_reference_candidate_t(Number(row[22]));
  return out;
}

absl::Status RequireEvaluation(Transaction& transaction, int64_t id) {
  if (!transaction.exec_params("SELECT 1 FROM evaluations WHERE id = $1", id).empty()) return absl::OkStatus();
  return absl::NotFoundError(Cat("there is no evaluation ", id, ": `assay status` lists them"));
}

// Puts raw samples and artifacts' contents back where they were taken from.
absl::Status Restore(const std::string& packed, v1::Measurement& measurement) {
  const auto text = Decompress(packed);
  if (!text.ok()) return text.status();
  v1::Measurement large;
  if (!large.ParseFromString(*text)) return absl::DataLossError("stored samples are not readable");
  if (measurement.has_timing()) {
    *measurement.mutable_timing()->mutable_candidate_samples_ns() = large.timing().candidate_samples_ns();
    *measurement.mutable_timing()->mutable_baseline_samples_ns() = large.timing().baseline_samples_ns();
  }
  for (int i = 0; i < large.candidate().artifacts_size() && i < measurement.candidate().artifacts_size(); ++i) {
    measurement.mutable_candidate()->mutable_artifacts(i)->set_content(large.candidate().artifacts(i).content());
  }
  for (int i = 0; i < large.baseline().artifacts_size() && i < measurement.baseline().artifacts_size(); ++i) {
    measurement.mutable_baseline()->mutable_artifacts(i)->set_content(large.baseline().artifacts(i).content());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> EvaluationId(const std::string& id) {
  const auto number = ParseInt(id);
  if (number && *number > 0) return *number;
  return absl::NotFoundError(Cat("'", CleanText(id), "' is not an evaluation's number: `assay status` lists them"));
}

std::vector<v1::Evaluation> LoadEvaluations(Transaction& transaction, const std::vector<int64_t>& ids) {
  std::map<int64_t, v1::Evaluation> found;
  std::map<int64_t, std::pair<int64_t, int64_t>> arms;  // baseline 0: none
  std::set<int64_t> targets;
  const std::string wanted = Ids(ids);
  for (const auto& row : transaction.exec_params(
           "SELECT e.id, s.name, s.version, e.candidate_id, e.baseline_id, e.policy, e.state, e.partial, "
           "e.trial_count, k.name, "
           "(extract(epoch FROM e.created) * 1000000)::bigint, (extract(epoch FROM e.completed) * 1000000)::bigint, "
           "e.imported, coalesce(c.cohort, '') "
           "FROM evaluations e JOIN suites s ON s.id = e.suite_id JOIN tokens k ON k.id = e.submitter "
           "LEFT JOIN curves c ON c.evaluation_id = e.id WHERE e.id = "
           "ANY($1::bigint[])",
           wanted)) {
    v1::Evaluation& evaluation = found[row[0].as<int64_t>()];
    evaluation.set_id(row[0].c_str());
    evaluation.set_suite(row[1].c_str());
    evaluation.set_suite_version(row[2].as<int>());
    arms[row[0].as<int64_t>()] = {row[3].as<int64_t>(), row[4].as<int64_t>(0)};
    targets.insert(row[3].as<int64_t>());
    if (!row[4].is_null()) targets.insert(row[4].as<int64_t>());
    if (!google::protobuf::util::JsonStringToMessage(row[5].c_str(), evaluation.mutable_policy()).ok()) {
      throw std::runtime_error(Cat("evaluation ", row[0].c_str(), " has a policy that is not readable"));
    }
    evaluation.set_state(StateFromName(row[6].c_str()));
    evaluation.set_partial(row[7].as<bool>());
    evaluation.set_trials(row[8].as<int>());
    evaluation.set_submitter(row[9].c_str());
    *evaluation.mutable_created() = TimeUtil::MicrosecondsToTimestamp(row[10].as<int64_t>());
    if (!row[11].is_null()) *evaluation.mutable_completed() = TimeUtil::MicrosecondsToTimestamp(row[11].as<int64_t>());
    evaluation.set_imported(row[12].c_str());
    evaluation.set_cohort(row[13].c_str());
  }
  const auto loaded = LoadTargets(transaction, targets);
  for (auto& [id, evaluation] : found) {
    *evaluation.mutable_candidate() = loaded.at(arms[id].first);
    if (arms[id].second != 0) *evaluation.mutable_baseline() = loaded.at(arms[id].second);
  }
  for (const auto& row : transaction.exec_params("SELECT evaluation_id, outcome_class, count(*) FROM outcomes WHERE "
                                                 "evaluation_id = ANY($1::bigint[]) GROUP BY 1, 2",
                                                 wanted)) {
    v1::Evaluation& evaluation = found[row[0].as<int64_t>()];
    (*evaluation.mutable_counts())[row[1].c_str()] = row[2].as<int>();
    evaluation.set_finished(evaluation.finished() + row[2].as<int>());
  }
  for (const auto& row : transaction.exec_params(
           "SELECT evaluation_id, count(*) FILTER (WHERE state = 'leased'), sum(expected_seconds) FROM trials "
           "WHERE evaluation_id = ANY($1::bigint[]) GROUP BY 1",
           wanted)) {
    v1::Evaluation& evaluation = found[row[0].as<int64_t>()];
    evaluation.set_running(row[1].as<int>());
    if (evaluation.running() > 0) evaluation.set_expected_seconds_left(row[2].as<double>() / evaluation.running());
  }
  std::vector<v1::Evaluation> out;
  for (const int64_t id : ids) {
    if (const auto it = found.find(id); it != found.end()) out.push_back(it->second);
  }
  return out;
}

absl::StatusOr<v1::Evaluation> LoadEvaluation(Transaction& transaction, const Queue& queue, int64_t id) {
  std::vector<v1::Evaluation> found = LoadEvaluations(transaction, {id});
  if (found.empty()) return RequireEvaluation(transaction, id);
  v1::Evaluation& evaluation = found.front();
  const bool open = evaluation.state() == v1::QUEUED || evaluation.state() == v1::RUNNING;
  if (open && evaluation.running() == 0) evaluation.set_waiting_for(WaitingFor(transaction, queue, id));
  return evaluation;
}

absl::Status ListEvaluations(Transaction& transaction, const v1::ListEvaluationsRequest& request,
                             v1::ListEvaluationsResponse* response) {
  const auto size = PageSize(request.page());
  if (!size.ok()) return size.status();
  const auto before = PageToken(request.page(), std::numeric_limits<int64_t>::max());
  if (!before.ok()) return before.status();
  std::vector<int64_t> ids;
  for (const auto& row : transaction.exec_params("SELECT e.id FROM evaluations e JOIN suites s ON s.id = e.suite_id "
                                                 "WHERE ($1::text = '' OR s.name = $1::text) AND e.id < $2 "
                                                 "ORDER BY e.id DESC LIMIT $3",
                                                 CleanText(request.suite()), *before, *size + 1)) {
    ids.push_back(row[0].as<int64_t>());
  }
  if (static_cast<int>(ids.size()) > *size) {
    ids.pop_back();
    response->set_next_page_token(std::to_string(ids.back()));
  }
  for (auto& evaluation : LoadEvaluations(transaction, ids)) *response->add_evaluations() = std::move(evaluation);
  return absl::OkStatus();
}

absl::Status ListOutcomes(Transaction& transaction, const v1::ListOutcomesRequest& request,
                          v1::ListOutcomesResponse* response) {
  const auto id = EvaluationId(request.id());
  if (!id.ok()) return id.status();
  if (const absl::Status status = RequireEvaluation(transaction, *id); !status.ok()) return status;
  const auto size = PageSize(request.page());
  if (!size.ok()) return size.status();
  const auto after = PageToken(request.page(), -1);
  if (!after.ok()) return after.status();
  std::string last;
  for (const auto& row : transaction.exec_params(
           Cat("SELECT o.position, s.name, coalesce(o.graph_hash, ''), o.outcome_class, o.detail, o.message, "
               "o.critical_t, o.log_speedup, o.log_low, o.log_high, o.candidate_ns, o.baseline_ns, o.compile_ns, "
               "o.unstable, o.self_reported, o.degenerate, o.measurement_id, coalesce(g.structure, ''), o.log_error, "
               "o.degeneracy, o.replay, o.reference_baseline_t, o.reference_candidate_t "
               "FROM outcomes o JOIN evaluations e ON e.id = o.evaluation_id "
               "JOIN suite_graphs s ON s.suite_id = e.suite_id AND s.position = o.position "
               "LEFT JOIN graphs g ON g.hash = o.graph_hash WHERE o.evaluation_id = $1 AND o.position > $2 ",
               request.without_degenerate() ? Cat("AND NOT ", kIsDegenerate) : "", " ORDER BY o.position LIMIT $3"),
           *id, *after, *size + 1)) {
    if (response->outcomes_size() == *size) {
      response->set_next_page_token(last);
      break;
    }
    *response->add_outcomes() = OutcomeOf(row);
    last = row[0].c_str();
  }
  return absl::OkStatus();
}

absl::Status ListMeasurements(Transaction& transaction, const v1::ListMeasurementsRequest& request,
                              v1::ListMeasurementsResponse* response) {
  const auto id = EvaluationId(request.id());
  if (!id.ok()) return id.status();
  if (const absl::Status status = RequireEvaluation(transaction, *id); !status.ok()) return status;
  if (request.graph().empty())
    return absl::InvalidArgumentError("graph is empty: give a graph's name in the suite, or its hash");
  const pqxx::result places = transaction.exec_params(
      "SELECT s.position, s.name, s.graph_hash FROM suite_graphs s JOIN evaluations e ON e.suite_id = s.suite_id "
      "WHERE e.id = $1 AND (s.name = $2 OR (length($2) >= 4 AND starts_with(s.graph_hash, $2))) ORDER BY s.name <> $2, "
      "s.position",
      *id, CleanText(request.graph()));
  if (places.empty()) {
    return absl::NotFoundError(
        Cat("the suite of evaluation ", *id, " has no graph '", CleanText(request.graph()), "'"));
  }
  if (places[0][1].as<std::string>() != request.graph()) {
    for (const auto& row : places) {
      if (std::string_view(row[2].c_str()) != places[0][2].c_str()) {
        return absl::InvalidArgumentError(
            Cat("several graphs' hashes begin with ", request.graph(), ": give more digits"));
      }
    }
  }
  response->set_graph(places[0][1].c_str());
  response->set_graph_hash(places[0][2].c_str());
  // A reused measurement was taken for another evaluation.
  for (const auto& row : transaction.exec_params(
           Cat("SELECT m.id, m.body, (extract(epoch FROM m.created) * 1000000)::bigint, v.body::text, ",
               request.samples() ? "s.body" : "NULL::bytea",
               " FROM measurements m LEFT JOIN environments v ON v.hash = m.environment_hash LEFT JOIN samples s ON "
               "s.measurement_id = m.id "
               "WHERE (m.evaluation_id = $1 AND m.position = $2) OR m.id IN (SELECT measurement_id FROM outcomes WHERE "
               "evaluation_id = $1 "
               "AND position = $2) ORDER BY m.id"),
           *id, places[0][0].as<int>())) {
    const auto text = Decompress(BytesFromText(row[1].c_str()));
    if (!text.ok()) return text.status();
    v1::Measurement* measurement = response->add_measurements();
    if (!measurement->ParseFromString(*text))
      return absl::DataLossError(Cat("measurement ", row[0].c_str(), " is not readable"));
    measurement->set_id(row[0].c_str());
    *measurement->mutable_created() = TimeUtil::MicrosecondsToTimestamp(row[2].as<int64_t>());
    if (!row[3].is_null() &&
        !google::protobuf::util::JsonStringToMessage(row[3].c_str(), measurement->mutable_environment()).ok()) {
      return absl::DataLossError(Cat("the environment of measurement ", row[0].c_str(), " is not readable"));
    }
    if (!row[4].is_null()) {
      if (const absl::Status status = Restore(BytesFromText(row[4].c_str()), *measurement); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

std::vector<Progress> LoadProgress(Transaction& transaction, const std::vector<int64_t>& ids) {
  std::vector<Progress> out;
  for (const auto& row : transaction.exec_params("SELECT e.id, e.state IN ('completed', 'cancelled'), (SELECT count(*) "
                                                 "FROM outcomes o WHERE o.evaluation_id = e.id) "
                                                 "FROM evaluations e WHERE e.id = ANY($1::bigint[])",
                                                 Ids(ids))) {
    out.push_back({row[0].as<int64_t>(), row[1].as<bool>(), row[2].as<int>()});
  }
  return out;
}

}  // namespace assay::server
