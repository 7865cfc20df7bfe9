#include "client/bisection.h"

#include <algorithm>

#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

// Whether the outcome says something about the candidate.
bool IsUsable(const v1::Outcome& outcome) {
  const v1::OutcomeClass it = outcome.outcome_class();
  return it != v1::EAGER_FAIL && it != v1::SKIPPED && it != v1::INFRASTRUCTURE;
}

class Search {
 public:
  Search(const graph::Graph& graph, double tolerance, const RunGraph& run,
         const std::function<void(const BisectionStep&)>& on_step)
      : graph_(graph), cutter_(graph), tolerance_(tolerance), run_(run), on_step_(on_step) {}

  absl::StatusOr<Bisection> Run() {
    const size_t all = graph_.operations.size();
    const absl::StatusOr<Look> whole = LookAt(graph_, all, false);
    if (!whole.ok()) return whole.status();
    if (!whole->step.usable) {
      return absl::FailedPreconditionError(fmt::format("the baseline cannot run the whole graph now: {}, {}",
                                                       ClassWord(whole->step.outcome.outcome_class()),
                                                       whole->step.outcome.message()));
    }
    result_.to = all;
    if (!whole->step.departs) return std::move(result_);
    wants_nan_ = whole->step.outcome.outcome_class() == v1::NAN_MISMATCH;
    departing_ = whole->departing;
    if (absl::Status status = Narrow(); !status.ok()) return status;
    if (absl::Status status = Confirm(); !status.ok()) return status;
    return std::move(result_);
  }

 private:
  struct Look {
    BisectionStep step;
    std::vector<v1::OutputComparison> departing;
  };

  bool IsDeparting(const v1::OutputComparison& comparison) const {
    // NaN on both sides is what a graph may compute on its way: only where it is what the whole graph suffers from does
    // it count.
    if (comparison.output_class() == v1::NAN_MISMATCH && comparison.degenerate() && !wants_nan_) return false;
    return comparison.output_class() != v1::CORRECT || comparison.critical_t() > tolerance_;
  }

  absl::StatusOr<Look> LookAt(const graph::Graph& graph, size_t cut, bool operands) {
    const absl::StatusOr<GraphRun> run = run_(graph, fmt::format("first-{}{}", cut, operands ? "-with-operands" : ""));
    if (!run.ok()) return run.status();
    Look look;
    look.step = {cut, operands, false, IsUsable(run->outcome), run->outcome};
    for (const v1::OutputComparison& comparison : run->comparisons) {
      if (IsDeparting(comparison)) look.departing.push_back(comparison);
    }
    const bool all_compared = run->outcome.outcome_class() == v1::CORRECT ||
                              run->outcome.outcome_class() == v1::ACCURACY ||
                              run->outcome.outcome_class() == v1::NAN_MISMATCH;
    look.step.departs =
        look.step.usable && (all_compared ? !look.departing.empty() : Departs(run->outcome, tolerance_));
    on_step_(look.step);
    result_.steps.push_back(look.step);
    return look;
  }

  // Halves [from, to) until nothing between them can be run.
  absl::Status Narrow() {
    std::vector<size_t> between(cutter_.cuts().begin(), cutter_.cuts().end() - 1);
    while (!between.empty()) {
      const auto middle = between.begin() + static_cast<ptrdiff_t>(between.size() / 2);
      const size_t cut = *middle;
      const absl::StatusOr<Look> look = LookAt(cutter_.At(result_.from, cut, false).graph, cut, false);
      if (!look.ok()) return look.status();
      if (!look->step.usable) {
        between.erase(middle);
      } else if (look->step.departs) {
        result_.to = cut;
        departing_ = look->departing;
        between.erase(middle, between.end());
      } else {
        result_.from = cut;
        between.erase(between.begin(), middle + 1);
      }
    }
    return absl::OkStatus();
  }

  // Whether the last operations are wrong by themselves.
  absl::Status Confirm() {
    const graph::Prefix with_operands = cutter_.At(result_.from, result_.to, true);
    bool departs = true;
    if (with_operands.graph.outputs.size() > cutter_.At(result_.from, result_.to, false).graph.outputs.size()) {
      const absl::StatusOr<Look> look = LookAt(with_operands.graph, result_.to, true);
      if (!look.ok()) return look.status();
      result_.confirmed = look->step.usable;
      if (look->step.usable) departs = look->step.departs;
      if (look->step.departs) departing_ = look->departing;
    }
    bool operands_agree = true;
    result_.worst.set_output(-1);
    for (const v1::OutputComparison& comparison : departing_) {
      const bool is_result = with_operands.is_result[static_cast<size_t>(comparison.output())];
      operands_agree = operands_agree && is_result;
      const bool worse = result_.worst.output() < 0 || comparison.critical_t() > result_.worst.critical_t();
      if (is_result && worse) result_.worst = comparison;
    }
    const bool is_whole = result_.to == graph_.operations.size();
    result_.finding = departs && operands_agree ? Finding::kOperation
                      : is_whole                ? Finding::kWholeGraph
                                                : Finding::kTogether;
    return absl::OkStatus();
  }

  const graph::Graph& graph_;
  const graph::GraphCutter cutter_;
  const double tolerance_;
  const RunGraph& run_;
  const std::function<void(const BisectionStep&)>& on_step_;
  bool wants_nan_ = true;
  std::vector<v1::OutputComparison> departing_;  // of the shortest beginning that departs
  Bisection result_;
};

}  // namespace

std::string_view FindingWord(Finding finding) {
  switch (finding) {
    case Finding::kAgrees:
      break;
    case Finding::kOperation:
      return "operation";
    case Finding::kTogether:
      return "together";
    case Finding::kWholeGraph:
      return "whole_graph";
  }
  return "agrees";
}

bool Departs(const v1::Outcome& outcome, double tolerance) {
  if (!IsUsable(outcome)) return false;
  if (outcome.outcome_class() == v1::COMPILED) return false;  // nothing was asked for but that
  return outcome.outcome_class() != v1::CORRECT || outcome.critical_t() > tolerance;
}

absl::StatusOr<Bisection> Bisect(const graph::Graph& graph, double tolerance, const RunGraph& run,
                                 const std::function<void(const BisectionStep&)>& on_step) {
  return Search(graph, tolerance, run, on_step).Run();
}

}  // namespace assay::client
