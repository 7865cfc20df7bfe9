// The aggregated scores S(t) and ES(t) of an evaluation, for any real t, with their components and intervals.
//
// Everything is computed from one outcome per graph; graphs whose class is not scored (skipped, infrastructure) are
// left out of N. A graph is correct at t where its class is `correct` and its critical tolerance is at most t. For t >=
// 1 the correct set and the classes are those at t = 1; only gamma moves. A graph of class `correct` that is not close
// at t counts as an accuracy failure there.
//   S  = alpha^lambda * beta^(lambda*eta*p) * b^(1-lambda)
//   ES = alpha^lambda * beta^(lambda*eta*p) * gamma^(1-lambda),  gamma = b^(sum over classes c of pi_c * [t <
//   level(c)])
// Shares and geometric means are weighted by GraphOutcome::weight (times the structure's weight with `by_structure`).
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure/error_class.h"

namespace assay::measure {

struct GraphOutcome {
  ErrorClass error_class = ErrorClass::kCorrect;
  // For `correct` only: t* (at most 1; may be -infinity).
  double critical_t = 0;
  // For `correct` only: log(baseline time / candidate time); above 0 the candidate is faster.
  double log_speedup = 0;
  // Standard error of log_speedup (PairedEstimate::standard_error); 0 where unknown.
  double standard_error = 0;
  // Graphs of one structure (the same operations at other sizes) share it; an empty one stands alone.
  std::string structure;
  double weight = 1;
};

struct ScoreOptions {
  Interpretation interpretation = Interpretation::kReport;
  double slowdown_penalty = 0.1;  // p >= 0; the public scoring code's default is 0
  double failure_penalty = 0.1;   // b in (0, 1]
  bool by_structure = false;      // each structure counts as one graph, its members share its weight
};

struct Scores {
  double t = 0;
  double s = 1;
  double es = 1;
  double alpha = 1;
  double beta = 1;
  double lambda = 0;
  double eta = 0;
  double gamma = 1;
  // Share of each class among the failed, weighted; indexed by ErrorClass. All 0 where nothing failed.
  std::array<double, kErrorClassCount> pi = {};
  int graphs = 0;  // N, unweighted
  int correct = 0;
  int slower = 0;  // correct with a speed-up below 1
};

// An error names the outcome (by position) or the option that is out of range: a critical tolerance that is NaN or
// above 1, a log speed-up that is not finite, a weight that is not above 0 …
absl::Status Validate(std::span<const GraphOutcome> outcomes, const ScoreOptions& options);

// Without a scored graph: lambda = 0, S = ES = 1, graphs = 0.
absl::StatusOr<Scores> ComputeScores(std::span<const GraphOutcome> outcomes, double t, const ScoreOptions& options);

// Scores at each t, in the order given; one sort and one sweep.
absl::StatusOr<std::vector<Scores>> ComputeCurve(std::span<const GraphOutcome> outcomes, std::span<const double> ts,
                                                 const ScoreOptions& options);

// The other form: geometric means of per-graph rectified speed-ups (s; s^(p+1) where s < 1; the penalty where failed).
struct RectifiedScores {
  double s = 1;
  double es = 1;
};
absl::StatusOr<RectifiedScores> ComputeRectified(std::span<const GraphOutcome> outcomes, double t,
                                                 const ScoreOptions& options);

struct Interval {
  double low = 0;
  double high = 0;
};
struct ScoreIntervals {
  double t = 0;
  Interval s, es, alpha, lambda;
};
struct BootstrapOptions {
  uint64_t seed = 1;
  int resamples = 1000;
  double confidence = 0.95;
};

// Percentile intervals of a bootstrap that draws structures with replacement and, within each draw, each graph's log
// speed-up from its own normal error. Equal seeds give equal intervals on every machine. Empty where there are fewer
// than two structures: no interval can be given. O(resamples * (graphs + |ts|)).
absl::StatusOr<std::vector<ScoreIntervals>> BootstrapScores(std::span<const GraphOutcome> outcomes,
                                                            std::span<const double> ts, const ScoreOptions& options,
                                                            const BootstrapOptions& bootstrap);

// FROM, FROM+STEP, … TO (TO included where a whole number of steps reaches it).
absl::StatusOr<std::vector<double>> LevelRange(double from, double to, double step);

}  // namespace assay::measure
