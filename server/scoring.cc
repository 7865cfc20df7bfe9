#include "server/scoring.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <pqxx/pqxx>
#include <set>
#include <tuple>

#include "fmt/format.h"
#include "measure/scores.h"
#include "server/calibration.h"
#include "server/evaluation_store.h"
#include "server/graph_store.h"
#include "server/names.h"
#include "server/text.h"

namespace assay::server {

namespace {

using measure::GraphOutcome;
using measure::ScoreOptions;

constexpr double kPenalty = 0.1;
constexpr size_t kLevels = 10000;  // of one curve

double Number(const pqxx::field& field) {
  const std::string_view text = field.c_str();
  return text == "-Infinity" ? -std::numeric_limits<double>::infinity() : field.as<double>();
}

struct Outcomes {
  std::vector<GraphOutcome> graphs;
  int structures = 0;  // distinct ones among those that count
  int degenerate = 0;  // in `graphs` or left out
};

// From the covering index; only the structures come from elsewhere.
absl::StatusOr<Outcomes> LoadOutcomes(Transaction& transaction, int64_t id, bool without_degenerate) {
  Outcomes out;
  std::set<std::string> structures;
  for (const auto& row : transaction.exec_params(
           Cat("SELECT o.outcome_class, o.critical_t, o.log_speedup, o.log_error, coalesce(g.structure, ''), ",
               kIsDegenerate,
               " FROM outcomes o LEFT JOIN graphs g ON g.hash = o.graph_hash "
               "WHERE o.evaluation_id = $1 ORDER BY o.position"),
           id)) {
    const bool degenerate = row[5].as<bool>();
    out.degenerate += degenerate;
    if (degenerate && without_degenerate) continue;
    GraphOutcome outcome;
    const auto error_class = measure::ErrorClassFromName(row[0].c_str());
    if (!error_class) return absl::DataLossError(Cat("unknown outcome class '", row[0].c_str(), "'"));
    outcome.error_class = *error_class;
    if (*error_class == measure::ErrorClass::kCorrect) {
      outcome.critical_t = Number(row[1]);
      outcome.log_speedup = row[2].as<double>();
      outcome.standard_error = row[3].is_null() ? 0 : row[3].as<double>();
    }
    outcome.structure = row[4].c_str();
    // What is known by its name alone is a structure of its own.
    if (measure::IsScored(*error_class) && outcome.structure.empty()) ++out.structures;
    if (measure::IsScored(*error_class) && !outcome.structure.empty()) structures.insert(outcome.structure);
    out.graphs.push_back(std::move(outcome));
  }
  out.structures += static_cast<int>(structures.size());
  return out;
}

measure::Interpretation InterpretationOf(v1::Interpretation interpretation) {
  switch (interpretation) {
    case v1::DEFAULT:
      return measure::Interpretation::kDefault;
    case v1::MISMATCH_EXTENDED:
      return measure::Interpretation::kMismatchExtended;
    default:
      return measure::Interpretation::kReport;
  }
}

absl::StatusOr<v1::Curve> MakeCurve(int64_t id, const Outcomes& outcomes, v1::Interpretation interpretation,
                                    const ScoreOptions& options, const std::vector<double>& ts, bool intervals) {
  const auto scores = measure::ComputeCurve(outcomes.graphs, ts, options);
  if (!scores.ok()) return scores.status();
  v1::Curve curve;
  curve.set_id(std::to_string(id));
  curve.set_interpretation(interpretation);
  curve.set_p(options.slowdown_penalty);
  curve.set_b(options.failure_penalty);
  curve.set_by_structure(options.by_structure);
  curve.set_structures(outcomes.structures);
  curve.set_degenerate(outcomes.degenerate);
  std::vector<measure::ScoreIntervals> bounds;
  if (intervals) {
    auto computed = measure::BootstrapScores(outcomes.graphs, ts, options, {});
    if (!computed.ok()) return computed.status();
    bounds = *std::move(computed);
  }
  for (size_t i = 0; i < scores->size(); ++i) {
    const measure::Scores& at = (*scores)[i];
    v1::CurvePoint* point = curve.add_points();
    point->set_t(at.t);
    point->set_s(at.s);
    point->set_es(at.es);
    point->set_alpha(at.alpha);
    point->set_beta(at.beta);
    point->set_lambda(at.lambda);
    point->set_eta(at.eta);
    point->set_gamma(at.gamma);
    point->set_correct(at.correct);
    if (i < bounds.size()) {
      point->set_s_low(bounds[i].s.low);
      point->set_s_high(bounds[i].s.high);
      point->set_es_low(bounds[i].es.low);
      point->set_es_high(bounds[i].es.high);
    }
  }
  // The shares of the errors are those at the last level: there no correct graph counts as an accuracy failure.
  const auto last = measure::ComputeScores(outcomes.graphs, 1, options);
  if (!last.ok()) return last.status();
  curve.set_graphs(last->graphs);
  for (const auto error_class : measure::kErrorClasses) {
    const double share = last->pi[static_cast<size_t>(error_class)];
    if (share > 0) (*curve.mutable_pi())[std::string(measure::Name(error_class))] = share;
  }
  return curve;
}

// All that the leaderboard shows of an evaluation but its rank and the evaluation itself.
absl::StatusOr<v1::LeaderboardEntry> MakeEntry(Transaction& transaction, int64_t id, bool by_structure,
                                               bool without_degenerate) {
  const auto outcomes = LoadOutcomes(transaction, id, without_degenerate);
  if (!outcomes.ok()) return outcomes.status();
  v1::LeaderboardEntry entry;
  const std::vector<double> ts = {0, 1, 2, 3};
  ScoreOptions options;
  options.by_structure = by_structure;
  const auto curve = MakeCurve(id, *outcomes, v1::REPORT, options, ts, true);
  if (!curve.ok()) return curve.status();
  const auto& points = curve->points();
  entry.set_s0(points[0].s());
  entry.set_s0_low(points[0].s_low());
  entry.set_s0_high(points[0].s_high());
  entry.set_es1(points[1].es());
  entry.set_es1_low(points[1].es_low());
  entry.set_es1_high(points[1].es_high());
  entry.set_es2(points[2].es());
  entry.set_es3(points[3].es());
  entry.set_lambda0(points[0].lambda());
  entry.set_alpha0(points[0].alpha());
  entry.set_graphs(curve->graphs());
  entry.set_correct(points[1].correct());
  entry.set_failed(curve->graphs() - points[1].correct());
  entry.set_structures(outcomes->structures);
  entry.set_degenerate(outcomes->degenerate);
  const pqxx::row row = transaction.exec_params1(
      Cat("SELECT count(*) FILTER (WHERE unstable), count(*) FILTER (WHERE outcome_class = 'skipped'), "
          "coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY compile_ns) "
          "  FILTER (WHERE outcome_class = 'correct'), 0), "
          "coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY candidate_ns), 0), "
          "coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY baseline_ns), 0), "
          "coalesce(string_agg(DISTINCT device_model, ' + ') FILTER (WHERE device_model <> ''), ''), "
          "coalesce(bool_or(self_reported), false) FROM outcomes o WHERE evaluation_id = $1",
          without_degenerate ? Cat(" AND NOT ", kIsDegenerate) : ""),
      id);
  entry.set_unstable(row[0].as<int>());
  entry.set_skipped(row[1].as<int>());
  entry.set_median_compile_ns(row[2].as<double>());
  entry.set_median_candidate_ns(row[3].as<double>());
  entry.set_median_baseline_ns(row[4].as<double>());
  entry.set_device_model(row[5].c_str());
  entry.set_self_reported(row[6].as<bool>());
  return entry;
}

// What a cohort's name begins with: nobody takes a log's numbers for ones that were measured here.
std::string_view ImportedText(std::string_view imported) {
  if (imported.empty()) return "";
  return imported == "graphnet-log-as-peer" ? "imported from a log as GraphNet reads it: " : "imported from a log: ";
}

std::vector<double> StandardLevels(measure::Interpretation interpretation) {
  return *measure::LevelRange(measure::kFirstLevel, measure::LastLevel(interpretation), 1);
}

bool IsStandard(const v1::GetCurveRequest& request) {
  return (!request.has_p() || request.p() == kPenalty) && (!request.has_b() || request.b() == kPenalty) &&
         request.t_from() == 0 && request.t_to() == 0 && request.t_step() == 0 && !request.structures() &&
         !request.without_degenerate();
}

// Scores of all outcomes, packed. `of`: the baseline's runner and version, whether the evaluation was imported, and
// whether its caches were cold.
absl::Status StoreCurves(Transaction& transaction, int64_t id, const pqxx::row& of) {
  const auto entry = MakeEntry(transaction, id, /*by_structure=*/false, /*without_degenerate=*/false);
  if (!entry.ok()) return entry.status();
  const auto outcomes = LoadOutcomes(transaction, id, /*without_degenerate=*/false);
  if (!outcomes.ok()) return outcomes.status();
  std::vector<std::string> packed;
  for (const auto interpretation : {v1::REPORT, v1::DEFAULT, v1::MISMATCH_EXTENDED}) {
    ScoreOptions options;
    options.interpretation = InterpretationOf(interpretation);
    const auto curve = MakeCurve(id, *outcomes, interpretation, options, StandardLevels(options.interpretation), true);
    if (!curve.ok()) return curve.status();
    packed.push_back(BytesParameter(curve->SerializeAsString()));
  }
  transaction.exec_params(
      "INSERT INTO curves (evaluation_id, cohort, entry, report, peer_default, peer_extended) VALUES ($1, $2, $3, $4, "
      "$5, $6)",
      id,
      Cat(ImportedText(of[2].c_str()), entry->device_model(), ", ", of[0].c_str(), " ", of[1].c_str(),
          of[3].as<bool>() ? ", cold caches" : ""),
      BytesParameter(entry->SerializeAsString()), packed[0], packed[1], packed[2]);
  return absl::OkStatus();
}

}  // namespace

absl::Status FinishEvaluation(Transaction& transaction, int64_t id, const std::string& now) {
  const pqxx::result rows = transaction.exec_params(
      "SELECT b.runner, b.version, e.imported, coalesce(e.policy->>'cache', '') = 'cold' FROM evaluations e LEFT JOIN "
      "targets b ON b.id = e.baseline_id WHERE e.id = $1 "
      "AND e.state IN ('queued', 'running') AND NOT EXISTS (SELECT 1 FROM trials t WHERE t.evaluation_id = e.id) FOR "
      "NO KEY UPDATE OF e",
      id);
  if (rows.empty()) return absl::OkStatus();
  const bool scored = !rows[0][0].is_null();  // against a baseline
  if (scored) {
    if (const absl::Status status = StoreCurves(transaction, id, rows[0]); !status.ok()) return status;
  }
  StoreEvaluationDevices(transaction, id);
  transaction.exec_params(fmt::format("UPDATE evaluations SET state = 'completed', completed = {} WHERE id = $1", now),
                          id);
  return absl::OkStatus();
}

std::vector<int64_t> FinishableEvaluations(Transaction& transaction) {
  std::vector<int64_t> out;
  for (const auto& row :
       transaction.exec("SELECT id FROM evaluations e WHERE state IN ('queued', 'running') "
                        "AND NOT EXISTS (SELECT 1 FROM trials t WHERE t.evaluation_id = e.id) ORDER BY id")) {
    out.push_back(row[0].as<int64_t>());
  }
  return out;
}

absl::Status GetCurve(Transaction& transaction, const v1::GetCurveRequest& request, v1::Curve* response) {
  const auto id = EvaluationId(request.id());
  if (!id.ok()) return id.status();
  const pqxx::result rows = transaction.exec_params(
      "SELECT e.state, c.report, c.peer_default, c.peer_extended, e.baseline_id FROM evaluations e LEFT JOIN curves c "
      "ON c.evaluation_id = e.id "
      "WHERE e.id = $1",
      *id);
  if (rows.empty()) return absl::NotFoundError(Cat("there is no evaluation ", *id, ": `assay status` lists them"));
  if (rows[0][4].is_null()) {
    return absl::FailedPreconditionError(Cat("evaluation ", *id, " only compiled (policy aot): it has no scores"));
  }
  const v1::Interpretation interpretation =
      request.interpretation() == v1::INTERPRETATION_UNSPECIFIED ? v1::REPORT : request.interpretation();
  if (!v1::Interpretation_IsValid(interpretation))
    return absl::InvalidArgumentError("interpretation is not known to this server");
  if (IsStandard(request) && !rows[0][1].is_null()) {
    const int column = interpretation == v1::REPORT ? 1 : interpretation == v1::DEFAULT ? 2 : 3;
    if (!response->ParseFromString(BytesFromText(rows[0][column].c_str()))) {
      return absl::DataLossError(Cat("the packed curve of evaluation ", *id, " is not readable"));
    }
    if (!request.intervals()) {
      for (auto& point : *response->mutable_points()) {
        point.clear_s_low();
        point.clear_s_high();
        point.clear_es_low();
        point.clear_es_high();
      }
    }
    return absl::OkStatus();
  }
  ScoreOptions options;
  options.interpretation = InterpretationOf(interpretation);
  if (request.has_p()) options.slowdown_penalty = request.p();
  if (request.has_b()) options.failure_penalty = request.b();
  options.by_structure = request.structures();
  std::vector<double> ts;
  if (request.t_from() == 0 && request.t_to() == 0 && request.t_step() == 0) {
    ts = StandardLevels(options.interpretation);
  } else {
    if (request.t_step() > 0 &&
        (request.t_to() - request.t_from()) / request.t_step() >= static_cast<double>(kLevels)) {
      return absl::InvalidArgumentError(
          Cat("t_from, t_to and t_step give more than ", kLevels, " levels: take a larger t_step"));
    }
    const auto range =
        measure::LevelRange(request.t_from(), request.t_to(), request.t_step() == 0 ? 1 : request.t_step());
    if (!range.ok()) return range.status();
    ts = *range;
  }
  const auto outcomes = LoadOutcomes(transaction, *id, request.without_degenerate());
  if (!outcomes.ok()) return outcomes.status();
  auto curve = MakeCurve(*id, *outcomes, interpretation, options, ts, request.intervals());
  if (!curve.ok()) return curve.status();
  *response = *std::move(curve);
  response->set_without_degenerate(request.without_degenerate());
  response->set_provisional(std::string_view(rows[0][0].c_str()) != "completed");
  return absl::OkStatus();
}

absl::Status GetLeaderboard(Transaction& transaction, const v1::GetLeaderboardRequest& request,
                            v1::GetLeaderboardResponse* response) {
  std::string name = CleanText(request.suite());
  int version = request.version();
  if (name.empty()) {
    const pqxx::result last = transaction.exec(
        "SELECT s.name, s.version FROM evaluations e JOIN suites s ON s.id = e.suite_id ORDER BY e.id DESC LIMIT 1");
    if (last.empty()) return absl::OkStatus();
    name = last[0][0].c_str();
    if (version == 0) version = last[0][1].as<int>();
  }
  int64_t suite_id = 0;
  const auto suite = LoadSuite(transaction, name, version, false, &suite_id);
  if (!suite.ok()) return suite.status();
  response->set_suite(suite->name());
  response->set_version(suite->version());
  response->set_structures(request.structures());
  response->set_without_degenerate(request.without_degenerate());

  std::vector<int64_t> ids;
  std::map<int64_t, v1::LeaderboardEntry> entries;
  using Place = std::tuple<std::string, int64_t, std::string, std::string>;  // imported, baseline, cohort, replay mode
  std::map<int64_t, Place> places;
  std::set<std::pair<Place, int64_t>> seen;
  const bool plain = !request.structures() && !request.without_degenerate();
  for (const auto& row : transaction.exec_params(
           "SELECT e.id, e.baseline_id, c.cohort, e.candidate_id, c.entry, e.imported, e.policy->>'replay' "
           "FROM evaluations e JOIN curves c ON c.evaluation_id = e.id "
           "WHERE e.suite_id = $1 AND e.state = 'completed' AND NOT e.partial ORDER BY e.id DESC",
           suite_id)) {
    const Place place(row[5].c_str(), row[1].as<int64_t>(), row[2].c_str(), ReplayName(row[6].c_str()));
    if (!seen.emplace(place, row[3].as<int64_t>()).second && !request.all()) continue;
    const int64_t id = row[0].as<int64_t>();
    if (!plain) {
      auto entry = MakeEntry(transaction, id, request.structures(), request.without_degenerate());
      if (!entry.ok()) return entry.status();
      entries[id] = *std::move(entry);
    } else if (!entries[id].ParseFromString(BytesFromText(row[4].c_str()))) {
      return absl::DataLossError(Cat("the packed scores of evaluation ", id, " are not readable"));
    }
    ids.push_back(id);
    places[id] = place;
  }
  std::map<Place, v1::LeaderboardSection> sections;
  for (auto& evaluation : LoadEvaluations(transaction, ids)) {
    const int64_t id = *ParseInt(evaluation.id());
    v1::LeaderboardSection& section = sections[places[id]];
    *section.mutable_baseline() = evaluation.baseline();
    section.set_cohort(std::get<2>(places[id]));
    section.set_replay(std::get<3>(places[id]));
    *entries[id].mutable_evaluation() = std::move(evaluation);
    *section.add_entries() = std::move(entries[id]);
  }
  for (auto& [place, section] : sections) {
    std::stable_sort(section.mutable_entries()->begin(), section.mutable_entries()->end(),
                     [](const auto& a, const auto& b) { return a.s0() > b.s0(); });
    for (int i = 0; i < section.entries_size(); ++i) section.mutable_entries(i)->set_rank(i + 1);
    *response->add_sections() = std::move(section);
  }
  return absl::OkStatus();
}

}  // namespace assay::server
