#include "measure/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "fmt/format.h"
#include "measure/quantiles.h"
#include "measure/random.h"

namespace assay::measure {
namespace {

using ClassWeights = std::array<double, kErrorClassCount>;

constexpr size_t Index(ErrorClass error_class) { return static_cast<size_t>(error_class); }

// Weighted sums over correct graphs: all that S(t) needs of them.
struct CorrectSums {
  double weight = 0;
  double log_speedup = 0;
  double slower_weight = 0;
  double slower_log_speedup = 0;
  int count = 0;
  int slower = 0;

  void Add(double w, double x) {
    weight += w;
    log_speedup += w * x;
    ++count;
    if (x < 0) {
      slower_weight += w;
      slower_log_speedup += w * x;
      ++slower;
    }
  }
  void Add(const CorrectSums& other) {
    weight += other.weight;
    log_speedup += other.log_speedup;
    slower_weight += other.slower_weight;
    slower_log_speedup += other.slower_log_speedup;
    count += other.count;
    slower += other.slower;
  }
};

// A scored graph with its structure's share applied.
struct Graph {
  ErrorClass error_class;
  double critical_t;
  double log_speedup;
  double standard_error;
  double weight;
  size_t structure;
};

struct ScoredGraphs {
  std::vector<Graph> graphs;
  size_t structures = 0;
  double weight = 0;
  ClassWeights failed = {};  // by class; graphs of class `correct` are not in it
};

// Correct at t: the set is frozen from t = 1 on.
double Frozen(double t) { return std::min(t, 1.0); }

ScoredGraphs Select(std::span<const GraphOutcome> outcomes, const ScoreOptions& options) {
  ScoredGraphs selected;
  std::unordered_map<std::string_view, size_t> structures;
  std::vector<double> structure_weights;
  for (const GraphOutcome& outcome : outcomes) {
    if (!IsScored(outcome.error_class)) continue;
    size_t structure = structure_weights.size();
    if (!outcome.structure.empty()) structure = structures.try_emplace(outcome.structure, structure).first->second;
    if (structure == structure_weights.size()) structure_weights.push_back(0);
    structure_weights[structure] += outcome.weight;
    selected.graphs.push_back({outcome.error_class, outcome.critical_t, outcome.log_speedup, outcome.standard_error,
                               outcome.weight, structure});
  }
  selected.structures = structure_weights.size();
  for (Graph& graph : selected.graphs) {
    if (options.by_structure) graph.weight /= structure_weights[graph.structure];
    selected.weight += graph.weight;
    if (graph.error_class != ErrorClass::kCorrect) selected.failed[Index(graph.error_class)] += graph.weight;
  }
  return selected;
}

// From sums to scores. `failed` holds every failed weight, graphs that are not close at t among the accuracy failures.
Scores Combine(double t, const CorrectSums& correct, const ClassWeights& failed, double total_weight, int graphs,
               const ScoreOptions& options) {
  Scores scores;
  scores.t = t;
  scores.graphs = graphs;
  scores.correct = correct.count;
  scores.slower = correct.slower;
  double failed_weight = 0;
  for (double weight : failed) failed_weight += weight;
  if (total_weight <= 0) return scores;
  const double log_b = std::log(options.failure_penalty);
  scores.lambda = correct.weight / total_weight;
  double log_correct = 0;  // log of alpha^lambda * beta^(lambda * eta * p)
  if (correct.count > 0) {
    const double log_alpha = correct.log_speedup / correct.weight;
    scores.alpha = std::exp(log_alpha);
    log_correct = scores.lambda * log_alpha;
    if (correct.slower > 0) {
      const double log_beta = correct.slower_log_speedup / correct.slower_weight;
      scores.eta = correct.slower_weight / correct.weight;
      scores.beta = std::exp(log_beta);
      log_correct += scores.lambda * scores.eta * options.slowdown_penalty * log_beta;
    }
  }
  double penalised = 0;  // share of the failed that counts as b
  if (failed_weight > 0) {
    for (ErrorClass error_class : kErrorClasses) {
      const double share = failed[Index(error_class)] / failed_weight;
      scores.pi[Index(error_class)] = share;
      if (t < ToleratedFrom(error_class, options.interpretation)) penalised += share;
    }
  }
  const double failed_share = failed_weight / total_weight;
  const double log_gamma = penalised * log_b;
  scores.gamma = std::exp(log_gamma);
  scores.s = std::exp(log_correct + failed_share * log_b);
  scores.es = t < 1 ? scores.s : std::exp(log_correct + failed_share * log_gamma);
  return scores;
}

absl::Status OutcomeError(size_t position, const GraphOutcome& outcome, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("outcome {} ({}): {}", position, Name(outcome.error_class), what));
}

absl::Status CheckLevels(std::span<const double> ts) {
  for (double t : ts) {
    if (std::isnan(t)) return absl::InvalidArgumentError("a tolerance level is NaN: it must be a real number");
  }
  return absl::OkStatus();
}

// The interval between the quantiles that leave (1 - confidence) / 2 on either side.
Interval Percentiles(std::vector<double>& values, double confidence) {
  std::sort(values.begin(), values.end());
  return {Quantile(values, (1 - confidence) / 2), Quantile(values, (1 + confidence) / 2)};
}

}  // namespace

absl::Status Validate(std::span<const GraphOutcome> outcomes, const ScoreOptions& options) {
  if (!(options.slowdown_penalty >= 0 && options.slowdown_penalty <= 100)) {
    return absl::InvalidArgumentError(
        fmt::format("the slow-down penalty p is {}, must be from 0 to 100", options.slowdown_penalty));
  }
  if (!(options.failure_penalty > 0 && options.failure_penalty <= 1)) {
    return absl::InvalidArgumentError(
        fmt::format("the failure penalty b is {}, must be above 0 and at most 1", options.failure_penalty));
  }
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const GraphOutcome& outcome = outcomes[i];
    if (!(outcome.weight > 0) || !std::isfinite(outcome.weight)) {
      return OutcomeError(i, outcome, fmt::format("the weight is {}, must be above 0 and finite", outcome.weight));
    }
    if (outcome.error_class != ErrorClass::kCorrect) continue;
    if (!(outcome.critical_t <= 1)) {
      return OutcomeError(i, outcome,
                          fmt::format("the critical tolerance is {}, must be at most 1: above it the class is accuracy",
                                      outcome.critical_t));
    }
    if (!std::isfinite(outcome.log_speedup)) {
      return OutcomeError(i, outcome, "the log speed-up is not a finite number: a correct graph must have been timed");
    }
    if (!(outcome.standard_error >= 0) || !std::isfinite(outcome.standard_error)) {
      return OutcomeError(
          i, outcome,
          fmt::format("the standard error is {}, must be finite and at least 0 (0: unknown)", outcome.standard_error));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Scores> ComputeScores(std::span<const GraphOutcome> outcomes, double t, const ScoreOptions& options) {
  absl::StatusOr<std::vector<Scores>> curve = ComputeCurve(outcomes, std::span(&t, 1), options);
  if (!curve.ok()) return curve.status();
  return curve->front();
}

absl::StatusOr<std::vector<Scores>> ComputeCurve(std::span<const GraphOutcome> outcomes, std::span<const double> ts,
                                                 const ScoreOptions& options) {
  if (absl::Status status = Validate(outcomes, options); !status.ok()) return status;
  if (absl::Status status = CheckLevels(ts); !status.ok()) return status;
  const ScoredGraphs selected = Select(outcomes, options);

  std::vector<const Graph*> by_tolerance;
  for (const Graph& graph : selected.graphs) {
    if (graph.error_class == ErrorClass::kCorrect) by_tolerance.push_back(&graph);
  }
  std::stable_sort(by_tolerance.begin(), by_tolerance.end(),
                   [](const Graph* a, const Graph* b) { return a->critical_t < b->critical_t; });
  // sums[k]: of the k graphs with the smallest critical tolerances.
  std::vector<CorrectSums> sums(by_tolerance.size() + 1);
  for (size_t k = 0; k < by_tolerance.size(); ++k) {
    sums[k + 1] = sums[k];
    sums[k + 1].Add(by_tolerance[k]->weight, by_tolerance[k]->log_speedup);
  }
  // not_close[k]: weight of the others.
  std::vector<double> not_close(by_tolerance.size() + 1, 0.0);
  for (size_t k = by_tolerance.size(); k > 0; --k) not_close[k - 1] = not_close[k] + by_tolerance[k - 1]->weight;

  std::vector<Scores> curve;
  curve.reserve(ts.size());
  for (double t : ts) {
    const auto end = std::upper_bound(by_tolerance.begin(), by_tolerance.end(), Frozen(t),
                                      [](double level, const Graph* graph) { return level < graph->critical_t; });
    const size_t close = static_cast<size_t>(end - by_tolerance.begin());
    ClassWeights failed = selected.failed;
    failed[Index(ErrorClass::kAccuracy)] += not_close[close];
    curve.push_back(
        Combine(t, sums[close], failed, selected.weight, static_cast<int>(selected.graphs.size()), options));
  }
  return curve;
}

absl::StatusOr<RectifiedScores> ComputeRectified(std::span<const GraphOutcome> outcomes, double t,
                                                 const ScoreOptions& options) {
  if (absl::Status status = Validate(outcomes, options); !status.ok()) return status;
  if (absl::Status status = CheckLevels(std::span(&t, 1)); !status.ok()) return status;
  const ScoredGraphs selected = Select(outcomes, options);
  if (selected.graphs.empty()) return RectifiedScores();
  const double log_b = std::log(options.failure_penalty);
  double log_s = 0;
  double log_es = 0;
  for (const Graph& graph : selected.graphs) {
    double s = log_b;
    double es = log_b;
    if (graph.error_class == ErrorClass::kCorrect && graph.critical_t <= Frozen(t)) {
      s = graph.log_speedup < 0 ? graph.log_speedup * (options.slowdown_penalty + 1) : graph.log_speedup;
      es = s;
    } else if (graph.error_class != ErrorClass::kCorrect &&
               t >= ToleratedFrom(graph.error_class, options.interpretation)) {
      es = 0;
    }
    log_s += graph.weight * s;
    log_es += graph.weight * es;
  }
  return RectifiedScores{std::exp(log_s / selected.weight), std::exp(log_es / selected.weight)};
}

absl::StatusOr<std::vector<ScoreIntervals>> BootstrapScores(std::span<const GraphOutcome> outcomes,
                                                            std::span<const double> ts, const ScoreOptions& options,
                                                            const BootstrapOptions& bootstrap) {
  if (absl::Status status = Validate(outcomes, options); !status.ok()) return status;
  if (absl::Status status = CheckLevels(ts); !status.ok()) return status;
  if (bootstrap.resamples < 40 || bootstrap.resamples > 1'000'000) {
    return absl::InvalidArgumentError(
        fmt::format("the number of resamples is {}, must be from 40 to 1000000", bootstrap.resamples));
  }
  if (!(bootstrap.confidence > 0 && bootstrap.confidence < 1)) {
    return absl::InvalidArgumentError(
        fmt::format("the confidence is {}, must be between 0 and 1", bootstrap.confidence));
  }
  ScoredGraphs selected = Select(outcomes, options);
  if (selected.structures < 2 || ts.empty()) return std::vector<ScoreIntervals>();

  // Levels in order, so that a graph is correct from one of them on.
  std::vector<size_t> order(ts.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ts[a] < ts[b]; });
  std::vector<double> levels;
  for (size_t i : order) levels.push_back(Frozen(ts[i]));

  // Members of structure k: graphs[begins[k]] up to graphs[begins[k + 1]].
  std::vector<Graph>& graphs = selected.graphs;
  std::stable_sort(graphs.begin(), graphs.end(),
                   [](const Graph& a, const Graph& b) { return a.structure < b.structure; });
  std::vector<size_t> begins(selected.structures + 1, graphs.size());
  for (size_t i = graphs.size(); i > 0; --i) begins[graphs[i - 1].structure] = i - 1;
  std::vector<size_t> correct_from(graphs.size(), levels.size());
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (graphs[i].error_class != ErrorClass::kCorrect) continue;
    correct_from[i] =
        static_cast<size_t>(std::lower_bound(levels.begin(), levels.end(), graphs[i].critical_t) - levels.begin());
  }

  struct Draws {
    std::vector<double> s, es, alpha, lambda;
  };
  std::vector<Draws> draws(levels.size());
  Random random(bootstrap.seed);
  std::vector<CorrectSums> joining(levels.size() + 1);  // graphs that become correct at a level
  for (int resample = 0; resample < bootstrap.resamples; ++resample) {
    std::fill(joining.begin(), joining.end(), CorrectSums());
    ClassWeights failed = {};
    double total = 0;
    int count = 0;
    for (size_t draw = 0; draw < selected.structures; ++draw) {
      const size_t structure = random.Below(selected.structures);
      for (size_t i = begins[structure]; i < begins[structure + 1]; ++i) {
        const Graph& graph = graphs[i];
        total += graph.weight;
        ++count;
        if (graph.error_class != ErrorClass::kCorrect) {
          failed[Index(graph.error_class)] += graph.weight;
          continue;
        }
        const double error = graph.standard_error > 0 ? graph.standard_error * random.Normal() : 0;
        joining[correct_from[i]].Add(graph.weight, graph.log_speedup + error);
      }
    }
    double not_close = 0;
    for (const CorrectSums& sums : joining) not_close += sums.weight;
    CorrectSums correct;
    for (size_t level = 0; level < levels.size(); ++level) {
      correct.Add(joining[level]);
      not_close -= joining[level].weight;
      ClassWeights failed_here = failed;
      // What is left of the subtraction where every graph is close is rounding.
      if (joining[levels.size()].count > 0 || level + 1 < levels.size()) {
        failed_here[Index(ErrorClass::kAccuracy)] += std::max(0.0, not_close);
      }
      const Scores scores = Combine(ts[order[level]], correct, failed_here, total, count, options);
      draws[level].s.push_back(scores.s);
      draws[level].es.push_back(scores.es);
      draws[level].alpha.push_back(scores.alpha);
      draws[level].lambda.push_back(scores.lambda);
    }
  }

  std::vector<ScoreIntervals> intervals(levels.size());
  for (size_t level = 0; level < levels.size(); ++level) {
    ScoreIntervals& interval = intervals[order[level]];
    interval.t = ts[order[level]];
    interval.s = Percentiles(draws[level].s, bootstrap.confidence);
    interval.es = Percentiles(draws[level].es, bootstrap.confidence);
    interval.alpha = Percentiles(draws[level].alpha, bootstrap.confidence);
    interval.lambda = Percentiles(draws[level].lambda, bootstrap.confidence);
  }
  return intervals;
}

absl::StatusOr<std::vector<double>> LevelRange(double from, double to, double step) {
  constexpr double kMostLevels = 10'000;
  if (!std::isfinite(from) || !std::isfinite(to) || !std::isfinite(step) || !(step > 0) || to < from) {
    return absl::InvalidArgumentError(fmt::format(
        "the levels {}:{}:{} are not a range: FROM must not be above TO, STEP must be above 0", from, to, step));
  }
  // A billionth of a step forgives the rounding of steps like 0.1.
  const double steps = std::floor((to - from) / step + 1e-9);
  if (steps >= kMostLevels) {
    return absl::InvalidArgumentError(
        fmt::format("the levels {}:{}:{} are more than {}: use a larger step", from, to, step, kMostLevels));
  }
  std::vector<double> levels;
  for (int i = 0; i <= static_cast<int>(steps); ++i) levels.push_back(from + i * step);
  return levels;
}

}  // namespace assay::measure
