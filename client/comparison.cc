#include "client/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "client/target.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

constexpr std::array<std::string_view, kChangeCount> kWords = {
    "new-failure", "repair", "other-failure", "slower", "faster", "unclear", "same", "failing", "skipped", "missing"};

measure::MeasuredSpeedup SpeedupOf(const v1::Outcome& outcome) {
  measure::MeasuredSpeedup out;
  out.log_speedup = std::log(outcome.speedup());
  if (outcome.speedup_low() > 0 && outcome.speedup_high() > 0) {
    out.half_width = (std::log(outcome.speedup_high()) - std::log(outcome.speedup_low())) / 2;
    out.standard_error = outcome.log_error();
  }
  return out;
}

bool IsCorrect(const v1::Outcome& outcome, double tolerance) {
  return outcome.outcome_class() == v1::CORRECT && outcome.critical_t() <= tolerance && outcome.speedup() > 0;
}

// What an outcome is at the tolerance.
std::string WordOf(const v1::Outcome& outcome, double tolerance) {
  if (outcome.outcome_class() != v1::CORRECT || outcome.critical_t() <= tolerance) {
    return ClassWord(outcome.outcome_class());
  }
  return ClassWord(v1::ACCURACY);
}

GraphChange Missing(const v1::Outcome& outcome, bool before, std::string why) {
  GraphChange out;
  out.graph = outcome.graph();
  out.before = before ? ClassWord(outcome.outcome_class()) : "–";
  out.after = before ? "–" : ClassWord(outcome.outcome_class());
  out.message = std::move(why);
  return out;
}

// All but the verdict on timed graphs, which depends on the other graphs.
GraphChange CompareGraph(const v1::Outcome& before, const v1::Outcome& after, const CompareOptions& options) {
  GraphChange out;
  out.graph = after.graph();
  out.before = WordOf(before, options.tolerance);
  out.after = WordOf(after, options.tolerance);
  out.before_ns = before.candidate_ns();
  out.after_ns = after.candidate_ns();
  out.unstable = before.unstable() || after.unstable();
  if (const auto found = options.remeasured.find(after.graph()); found != options.remeasured.end()) {
    out.at_first = found->second;
  }
  // What is only compiled can do no better than that.
  const bool was = IsCorrect(before, options.tolerance) || before.outcome_class() == v1::COMPILED;
  const bool is = IsCorrect(after, options.tolerance) || after.outcome_class() == v1::COMPILED;
  if (!is) out.message = after.message();
  if (before.outcome_class() == v1::SKIPPED || after.outcome_class() == v1::SKIPPED) {
    out.change = Change::kSkipped;
    if (out.message.empty()) out.message = before.message();
  } else if (was && is && (before.outcome_class() == v1::COMPILED || after.outcome_class() == v1::COMPILED)) {
    out.change = Change::kSame;
  } else if (was && is) {
    out.timed = true;
    out.difference = measure::Subtract(SpeedupOf(after), SpeedupOf(before));
  } else if (was) {
    out.change = Change::kNewFailure;
  } else if (is) {
    out.change = Change::kRepair;
    out.message = before.message();
  } else {
    out.change = out.before == out.after ? Change::kFailing : Change::kOtherFailure;
  }
  return out;
}

Change ChangeOf(measure::Verdict verdict) {
  switch (verdict) {
    case measure::Verdict::kFaster:
      return Change::kFaster;
    case measure::Verdict::kSlower:
      return Change::kSlower;
    case measure::Verdict::kSame:
      return Change::kSame;
    case measure::Verdict::kUnclear:
      break;
  }
  return Change::kUnclear;
}

void JudgeTimed(Comparison& comparison) {
  std::vector<GraphChange*> timed;
  std::vector<measure::SpeedupDifference> differences;
  double sum = 0;
  for (GraphChange& graph : comparison.graphs) {
    if (!graph.timed) continue;
    timed.push_back(&graph);
    differences.push_back(graph.difference);
    sum += graph.difference.log_ratio;
  }
  const std::vector<measure::CorrectedVerdict> verdicts = measure::JudgeAll(differences);
  for (size_t i = 0; i < timed.size(); ++i) {
    timed[i]->change = ChangeOf(verdicts[i].verdict);
    timed[i]->p_value = verdicts[i].p_value;
  }
  comparison.timed = static_cast<int>(timed.size());
  if (!timed.empty()) comparison.mean_ratio = std::exp(sum / static_cast<double>(timed.size()));
}

void Replace(const v1::ListOutcomesResponse& fresh, v1::ListOutcomesResponse& outcomes) {
  std::map<std::string_view, const v1::Outcome*> by_name;
  for (const v1::Outcome& outcome : fresh.outcomes()) by_name[outcome.graph()] = &outcome;
  for (v1::Outcome& outcome : *outcomes.mutable_outcomes()) {
    if (const auto found = by_name.find(outcome.graph()); found != by_name.end()) outcome = *found->second;
  }
}

}  // namespace

std::string_view ChangeWord(Change change) { return kWords[static_cast<size_t>(change)]; }

absl::StatusOr<std::set<Change>> ParseChanges(const std::vector<std::string>& words) {
  std::set<Change> out;
  for (const std::string& word : words) {
    const auto found = std::find(kWords.begin(), kWords.end(), word);
    if (found == kWords.end()) {
      return absl::InvalidArgumentError(
          fmt::format("'{}' is not a change; accepted: {}", word, fmt::join(kWords, ", ")));
    }
    out.insert(static_cast<Change>(found - kWords.begin()));
  }
  return out;
}

bool IsFailure(const Comparison& comparison, const std::set<Change>& failures) {
  return std::any_of(comparison.counts.begin(), comparison.counts.end(),
                     [&](const auto& count) { return failures.contains(count.first); });
}

bool IsDeparture(Change change) {
  return change == Change::kNewFailure || change == Change::kRepair || change == Change::kOtherFailure ||
         change == Change::kSlower || change == Change::kFaster;
}

absl::Status CheckComparable(const v1::Evaluation& before, const v1::Evaluation& after, bool across_cohorts) {
  for (const v1::Evaluation* evaluation : {&before, &after}) {
    if (evaluation->state() != v1::COMPLETED) {
      return absl::FailedPreconditionError(fmt::format(
          "evaluation {} is not completed: follow it with 'assay watch {}'", evaluation->id(), evaluation->id()));
    }
  }
  if (before.suite() != after.suite()) {
    return absl::FailedPreconditionError(
        fmt::format("evaluation {} is of the suite {}, evaluation {} of {}: compare two "
                    "of one suite",
                    before.id(), before.suite(), after.id(), after.suite()));
  }
  if (across_cohorts) return absl::OkStatus();
  std::string differs;
  if (before.imported() != after.imported()) {
    differs = "one was measured here, the other was imported, or read in another way";
  } else if (FullTarget(before.baseline()) != FullTarget(after.baseline())) {
    differs = fmt::format("their baselines are {} and {}", FullTarget(before.baseline()), FullTarget(after.baseline()));
  } else if (before.cohort() != after.cohort()) {
    differs = fmt::format("they were measured on {} and on {}", before.cohort(), after.cohort());
  } else if (before.policy().threads() != after.policy().threads()) {
    differs = fmt::format("they ran with {} and {} threads", before.policy().threads(), after.policy().threads());
  }
  if (differs.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("evaluations {} and {} have no common ground: {}. Measure both against one baseline (assay evaluate "
                  "--baseline) on one kind of device, or give --across-cohorts",
                  before.id(), after.id(), differs));
}

Comparison Compare(const v1::Evaluation& before, const v1::ListOutcomesResponse& before_outcomes,
                   const v1::Evaluation& after, const v1::ListOutcomesResponse& after_outcomes,
                   const CompareOptions& options) {
  Comparison out;
  out.before = before;
  out.after = after;
  std::map<std::string, const v1::Outcome*> earlier;
  for (const v1::Outcome& outcome : before_outcomes.outcomes()) earlier[outcome.graph()] = &outcome;
  for (const v1::Outcome& outcome : after_outcomes.outcomes()) {
    const auto found = earlier.find(outcome.graph());
    if (found == earlier.end()) {
      out.graphs.push_back(Missing(outcome, false, fmt::format("not in evaluation {}", before.id())));
      continue;
    }
    if (found->second->graph_hash() == outcome.graph_hash()) {
      out.graphs.push_back(CompareGraph(*found->second, outcome, options));
    } else {
      out.graphs.push_back(Missing(outcome, false, "another graph has this name in the other version of the suite"));
    }
    earlier.erase(found);
  }
  for (const auto& [name, outcome] : earlier) {
    out.graphs.push_back(Missing(*outcome, true, fmt::format("not in evaluation {}", after.id())));
  }
  JudgeTimed(out);
  for (const GraphChange& graph : out.graphs) ++out.counts[graph.change];
  std::stable_sort(out.graphs.begin(), out.graphs.end(), [](const GraphChange& a, const GraphChange& b) {
    if (a.change != b.change) return a.change < b.change;
    return std::abs(a.difference.log_ratio) > std::abs(b.difference.log_ratio);
  });
  return out;
}

absl::StatusOr<Comparison> CompareTwice(const v1::Evaluation& before, const v1::Evaluation& after,
                                        BothOutcomes outcomes, CompareOptions options, const MeasureAgain& measure) {
  while (true) {
    Comparison comparison = Compare(before, outcomes.before, after, outcomes.after, options);
    // A further round is rare: it takes a graph that failed at first, and is timed now, for another to depart beside
    // it.
    std::set<std::string> departures;
    for (const GraphChange& graph : comparison.graphs) {
      if (IsDeparture(graph.change) && !graph.at_first) {
        departures.insert(graph.graph);
        options.remeasured[graph.graph] = graph.change;
      }
    }
    if (departures.empty()) return comparison;
    const absl::StatusOr<BothOutcomes> fresh = measure(departures);
    if (!fresh.ok()) return fresh.status();
    Replace(fresh->before, outcomes.before);
    Replace(fresh->after, outcomes.after);
  }
}

}  // namespace assay::client
