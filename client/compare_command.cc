// assay compare.
#include "client/command.h"
#include "client/comparison.h"
#include "client/comparison_text.h"
#include "client/pages.h"
#include "client/rerun.h"
#include "client/text.h"
#include "fmt/format.h"
#include "graph/sha256.h"

namespace assay::client {
namespace {

struct CompareFlags {
  std::string before, after, format = "text";
  std::vector<std::string> fail_on;
  CompareOptions options;
  bool all = false, stored = false;
};

struct Side {
  v1::Evaluation evaluation;
  v1::ListOutcomesResponse outcomes;
};

absl::StatusOr<Side> Load(Api& api, const std::string& id) {
  v1::GetEvaluationRequest request;
  request.set_id(id);
  absl::StatusOr<v1::Evaluation> evaluation = api.Call(request);
  if (!evaluation.ok()) return evaluation.status();
  absl::StatusOr<v1::ListOutcomesResponse> outcomes = AllOutcomes(api, id);
  if (!outcomes.ok()) return outcomes.status();
  return Side{*std::move(evaluation), *std::move(outcomes)};
}

// Measures departures again: one evaluation a side. Asked again, the same two evaluations answer: a comparison that
// does not suit is not tried until it does.
class SecondLook {
 public:
  SecondLook(Api& api, const v1::Evaluation& before, const v1::Evaluation& after, bool across_cohorts)
      : api_(api), before_(before), after_(after), across_cohorts_(across_cohorts) {}

  absl::StatusOr<BothOutcomes> Measure(const std::set<std::string>& graphs) {
    for (const v1::Evaluation* side : {&before_, &after_}) {
      if (absl::Status status = CheckRerunnable(*side); !status.ok()) {
        return absl::FailedPreconditionError(
            fmt::format("{} graphs depart, and departures are measured again; but {}. Give --stored to take the "
                        "outcomes as they are",
                        graphs.size(), MessageOf(status)));
      }
    }
    absl::StatusOr<v1::Evaluation> first = Start(before_, "before", graphs);
    if (!first.ok()) return first.status();
    absl::StatusOr<v1::Evaluation> second = Start(after_, "after", graphs);
    if (!second.ok()) return second.status();
    auto before = Finish(before_, *first, graphs.size());
    if (!before.ok()) return before.status();
    auto after = Finish(after_, *second, graphs.size());
    if (!after.ok()) return after.status();
    return BothOutcomes{*std::move(before), *std::move(after)};
  }

 private:
  absl::StatusOr<v1::Evaluation> Start(const v1::Evaluation& side, std::string_view which,
                                       const std::set<std::string>& graphs) {
    v1::CreateEvaluationRequest request = RerunRequest(side, graphs);
    const std::string names = graph::Sha256Hex(fmt::format("{}", fmt::join(graphs, "\n")));
    // One that somebody cancelled said nothing: the next takes its place.
    for (int attempt = 1;; ++attempt) {
      request.set_client_key(fmt::format("compare-{}-{}-{}-{}-{}", before_.id(), after_.id(), which, attempt, names));
      absl::StatusOr<v1::Evaluation> rerun = StartRerun(api_, side, request);
      if (!rerun.ok() || rerun->state() != v1::CANCELLED) return rerun;
    }
  }

  absl::StatusOr<v1::ListOutcomesResponse> Finish(const v1::Evaluation& side, v1::Evaluation& rerun, size_t count) {
    const std::string what =
        fmt::format("{} departure{} of evaluation {} again: ", count, count == 1 ? "" : "s", side.id());
    auto outcomes = FinishRerun(api_, rerun, what);
    if (outcomes.ok() && !across_cohorts_ && rerun.cohort() != side.cohort()) {
      return absl::FailedPreconditionError(fmt::format(
          "evaluation {} was measured on {}, and evaluation {}, its departures again, on {}: give --across-cohorts, or "
          "--stored to take the outcomes as they are",
          side.id(), side.cohort(), rerun.id(), rerun.cohort()));
    }
    return outcomes;
  }

  Api& api_;
  const v1::Evaluation& before_;
  const v1::Evaluation& after_;
  const bool across_cohorts_;
};

std::string Text(const Command& command, const CompareFlags& flags, const Comparison& comparison,
                 const std::set<Change>& failures) {
  if (command.json || flags.format == "json") return ComparisonJson(comparison, failures);
  if (flags.format == "markdown") return ComparisonMarkdown(comparison, flags.all);
  if (flags.format == "junit") return ComparisonJunit(comparison, failures);
  return ComparisonText(comparison, flags.all);
}

int CompareEvaluations(const Command& command, const CompareFlags& flags) {
  const absl::StatusOr<std::set<Change>> failures = ParseChanges(flags.fail_on);
  if (!failures.ok()) return Fail(failures.status());
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return Fail(api.status());
  const absl::StatusOr<Side> before = Load(**api, flags.before);
  if (!before.ok()) return Fail(before.status());
  const absl::StatusOr<Side> after = Load(**api, flags.after);
  if (!after.ok()) return Fail(after.status());
  const v1::Evaluation &first = before->evaluation, &second = after->evaluation;
  if (absl::Status status = CheckComparable(first, second, flags.options.across_cohorts); !status.ok()) {
    return Fail(status);
  }
  SecondLook look(**api, first, second, flags.options.across_cohorts);
  const absl::StatusOr<Comparison> comparison =
      flags.stored ? Compare(first, before->outcomes, second, after->outcomes, flags.options)
                   : CompareTwice(first, second, {before->outcomes, after->outcomes}, flags.options,
                                  [&](const std::set<std::string>& graphs) { return look.Measure(graphs); });
  if (!comparison.ok()) return Fail(comparison.status());
  if (const int code = Print(Text(command, flags, *comparison, *failures)); code != kOk) return code;
  return IsFailure(*comparison, *failures) ? kNo : kOk;
}

}  // namespace

void AddCompare(CLI::App& app, Command& command) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* sub = AddSubcommand(
      app, "compare", "Compare two evaluations of a suite, graph by graph",
      "  assay compare 7 8\n"
      "  assay compare 7 8 --fail-on slower,new-failure    exit code 1 where a graph is either\n"
      "  assay compare 7 8 --format markdown --stored      departures are not measured again\n\n"
      "Speeds are compared through the common baseline. A graph is faster or slower where its change is surely over\n"
      "1 % (false discovery rate 5 % over all graphs), same where it is surely within 1 %, else unclear.\n"
      "Graphs that depart, for better or worse, are measured again on both sides, and that decides.\n"
      "Changes: new-failure, repair, other-failure, slower, faster, unclear, same, failing, skipped, missing.\n");
  sub->add_option("before", flags->before, "Id of the earlier evaluation")->required();
  sub->add_option("after", flags->after, "Id of the later one")->required();
  sub->add_option("--fail-on", flags->fail_on, "Changes that give exit code 1 (and fail in JUnit)")->delimiter(',');
  sub->add_option("--format", flags->format, "text (the default), markdown, junit or json")
      ->check(CLI::IsMember({"text", "markdown", "junit", "json"}));
  sub->add_option("--t", flags->options.tolerance, "A graph is correct where its t* is at most this (1)")
      ->check(CLI::Range(-20.0, 1.0));
  sub->add_flag("--all", flags->all, "Show the graphs too that are the same, or fail as before");
  sub->add_flag("--stored", flags->stored, "Measure nothing: take the outcomes as they are");
  sub->add_flag("--across-cohorts", flags->options.across_cohorts,
                "Even where devices, software, baselines or numbers of threads differ");
  sub->callback(
      [&command, flags] { command.action = [&command, flags] { return CompareEvaluations(command, *flags); }; });
}

}  // namespace assay::client
