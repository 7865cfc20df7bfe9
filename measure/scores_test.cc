#include "measure/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "measure/random.h"

namespace assay::measure {
namespace {

using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLevels[] = {-10, -7.3, -5, -1, 0, 0.5, 0.999, 1, 1.5, 2, 3, 3.5, 4, 5};

GraphOutcome Correct(double speedup, double critical_t = -kInfinity) {
  GraphOutcome outcome;
  outcome.log_speedup = std::log(speedup);
  outcome.critical_t = critical_t;
  return outcome;
}

GraphOutcome Failed(ErrorClass error_class) {
  GraphOutcome outcome;
  outcome.error_class = error_class;
  return outcome;
}

GraphOutcome Weighted(GraphOutcome outcome, double weight) {
  outcome.weight = weight;
  return outcome;
}

ScoreOptions With(Interpretation interpretation, double p, double b) {
  ScoreOptions options;
  options.interpretation = interpretation;
  options.slowdown_penalty = p;
  options.failure_penalty = b;
  return options;
}

Scores At(const std::vector<GraphOutcome>& outcomes, double t, const ScoreOptions& options) {
  const absl::StatusOr<Scores> scores = ComputeScores(outcomes, t, options);
  EXPECT_TRUE(scores.ok()) << scores.status();
  return *scores;
}

// Every class, every tolerance, weights and structures.
std::vector<GraphOutcome> RandomOutcomes(uint64_t seed, int count) {
  Random random(seed);
  std::vector<GraphOutcome> outcomes;
  for (int i = 0; i < count; ++i) {
    GraphOutcome outcome;
    if (random.Uniform() < 0.3) {
      outcome.error_class = kErrorClasses[random.Below(kErrorClassCount)];
    }
    outcome.critical_t = random.Uniform() < 0.2 ? -kInfinity : 1 - 12 * random.Uniform();
    outcome.log_speedup = 0.1 + 0.5 * random.Normal();
    outcome.standard_error = random.Uniform() < 0.2 ? 0 : 0.02 * random.Uniform();
    outcome.weight = 0.5 + random.Uniform();
    if (random.Uniform() < 0.5) outcome.structure = "s" + std::to_string(random.Below(10));
    outcomes.push_back(outcome);
  }
  return outcomes;
}

TEST(ScoresTest, FormulaByHand) {
  const std::vector<GraphOutcome> outcomes = {Correct(2, -6), Correct(0.5, -3), Failed(ErrorClass::kCompileFail),
                                              Failed(ErrorClass::kAccuracy)};
  const ScoreOptions options = With(Interpretation::kReport, 0.1, 0.1);
  const Scores scores = At(outcomes, 0, options);
  EXPECT_EQ(scores.graphs, 4);
  EXPECT_EQ(scores.correct, 2);
  EXPECT_EQ(scores.slower, 1);
  EXPECT_DOUBLE_EQ(scores.lambda, 0.5);
  EXPECT_DOUBLE_EQ(scores.eta, 0.5);
  EXPECT_DOUBLE_EQ(scores.alpha, 1);
  EXPECT_DOUBLE_EQ(scores.beta, 0.5);
  EXPECT_DOUBLE_EQ(scores.gamma, 0.1);
  EXPECT_DOUBLE_EQ(scores.pi[static_cast<size_t>(ErrorClass::kCompileFail)], 0.5);
  EXPECT_DOUBLE_EQ(scores.pi[static_cast<size_t>(ErrorClass::kAccuracy)], 0.5);
  EXPECT_NEAR(scores.s, std::pow(0.5, 0.5 * 0.5 * 0.1) * std::pow(0.1, 0.5), 1e-15);
  EXPECT_EQ(scores.es, scores.s);
  // At -5 the second graph is not close: an accuracy failure there.
  const Scores strict = At(outcomes, -5, options);
  EXPECT_EQ(strict.correct, 1);
  EXPECT_DOUBLE_EQ(strict.lambda, 0.25);
  EXPECT_DOUBLE_EQ(strict.alpha, 2);
  EXPECT_DOUBLE_EQ(strict.beta, 1);
  EXPECT_DOUBLE_EQ(strict.pi[static_cast<size_t>(ErrorClass::kAccuracy)], 2.0 / 3);
  // From 1 on accuracy is tolerated, from 3 on the compile failure too.
  EXPECT_NEAR(At(outcomes, 1, options).gamma, std::pow(0.1, 0.5), 1e-15);
  EXPECT_NEAR(At(outcomes, 2.999, options).gamma, std::pow(0.1, 0.5), 1e-15);
  EXPECT_DOUBLE_EQ(At(outcomes, 3, options).gamma, 1);
  EXPECT_NEAR(At(outcomes, 3, options).es, std::pow(0.5, 0.5 * 0.5 * 0.1), 1e-15);
  EXPECT_NEAR(At(outcomes, 3, options).s, scores.s, 1e-15);
}

TEST(ScoresTest, CloseExactlyAtTheCriticalTolerance) {
  const std::vector<GraphOutcome> outcomes = {Correct(2, -6.25)};
  EXPECT_EQ(At(outcomes, -6.25, ScoreOptions()).correct, 1);
  EXPECT_EQ(At(outcomes, std::nextafter(-6.25, -7), ScoreOptions()).correct, 0);
  const std::vector<GraphOutcome> at_one = {Correct(2, 1)};
  EXPECT_EQ(At(at_one, 0.999, ScoreOptions()).correct, 0);
  EXPECT_EQ(At(at_one, 4, ScoreOptions()).correct, 1);
}

TEST(ScoresTest, PublishedValues) {
  struct Row {
    double t, alpha, beta, lambda, eta, gamma, score;
  };
  // They are published as of p = 0.1, but p = 0 gives them all to their last digit: for the last row p = 0.1 gives
  // 0.783.
  const ScoreOptions options = With(Interpretation::kReport, 0, 0.1);
  for (const Row& row :
       {Row{-6, 1.321, 0.858, 0.575, 0.049, 0.1, 0.442}, Row{0, 1.278, 0.878, 0.991, 0.048, 0.1, 1.248},
        Row{3, 1.278, 0.878, 0.991, 0.048, 1.0, 1.276}, Row{0, 1.363, 0.818, 0.977, 0.044, 0.1, 1.284},
        Row{3, 1.363, 0.818, 0.977, 0.044, 1.0, 1.353}, Row{-10, 0.949, 0.825, 0.345, 0.618, 0.1, 0.217},
        Row{0, 1.028, 0.815, 0.887, 0.473, 0.1, 0.790}}) {
    // Three graphs whose weights and speed-ups have the published components.
    const double fast = (std::log(row.alpha) - row.eta * std::log(row.beta)) / (1 - row.eta);
    ASSERT_GT(fast, 0);
    const std::vector<GraphOutcome> outcomes = {Weighted(Correct(row.beta, -10), row.lambda * row.eta),
                                                Weighted(Correct(std::exp(fast), -10), row.lambda * (1 - row.eta)),
                                                Weighted(Failed(ErrorClass::kRuntimeFail), 1 - row.lambda)};
    const Scores scores = At(outcomes, row.t, options);
    EXPECT_NEAR(scores.alpha, row.alpha, 1e-12);
    EXPECT_NEAR(scores.beta, row.beta, 1e-12);
    EXPECT_NEAR(scores.lambda, row.lambda, 1e-12);
    EXPECT_NEAR(scores.eta, row.eta, 1e-12);
    EXPECT_NEAR(scores.gamma, row.gamma, 1e-12);
    EXPECT_NEAR(scores.es, row.score, 0.0015) << "t = " << row.t;
    EXPECT_NEAR(At(outcomes, row.t, With(Interpretation::kReport, 0.1, 0.1)).es / scores.es,
                std::pow(row.beta, row.lambda * row.eta * 0.1), 1e-12);
    if (row.t < 1) {
      EXPECT_EQ(scores.s, scores.es);
    }
  }
}

// What the public scoring code gave for a log of six graphs (the last one failed before the baseline's outputs).
TEST(ScoresTest, ScoresOfThePublicCodeForASmallLog) {
  const std::vector<GraphOutcome> outcomes = {Correct(0.7116, -5),  Correct(0.8228, -5),
                                              Correct(0.67028, -5), Correct(1.10399, -5),
                                              Correct(3.1176, -5),  Failed(ErrorClass::kEagerFail)};
  struct Row {
    Interpretation interpretation;
    double p, b, s, es3;
  };
  for (const Row& row : {Row{Interpretation::kDefault, 0, 0.1, 0.7163006346681265, 1.0513855469630997},
                         Row{Interpretation::kDefault, 1, 0.1, 0.6129048855625457, 0.899621342150693},
                         Row{Interpretation::kDefault, 0.5, 0.5, 0.8664414296873006, 0.972547621906909},
                         Row{Interpretation::kMismatchExtended, 0, 0.1, 0.7163006346681265, 0.7163006346681265},
                         Row{Interpretation::kMismatchExtended, 1, 0.1, 0.6129048855625457, 0.6129048855625457},
                         Row{Interpretation::kMismatchExtended, 0.5, 0.5, 0.8664414296873006, 0.8664414296873006}}) {
    const ScoreOptions options = With(row.interpretation, row.p, row.b);
    const Scores scores = At(outcomes, -5, options);
    EXPECT_NEAR(scores.s, row.s, 1e-12);
    EXPECT_NEAR(scores.es, row.s, 1e-12);
    EXPECT_NEAR(scores.alpha, 1.0619752690570725, 1e-12);
    EXPECT_NEAR(scores.beta, 0.7321422919895864, 1e-12);
    EXPECT_NEAR(scores.eta, 0.6, 1e-12);
    EXPECT_NEAR(At(outcomes, 2, options).es, row.s, 1e-12);
    EXPECT_NEAR(At(outcomes, 3, options).es, row.es3, 1e-12);
    EXPECT_NEAR(At(outcomes, 5, options).es, row.es3, 1e-12);
    EXPECT_NEAR(At(outcomes, 3, options).s, row.s, 1e-12);
  }
}

// The same for a log of eleven graphs of which five failed and six become correct one after another.
TEST(ScoresTest, ScoresOfThePublicCodeForALogWithTolerances) {
  std::vector<GraphOutcome> outcomes = {Correct(0.43332, -11),  Correct(0.82813, -10.5), Correct(2.25778),
                                        Correct(1.13838, -8.2), Correct(2.33096, -7),    Correct(0.95976, -6.01)};
  for (int i = 0; i < 5; ++i) outcomes.push_back(Failed(ErrorClass::kEagerFail));
  const ScoreOptions options = With(Interpretation::kDefault, 0, 0.1);
  EXPECT_NEAR(At(outcomes, -10, options).s, 0.18383033149658293, 1e-12);
  EXPECT_NEAR(At(outcomes, -9, options).s, 0.18383033149658293, 1e-12);
  EXPECT_NEAR(At(outcomes, -8, options).s, 0.22932071364820247, 1e-12);
  EXPECT_NEAR(At(outcomes, -7, options).s, 0.305326593241429, 1e-12);
  EXPECT_NEAR(At(outcomes, -6, options).s, 0.3750180275364451, 1e-12);
  EXPECT_NEAR(At(outcomes, 2, options).es, 0.3750180275364451, 1e-12);
  EXPECT_NEAR(At(outcomes, 3, options).es, 1.0680647937338408, 1e-12);
}

TEST(ScoresTest, BothFormsAgree) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<GraphOutcome> outcomes = RandomOutcomes(seed, seed % 2 == 0 ? 7 : 400);
    for (int i = 0; i < kInterpretationCount; ++i) {
      for (double p : {0.0, 0.1, 1.0}) {
        for (bool by_structure : {false, true}) {
          ScoreOptions options = With(static_cast<Interpretation>(i), p, 0.1 + 0.1 * static_cast<double>(seed % 10));
          options.failure_penalty = std::min(options.failure_penalty, 1.0);
          options.by_structure = by_structure;
          for (double t : kLevels) {
            const Scores scores = At(outcomes, t, options);
            const RectifiedScores rectified = ComputeRectified(outcomes, t, options).value();
            ASSERT_NEAR(scores.s / rectified.s, 1, 1e-12) << "seed " << seed << ", t " << t;
            ASSERT_NEAR(scores.es / rectified.es, 1, 1e-12) << "seed " << seed << ", t " << t;
          }
        }
      }
    }
  }
}

// The components recombine to the scores, as a reader of a curve would check.
TEST(ScoresTest, ComponentsRecombine) {
  const std::vector<GraphOutcome> outcomes = RandomOutcomes(77, 300);
  const ScoreOptions options = With(Interpretation::kReport, 0.1, 0.1);
  for (double t : kLevels) {
    const Scores x = At(outcomes, t, options);
    const double core = std::pow(x.alpha, x.lambda) * std::pow(x.beta, x.lambda * x.eta * 0.1);
    EXPECT_NEAR(x.s, core * std::pow(0.1, 1 - x.lambda), 1e-12);
    EXPECT_NEAR(x.es, core * std::pow(x.gamma, 1 - x.lambda), 1e-12);
    double shares = 0;
    for (double share : x.pi) shares += share;
    EXPECT_NEAR(shares, 1, 1e-12);
  }
}

TEST(ScoresTest, ACurveIsItsScores) {
  const std::vector<GraphOutcome> outcomes = RandomOutcomes(5, 100);
  const std::vector<double> levels = {3, -2, -10, 0, 0, 1, 0.5};  // in any order
  const std::vector<Scores> curve = ComputeCurve(outcomes, levels, ScoreOptions()).value();
  ASSERT_EQ(curve.size(), levels.size());
  for (size_t i = 0; i < levels.size(); ++i) {
    const Scores scores = At(outcomes, levels[i], ScoreOptions());
    EXPECT_EQ(curve[i].t, levels[i]);
    EXPECT_EQ(curve[i].s, scores.s);
    EXPECT_EQ(curve[i].es, scores.es);
    EXPECT_EQ(curve[i].correct, scores.correct);
  }
}

TEST(ScoresTest, WithoutCorrectOrScoredGraphs) {
  const ScoreOptions options;
  const Scores none = At({}, 0, options);
  EXPECT_EQ(none.graphs, 0);
  EXPECT_EQ(none.s, 1);
  EXPECT_EQ(none.es, 1);
  EXPECT_EQ(none.lambda, 0);
  const Scores skipped = At({Failed(ErrorClass::kSkipped), Failed(ErrorClass::kInfrastructure)}, 0, options);
  EXPECT_EQ(skipped.graphs, 0);
  EXPECT_EQ(skipped.s, 1);
  const Scores failed = At({Failed(ErrorClass::kRuntimeFail)}, 0, options);
  EXPECT_EQ(failed.alpha, 1);
  EXPECT_EQ(failed.beta, 1);
  EXPECT_EQ(failed.eta, 0);
  EXPECT_NEAR(failed.s, 0.1, 1e-15);
  const Scores all = At({Correct(2)}, 0, options);
  EXPECT_DOUBLE_EQ(all.s, 2);
  EXPECT_DOUBLE_EQ(all.lambda, 1);
}

TEST(ScoresTest, SkippedGraphsChangeNothing) {
  std::vector<GraphOutcome> outcomes = {Correct(2), Correct(0.9), Failed(ErrorClass::kNan)};
  const double before = At(outcomes, 0, ScoreOptions()).s;
  outcomes.push_back(Failed(ErrorClass::kSkipped));
  outcomes.push_back(Failed(ErrorClass::kInfrastructure));
  EXPECT_EQ(At(outcomes, 0, ScoreOptions()).s, before);
  EXPECT_EQ(At(outcomes, 0, ScoreOptions()).graphs, 3);
}

TEST(ScoresTest, AStructureCountsAsOneGraph) {
  std::vector<GraphOutcome> outcomes(9, Correct(4));
  for (GraphOutcome& outcome : outcomes) outcome.structure = "large";
  outcomes.push_back(Correct(1));
  ScoreOptions options;
  EXPECT_NEAR(At(outcomes, 0, options).s, std::pow(4, 0.9), 1e-12);
  options.by_structure = true;
  EXPECT_NEAR(At(outcomes, 0, options).s, 2, 1e-12);
  EXPECT_EQ(At(outcomes, 0, options).graphs, 10);
}

TEST(ScoresTest, ErrorsNameTheOutcome) {
  const auto message = [](GraphOutcome outcome) {
    return std::string(ComputeScores(std::vector<GraphOutcome>{Correct(1), outcome}, 0, {}).status().message());
  };
  EXPECT_THAT(message(Correct(1, 1.5)), HasSubstr("outcome 1 (correct): the critical tolerance is 1.5"));
  EXPECT_THAT(message(Correct(1, std::nan(""))), HasSubstr("critical tolerance is nan"));
  EXPECT_THAT(message(Correct(0)), HasSubstr("log speed-up"));
  EXPECT_THAT(message(Weighted(Correct(1), 0)), HasSubstr("the weight is 0"));
  GraphOutcome outcome = Correct(1);
  outcome.standard_error = kInfinity;
  EXPECT_THAT(message(outcome), HasSubstr("the standard error is inf"));
  // What only a correct graph needs is not asked of a failed one.
  outcome.error_class = ErrorClass::kRuntimeFail;
  outcome.log_speedup = std::nan("");
  EXPECT_EQ(message(outcome), "");

  const std::vector<GraphOutcome> one = {Correct(1)};
  EXPECT_THAT(std::string(ComputeScores(one, 0, With(Interpretation::kReport, -1, 0.1)).status().message()),
              HasSubstr("penalty p is -1"));
  EXPECT_THAT(std::string(ComputeScores(one, 0, With(Interpretation::kReport, 0, 0)).status().message()),
              HasSubstr("penalty b is 0"));
  EXPECT_FALSE(ComputeScores(one, std::nan(""), {}).ok());
}

TEST(BootstrapTest, WidthIsThatOfTheMeanOfLogarithms) {
  Random random(8);
  std::vector<GraphOutcome> outcomes;
  for (int i = 0; i < 400; ++i) {
    outcomes.push_back(Correct(std::exp(0.5 + 0.1 * random.Normal())));
    outcomes.back().standard_error = 0.1;
  }
  BootstrapOptions bootstrap;
  bootstrap.resamples = 4000;
  const double level = 0;
  const auto width = [&] {
    const std::vector<ScoreIntervals> intervals =
        BootstrapScores(outcomes, std::span(&level, 1), ScoreOptions(), bootstrap).value();
    return std::log(intervals[0].s.high / intervals[0].s.low);
  };
  // Spread between graphs and each graph's own error.
  EXPECT_NEAR(width(), 2 * 1.96 * std::sqrt(0.1 * 0.1 + 0.1 * 0.1) / 20, 0.002);
  for (GraphOutcome& outcome : outcomes) outcome.standard_error = 0;
  EXPECT_NEAR(width(), 2 * 1.96 * 0.1 / 20, 0.0015);
}

TEST(BootstrapTest, GraphsOfOneStructureAreNotIndependent) {
  std::vector<GraphOutcome> outcomes;
  for (int i = 0; i < 200; ++i) outcomes.push_back(Correct(i % 8 < 4 ? 1.2 : 1.6));
  const double level = 0;
  const auto width = [&] {
    const ScoreIntervals interval =
        BootstrapScores(outcomes, std::span(&level, 1), ScoreOptions(), BootstrapOptions()).value()[0];
    return interval.s.high - interval.s.low;
  };
  const double independent = width();
  for (size_t i = 0; i < outcomes.size(); ++i) outcomes[i].structure = std::to_string(i % 8);
  EXPECT_GT(width(), 3 * independent);
}

TEST(BootstrapTest, IntervalsHoldTheScoresInTheOrderOfTheLevels) {
  const std::vector<GraphOutcome> outcomes = RandomOutcomes(31, 500);
  const std::vector<double> levels = {4, -10, 0, 1, -3.5};
  const std::vector<Scores> curve = ComputeCurve(outcomes, levels, ScoreOptions()).value();
  const std::vector<ScoreIntervals> intervals =
      BootstrapScores(outcomes, levels, ScoreOptions(), BootstrapOptions()).value();
  ASSERT_EQ(intervals.size(), levels.size());
  for (size_t i = 0; i < levels.size(); ++i) {
    SCOPED_TRACE(levels[i]);
    EXPECT_EQ(intervals[i].t, levels[i]);
    EXPECT_LT(intervals[i].s.low, curve[i].s);
    EXPECT_GT(intervals[i].s.high, curve[i].s);
    EXPECT_LT(intervals[i].es.low, curve[i].es);
    EXPECT_GT(intervals[i].es.high, curve[i].es);
    EXPECT_LT(intervals[i].alpha.low, curve[i].alpha);
    EXPECT_GT(intervals[i].alpha.high, curve[i].alpha);
    EXPECT_LE(intervals[i].lambda.low, curve[i].lambda);
    EXPECT_GE(intervals[i].lambda.high, curve[i].lambda);
  }
}

TEST(BootstrapTest, SeedsRepeat) {
  const std::vector<GraphOutcome> outcomes = RandomOutcomes(9, 60);
  const double level = 0;
  BootstrapOptions bootstrap;
  const auto low = [&] {
    return BootstrapScores(outcomes, std::span(&level, 1), ScoreOptions(), bootstrap).value()[0].s.low;
  };
  const double first = low();
  EXPECT_EQ(low(), first);
  bootstrap.seed = 2;
  EXPECT_NE(low(), first);
}

TEST(BootstrapTest, AllCloseLeavesNoAccuracyFailures) {
  const std::vector<GraphOutcome> outcomes = {Correct(1.1, -3), Correct(1.3, -2.9), Correct(0.7, -4.1)};
  const std::vector<double> levels = {1, 4};
  const std::vector<ScoreIntervals> intervals =
      BootstrapScores(outcomes, levels, ScoreOptions(), BootstrapOptions()).value();
  ASSERT_EQ(intervals.size(), 2u);
  for (const ScoreIntervals& interval : intervals) {
    EXPECT_EQ(interval.lambda.low, 1);
    EXPECT_EQ(interval.s.low, interval.es.low);
  }
}

TEST(BootstrapTest, OneStructureHasNoInterval) {
  std::vector<GraphOutcome> outcomes(5, Correct(2));
  for (GraphOutcome& outcome : outcomes) outcome.structure = "one";
  const double level = 0;
  EXPECT_TRUE(BootstrapScores(outcomes, std::span(&level, 1), {}, {})->empty());
  EXPECT_TRUE(BootstrapScores({}, std::span(&level, 1), {}, {})->empty());
  BootstrapOptions bootstrap;
  bootstrap.resamples = 3;
  EXPECT_FALSE(BootstrapScores(outcomes, std::span(&level, 1), {}, bootstrap).ok());
  bootstrap = BootstrapOptions();
  bootstrap.confidence = 1;
  EXPECT_FALSE(BootstrapScores(outcomes, std::span(&level, 1), {}, bootstrap).ok());
}

TEST(LevelRangeTest, IncludesTheEnd) {
  EXPECT_EQ(LevelRange(-2, 1, 1).value(), (std::vector<double>{-2, -1, 0, 1}));
  EXPECT_EQ(LevelRange(0, 0.3, 0.1)->size(), 4u);
  EXPECT_EQ(LevelRange(0, 0.35, 0.1)->size(), 4u);
  EXPECT_EQ(LevelRange(2, 2, 1)->size(), 1u);
  EXPECT_THAT(std::string(LevelRange(1, 0, 1).status().message()), HasSubstr("FROM must not be above TO"));
  EXPECT_FALSE(LevelRange(0, 1, 0).ok());
  EXPECT_FALSE(LevelRange(0, 1, std::nan("")).ok());
  EXPECT_FALSE(LevelRange(0, 1, 1e-9).ok());
}

}  // namespace
}  // namespace assay::measure
