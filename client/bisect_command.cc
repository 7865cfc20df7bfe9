// assay bisect-graph.
#include "client/bisection_text.h"
#include "client/command.h"
#include "client/graph_sample.h"
#include "client/pages.h"
#include "client/progress.h"
#include "client/rerun.h"
#include "client/words.h"
#include "fmt/format.h"
#include "graph/canonical.h"
#include "graph/parse.h"

namespace assay::client {
namespace {

struct BisectFlags {
  std::string id, graph;
  double tolerance = 1;
};

// The outcome of the graph with this name, or whose hash begins so.
absl::StatusOr<v1::Outcome> FindOutcome(Api& api, const BisectFlags& flags) {
  const absl::StatusOr<v1::ListOutcomesResponse> list = AllOutcomes(api, flags.id);
  if (!list.ok()) return list.status();
  for (const v1::Outcome& outcome : list->outcomes()) {
    const bool by_hash = flags.graph.size() >= 8 && outcome.graph_hash().starts_with(flags.graph);
    if (outcome.graph() == flags.graph || by_hash) return outcome;
  }
  return absl::NotFoundError(fmt::format("evaluation {} has no outcome of a graph '{}': 'assay results {}' lists them",
                                         flags.id, flags.graph, flags.id));
}

// Runs beginnings of the graph on the evaluation's targets. They are graphs of a suite of their own, "bisect-ID-HASH".
class Runs {
 public:
  Runs(Api& api, const v1::Evaluation& evaluation, const std::string& hash) : api_(api), evaluation_(evaluation) {
    suite_.set_name(fmt::format("bisect-{}-{}", evaluation.id(), hash.substr(0, 12)));
  }

  absl::StatusOr<GraphRun> Run(const graph::Graph& graph, const std::string& name) {
    const absl::StatusOr<v1::Suite> suite = Store(graph, name);
    if (!suite.ok()) return suite.status();
    v1::CreateEvaluationRequest request = RerunRequest(evaluation_, {name});
    request.set_suite(suite->name());
    request.set_suite_version(suite->version());
    // It is the answer that counts: no more timing than must be, and none where there was none.
    if (evaluation_.has_baseline()) {
      v1::Policy& policy = *request.mutable_policy();
      policy.set_name("sweep");
      policy.clear_budget_seconds();
      policy.clear_half_width();
      policy.clear_processes();
    }
    absl::StatusOr<v1::Evaluation> rerun = StartRerun(api_, evaluation_, request);
    if (!rerun.ok()) return rerun.status();
    const absl::StatusOr<v1::ListOutcomesResponse> outcomes = FinishRerun(api_, *rerun, name + ": ");
    if (!outcomes.ok()) return outcomes.status();
    GraphRun run{outcomes->outcomes(0), {}};
    v1::ListMeasurementsRequest question;
    question.set_id(rerun->id());
    question.set_graph(name);
    const absl::StatusOr<v1::ListMeasurementsResponse> measurements = api_.Call(question);
    if (!measurements.ok()) return measurements.status();
    for (const v1::Measurement& measurement : measurements->measurements()) {
      if (measurement.id() != run.outcome.measurement_id()) continue;
      run.comparisons.assign(measurement.comparisons().begin(), measurement.comparisons().end());
    }
    return run;
  }

 private:
  // The suite's next version, which has this graph too.
  absl::StatusOr<v1::Suite> Store(const graph::Graph& graph, const std::string& name) {
    graph::Sample sample = graph::Canonical(graph);
    v1::SuiteGraph& added = *suite_.add_graphs();
    added.set_name(name);
    added.set_hash(graph::HashOfCanonical(sample));
    v1::FindMissingGraphsRequest question;
    question.add_hashes(added.hash());
    const auto missing = api_.Call(question);
    if (!missing.ok()) return missing.status();
    if (!missing->missing().empty()) {
      v1::UploadGraphsRequest upload;
      *upload.add_graphs() = ToProto(added.hash(), std::move(sample));
      if (const auto stored = api_.Call(upload); !stored.ok()) return stored.status();
    }
    return api_.Call(suite_);
  }

  Api& api_;
  const v1::Evaluation& evaluation_;
  v1::CreateSuiteRequest suite_;
};

int BisectGraph(const Command& command, const BisectFlags& flags) {
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return Fail(api.status());
  v1::GetEvaluationRequest which;
  which.set_id(flags.id);
  const absl::StatusOr<v1::Evaluation> evaluation = (*api)->Call(which);
  if (!evaluation.ok()) return Fail(evaluation.status());
  if (absl::Status status = CheckRerunnable(*evaluation); !status.ok()) return Fail(status);
  const absl::StatusOr<v1::Outcome> outcome = FindOutcome(**api, flags);
  if (!outcome.ok()) return Fail(outcome.status());
  if (!Departs(*outcome, flags.tolerance)) {
    return Fail(absl::FailedPreconditionError(fmt::format(
        "there is nothing to narrow: {} is {} in evaluation {}, with t* {}; --t sets the level from which "
        "on a result counts as wrong",
        outcome->graph(), ClassWord(outcome->outcome_class()), flags.id, CriticalT(outcome->critical_t()))));
  }
  v1::GetGraphRequest request;
  request.set_hash(outcome->graph_hash());
  const absl::StatusOr<v1::GraphSample> sample = (*api)->Call(request);
  if (!sample.ok()) return Fail(sample.status());
  const absl::StatusOr<graph::Graph> graph = graph::Parse(FromProto(*sample));
  if (!graph.ok()) return Fail(graph.status());
  if (graph->stablehlo) {
    return Fail(absl::FailedPreconditionError(
        fmt::format("{} is a StableHLO module: only graphs of GraphNet's form can be cut", outcome->graph())));
  }

  Runs runs(**api, *evaluation, outcome->graph_hash());
  const absl::StatusOr<Bisection> bisection = Bisect(
      *graph, flags.tolerance,
      [&](const graph::Graph& beginning, const std::string& name) { return runs.Run(beginning, name); },
      [&](const BisectionStep& step) { fmt::print(stderr, "{}\n", StepText(step, graph->operations.size())); });
  if (!bisection.ok()) return Fail(bisection.status());
  const BisectedGraph bisected{flags.id, outcome->graph(), outcome->graph_hash(), sample->model(), &*graph};
  const int code = Print(command.json ? BisectionJson(bisected, *bisection) : BisectionText(bisected, *bisection));
  if (code != kOk) return code;
  return bisection->finding == Finding::kAgrees ? kNo : kOk;
}

}  // namespace

void AddBisect(CLI::App& app, Command& command) {
  auto flags = std::make_shared<BisectFlags>();
  CLI::App* sub = AddSubcommand(
      app, "bisect-graph", "Find the first operation of a graph whose result is wrong",
      "  assay bisect-graph 7 mlp\n"
      "  assay bisect-graph 7 mlp --t -4                   what is not close at t = -4 counts as wrong\n\n"
      "Beginnings of the graph are run by the evaluation's candidate and baseline, by binary search, until one agrees\n"
      "and one with one operation more departs; a last run tells whether that operation is wrong by itself or only\n"
      "compiled together with what precedes. A candidate that does not compile or run is narrowed in the same way.\n"
      "Exits with 1 where the whole graph agrees when it is run again.\n");
  sub->add_option("id", flags->id, "Of an evaluation")->required();
  sub->add_option("graph", flags->graph, "Its name in the suite, or its hash or a prefix of it")->required();
  sub->add_option("--t", flags->tolerance, "A result is wrong where its t* is above this (1)")
      ->check(CLI::Range(-20.0, 1.0));
  sub->callback([&command, flags] { command.action = [&command, flags] { return BisectGraph(command, *flags); }; });
}

}  // namespace assay::client
