#include "server/imported_evaluation.h"

#include <cmath>
#include <map>
#include <pqxx/pqxx>
#include <set>

#include "fmt/format.h"
#include "server/digest.h"
#include "server/graph_store.h"
#include "server/names.h"
#include "server/scoring.h"
#include "server/target_store.h"
#include "server/text.h"

namespace assay::server {

namespace {

constexpr size_t kNameBytes = 500;
constexpr size_t kMessageBytes = 2000;
// Runner and environment of targets that a log tells of: they are never those of a measured one.
constexpr char kOrigin[] = "graphnet-log";

absl::Status CheckName(std::string_view field, const std::string& name) {
  if (!name.empty() && name.size() <= kNameBytes && CleanText(name) == name) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(field, " must be a text of 1 to ", kNameBytes, " bytes"));
}

absl::Status CheckOutcome(const v1::ImportedOutcome& outcome, int index) {
  const std::string at = Cat("outcomes[", index, "]");
  if (absl::Status status = CheckName(Cat(at, ".graph"), outcome.graph()); !status.ok()) return status;
  const auto error_class = ErrorClassOf(outcome.outcome_class());
  if (!error_class || *error_class == measure::ErrorClass::kInfrastructure) {
    return absl::InvalidArgumentError(Cat(at, ".outcome_class is missing, or is not one that a trial ends with"));
  }
  if (!v1::FailureDetail_IsValid(outcome.detail())) {
    return absl::InvalidArgumentError(Cat(at, ".detail is not known to this server"));
  }
  if (*error_class == measure::ErrorClass::kCorrect) {
    if (std::isnan(outcome.critical_t()) || outcome.critical_t() > 1) {
      return absl::InvalidArgumentError(Cat(at, ".critical_t must be at most 1 where the outcome is correct"));
    }
    if (!(outcome.speedup() > 0) || !std::isfinite(outcome.speedup())) {
      return absl::InvalidArgumentError(Cat(at, ".speedup must be above 0 where the outcome is correct"));
    }
  }
  for (const double time : {outcome.candidate_ns(), outcome.baseline_ns()}) {
    if (!(time >= 0) || !std::isfinite(time)) {
      return absl::InvalidArgumentError(Cat(at, " has a time that is not a number of 0 or more"));
    }
  }
  return absl::OkStatus();
}

absl::Status Check(const v1::ImportEvaluationRequest& request, const SubmissionLimits& limits) {
  if (request.reading() != "graphnet-log" && request.reading() != "graphnet-log-as-peer") {
    return absl::InvalidArgumentError(
        Cat("reading is '", CleanText(request.reading()), "'; accepted: graphnet-log, graphnet-log-as-peer"));
  }
  if (request.outcomes().empty()) return absl::InvalidArgumentError("outcomes is empty: the log tells of no graph");
  if (request.outcomes_size() > limits.trials) {
    return absl::InvalidArgumentError(Cat("outcomes has ", request.outcomes_size(), " graphs; at most ", limits.trials,
                                          " are accepted: import fewer logs at once"));
  }
  if (absl::Status status = CheckName("candidate.compiler", request.candidate().compiler()); !status.ok())
    return status;
  std::set<std::string> names;
  for (int i = 0; i < request.outcomes_size(); ++i) {
    if (absl::Status status = CheckOutcome(request.outcomes(i), i); !status.ok()) return status;
    if (!names.insert(request.outcomes(i).graph()).second) {
      return absl::InvalidArgumentError(
          Cat("outcomes[", i, "].graph: '", request.outcomes(i).graph(), "' stands twice"));
    }
  }
  return absl::OkStatus();
}

// A suite of names alone: its next version.
void StoreNames(Transaction& transaction, const v1::ImportEvaluationRequest& request) {
  ArrayParameter names;
  std::string contents;
  for (const auto& outcome : request.outcomes()) {
    names.Add(outcome.graph());
    contents += Cat(outcome.graph().size(), ":", outcome.graph(), "\n");
  }
  transaction.exec_params(
      "WITH s AS (INSERT INTO suites (name, version, contents_hash, graph_count, structure_count) "
      "  SELECT $1::text, coalesce(max(version), 0) + 1, $2, $3::int, 0 FROM suites WHERE name = $1::text RETURNING "
      "id) "
      "INSERT INTO suite_graphs (suite_id, position, name) "
      "SELECT s.id, u.n - 1, u.name FROM s, unnest($4::text[]) WITH ORDINALITY AS u(name, n)",
      request.suite(), Sha256Hex(contents), request.outcomes_size(), names.str());
}

// The suite that has every graph of the request; made where there is none and none with graphs has the name.
absl::StatusOr<v1::Suite> FindSuite(Transaction& transaction, const v1::ImportEvaluationRequest& request, int64_t* id) {
  transaction.exec_params("SELECT pg_advisory_xact_lock(hashtextextended('suite ' || $1, 0))", request.suite());
  const auto load = [&] { return LoadSuite(transaction, request.suite(), request.suite_version(), true, id); };
  auto suite = load();
  if (!suite.ok()) {
    if (!absl::IsNotFound(suite.status()) || request.suite_version() != 0) return suite;
    StoreNames(transaction, request);
    return load();
  }
  std::set<std::string> names;
  bool names_alone = false;
  for (const auto& graph : suite->graphs()) {
    names.insert(graph.name());
    names_alone = names_alone || graph.hash().empty();
  }
  for (const auto& outcome : request.outcomes()) {
    if (names.contains(outcome.graph())) continue;
    if (!names_alone || request.suite_version() != 0) {
      return absl::InvalidArgumentError(Cat("the suite ", suite->name(), " version ", suite->version(),
                                            " has no graph '", outcome.graph(),
                                            "': name a suite that has it, or one that does not exist yet"));
    }
    StoreNames(transaction, request);
    return load();
  }
  return suite;
}

// A target that only a log knows.
int64_t StoreToldTarget(Transaction& transaction, const v1::ImportEvaluationRequest& request,
                        const std::string& compiler) {
  ResolvedTarget target;
  target.offer.compiler = compiler;
  target.offer.version = CleanText(request.candidate().version());
  target.offer.runner = kOrigin;
  target.offer.environment = kOrigin;
  target.offer.environment_hash = kOrigin;
  target.offer.device_kind = CleanText(request.candidate().device_kind());
  return StoreTarget(transaction, target);
}

void StoreOutcomes(Transaction& transaction, int64_t evaluation, const v1::Suite& suite,
                   const v1::ImportEvaluationRequest& request) {
  std::map<std::string, int> positions;
  for (int i = 0; i < suite.graphs_size(); ++i) positions[suite.graphs(i).name()] = i;
  ArrayParameter places, graphs, classes, details, messages, critical, speedups, candidates, baselines;
  const auto add = [](ArrayParameter& array, bool present, double value) {
    if (present) {
      array.Add(value);
    } else {
      array.AddNull();
    }
  };
  for (const auto& outcome : request.outcomes()) {
    const int position = positions.at(outcome.graph());
    const bool correct = outcome.outcome_class() == v1::CORRECT;
    places.Add(int64_t{position});
    if (suite.graphs(position).hash().empty()) {
      graphs.AddNull();
    } else {
      graphs.Add(suite.graphs(position).hash());
    }
    classes.Add(measure::Name(*ErrorClassOf(outcome.outcome_class())));
    details.Add(DetailName(outcome.detail()));
    messages.Add(CleanText(std::string_view(outcome.message()).substr(0, kMessageBytes)));
    add(critical, correct, outcome.critical_t());
    add(speedups, correct, correct ? std::log(outcome.speedup()) : 0);
    add(candidates, outcome.candidate_ns() > 0, outcome.candidate_ns());
    add(baselines, outcome.baseline_ns() > 0, outcome.baseline_ns());
  }
  transaction.exec_params(
      "INSERT INTO outcomes (trial_id, fence, evaluation_id, position, graph_hash, outcome_class, detail, message, "
      "critical_t, log_speedup, candidate_ns, baseline_ns, device_model) "
      "SELECT nextval(pg_get_serial_sequence('trials', 'id')), 0, $1::bigint, u.*, $2::text "
      "FROM unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[], $9::float8[], "
      "$10::float8[], $11::float8[]) AS u",
      evaluation, CleanText(request.hardware()), places.str(), graphs.str(), classes.str(), details.str(),
      messages.str(), critical.str(), speedups.str(), candidates.str(), baselines.str());
}

}  // namespace

absl::StatusOr<int64_t> ImportEvaluation(Transaction& transaction, const Queue& queue, const SubmissionLimits& limits,
                                         int64_t submitter, const v1::ImportEvaluationRequest& request) {
  if (absl::Status status = CheckSuiteName("suite", request.suite()); !status.ok()) return status;
  if (absl::Status status = Check(request, limits); !status.ok()) return status;
  const auto before = FindSubmitted(transaction, submitter, request.client_key(), request);
  if (!before.ok() || before->id != 0) return before.ok() ? absl::StatusOr<int64_t>(before->id) : before.status();
  int64_t suite_id = 0;
  const auto suite = FindSuite(transaction, request, &suite_id);
  if (!suite.ok()) return suite.status();
  const int64_t candidate = StoreToldTarget(transaction, request, request.candidate().compiler());
  const int64_t baseline = StoreToldTarget(transaction, request, "eager");
  const int64_t id =
      transaction
          .exec_params1(
              fmt::format(
                  "INSERT INTO evaluations (client_key, request_hash, submitter, suite_id, candidate_id, baseline_id, "
                  "policy, partial, fresh, trial_count, created, imported) "
                  "VALUES ($1, $2, $3, $4, $5, $6, '{{}}', $7, false, $8, {}, $9) RETURNING id",
                  queue.Now()),
              before->client_key, before->request_hash, submitter, suite_id, candidate, baseline,
              request.outcomes_size() < suite->graphs_size(), request.outcomes_size(), request.reading())[0]
          .as<int64_t>();
  StoreOutcomes(transaction, id, *suite, request);
  if (absl::Status status = FinishEvaluation(transaction, id, queue.Now()); !status.ok()) return status;
  return id;
}

}  // namespace assay::server
