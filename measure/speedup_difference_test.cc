#include "measure/speedup_difference.h"

#include <cmath>

#include "gmock/gmock.h"
#include "measure/random.h"

namespace assay::measure {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// Of 10 batches: Student's t with 9 degrees of freedom.
constexpr double kT9 = 2.2621571628;
MeasuredSpeedup Measured(double log_speedup, double error) { return {log_speedup, kT9 * error, error}; }

TEST(SpeedupDifference, CombinesErrorsAsWelch) {
  const SpeedupDifference equal = Subtract(Measured(0.3, 0.01), Measured(0.1, 0.01));
  EXPECT_NEAR(equal.log_ratio, 0.2, 1e-12);
  EXPECT_NEAR(equal.standard_error, 0.01 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(equal.degrees_of_freedom, 18, 1e-3);
  EXPECT_NEAR(equal.high - equal.log_ratio, 2.1009220402 * equal.standard_error, 1e-8);  // t of 18
  EXPECT_NEAR(Subtract(Measured(0, 0.01), Measured(0, 1e-6)).degrees_of_freedom, 9, 1e-3);
}

TEST(SpeedupDifference, WithoutAnIntervalThereIsNone) {
  EXPECT_FALSE(Subtract({0.5}, Measured(0, 0.01)).HasInterval());
  EXPECT_FALSE(Subtract(Measured(0, 0.01), {0.5, 0.1, 0}).HasInterval());
  EXPECT_EQ(EffectPValue(Subtract({0.5}, {0.1})), 1);
  const SpeedupDifference exact = Subtract({0.5, 0, 0}, {0.1, 0, 0});
  EXPECT_TRUE(exact.HasInterval());
  EXPECT_EQ(EffectPValue(exact), 0);
}

TEST(SpeedupDifference, ThePValueAgreesWithTheInterval) {
  const double limit = std::log1p(0.01);
  for (double shift = -0.06; shift <= 0.06; shift += 0.0007) {
    const SpeedupDifference difference = Subtract(Measured(shift, 0.004), Measured(0, 0.006));
    const bool outside = difference.low > limit || difference.high < -limit;
    EXPECT_EQ(EffectPValue(difference) < 0.05, outside) << shift;
  }
  EXPECT_EQ(EffectPValue(Subtract(Measured(0.009, 1e-6), Measured(0, 1e-6))), 1);  // significant, but below 1 %
}

TEST(BenjaminiHochberg, KnownValues) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  EXPECT_THAT(BenjaminiHochberg(p), ElementsAre(DoubleNear(0.02, 1e-12), DoubleNear(0.04, 1e-12),
                                                DoubleNear(0.04, 1e-12), DoubleNear(0.02, 1e-12)));
  EXPECT_THAT(BenjaminiHochberg(std::vector<double>{1, 1}), ElementsAre(1, 1));
  EXPECT_THAT(BenjaminiHochberg({}), ElementsAre());
}

TEST(JudgeAll, TellsTheFourVerdictsApart) {
  const std::vector<SpeedupDifference> differences = {
      Subtract(Measured(0.1, 0.002), Measured(0, 0.002)), Subtract(Measured(-0.1, 0.002), Measured(0, 0.002)),
      Subtract(Measured(0.001, 0.001), Measured(0, 0.001)), Subtract(Measured(0.02, 0.01), Measured(0, 0.01)),
      Subtract({0.5}, {0})};
  std::vector<Verdict> verdicts;
  for (const CorrectedVerdict& one : JudgeAll(differences)) verdicts.push_back(one.verdict);
  EXPECT_THAT(verdicts,
              ElementsAre(Verdict::kFaster, Verdict::kSlower, Verdict::kSame, Verdict::kUnclear, Verdict::kUnclear));
}

TEST(JudgeAll, ManyEqualGraphsRarelyGiveADeparture) {
  Random random(7);
  int departures = 0, uncorrected = 0;
  constexpr int kRounds = 100, kGraphs = 100;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<SpeedupDifference> differences;
    for (int i = 0; i < kGraphs; ++i) {
      // At the edge of the minimum effect, where a wrong departure is likeliest.
      const double noise = 0.01 * std::sqrt(2.0) * random.Normal();
      differences.push_back(Subtract({std::log1p(0.01) + noise, 1.95 * 0.01, 0.01}, {0, 1.95 * 0.01, 0.01}));
      uncorrected += EffectPValue(differences.back()) < 0.05 ? 1 : 0;
    }
    int here = 0;
    for (const CorrectedVerdict& one : JudgeAll(differences)) here += one.verdict == Verdict::kFaster ? 1 : 0;
    departures += here > 0 ? 1 : 0;
  }
  EXPECT_LE(departures, kRounds * 8 / 100);         // rounds with any
  EXPECT_GT(uncorrected, kRounds * kGraphs / 100);  // without the correction one graph in 40
}

}  // namespace
}  // namespace assay::measure
