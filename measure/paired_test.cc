#include "measure/paired.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "measure/random.h"

namespace assay::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ListedHodgesLehmann(const std::vector<double>& values) {
  std::vector<double> averages;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i; j < values.size(); ++j) averages.push_back((values[i] + values[j]) / 2);
  }
  std::sort(averages.begin(), averages.end());
  const size_t middle = averages.size() / 2;
  return averages.size() % 2 == 1 ? averages[middle] : (averages[middle - 1] + averages[middle]) / 2;
}

TEST(WidenedTest, AddsOnEitherSideAndMakesTheTestAsUnsure) {
  const PairedEstimate narrow = EstimatePaired(std::vector<double>{0.30, 0.31, 0.29, 0.30, 0.32, 0.28});
  ASSERT_EQ(Judge(narrow), Verdict::kFaster);
  const PairedEstimate wide = Widened(narrow, 0.5);
  EXPECT_EQ(wide.log_ratio, narrow.log_ratio);
  EXPECT_NEAR(wide.low, narrow.low - 0.5, 1e-12);
  EXPECT_NEAR(wide.high, narrow.high + 0.5, 1e-12);
  EXPECT_EQ(Judge(wide), Verdict::kUnclear);
  EXPECT_GT(PValue(wide), 0.05);
  EXPECT_LT(PValue(narrow), 0.05);
  EXPECT_EQ(Widened(narrow, 0).half_width, narrow.half_width);
  // Samples that are all equal have no spread, and nothing to scale.
  const PairedEstimate exact = Widened(EstimatePaired(std::vector<double>(6, 0.3)), 0.5);
  EXPECT_GT(PValue(exact), 0.05);
  EXPECT_FALSE(Widened(PairedEstimate(), 0.5).HasInterval());
}

TEST(PairedTest, HodgesLehmannOfFewValues) {
  EXPECT_DOUBLE_EQ(HodgesLehmann(std::vector<double>{3}), 3);
  EXPECT_DOUBLE_EQ(HodgesLehmann(std::vector<double>{1, 2}), 1.5);
  // Averages 1, 1.5, 2, 5.5, 6, 10: the middle two are 2 and 5.5.
  EXPECT_DOUBLE_EQ(HodgesLehmann(std::vector<double>{10, 1, 2}), 3.75);
}

TEST(PairedTest, CountingGivesTheSameAsListing) {
  Random random(3);
  for (size_t size : {60, 63, 64, 65, 66, 67, 100, 257, 640}) {
    for (int kind = 0; kind < 4; ++kind) {
      std::vector<double> values;
      for (size_t i = 0; i < size; ++i) {
        // Smooth; with many ties; with two far modes; all equal.
        if (kind == 0) values.push_back(random.Normal());
        if (kind == 1) values.push_back(static_cast<double>(random.Below(3)));
        if (kind == 2) values.push_back(random.Uniform() < 0.5 ? random.Normal() * 1e-9 : 1e6 + random.Normal());
        if (kind == 3) values.push_back(0.125);
      }
      SCOPED_TRACE(testing::Message() << size << " values of kind " << kind);
      EXPECT_EQ(HodgesLehmann(values), ListedHodgesLehmann(values));
    }
  }
}

TEST(PairedTest, HodgesLehmannOfManyPairsResistsOutliers) {
  Random random(4);
  std::vector<double> values;
  for (int i = 0; i < 20'000; ++i) values.push_back(i % 20 == 0 ? 5 : 0.1 + 0.01 * random.Normal());
  EXPECT_NEAR(HodgesLehmann(values), 0.1, 0.002);
}

TEST(PairedTest, FewPairsAreTheirOwnBatches) {
  // Student's t with 2 degrees of freedom: 4.30265; standard error 0.1 / sqrt(3).
  const PairedEstimate estimate = EstimatePaired(std::vector<double>{0.1, 0.2, 0.3});
  EXPECT_EQ(estimate.pairs, 3);
  EXPECT_EQ(estimate.batches, 3);
  EXPECT_TRUE(estimate.HasInterval());
  EXPECT_NEAR(estimate.log_ratio, 0.2, 1e-15);
  EXPECT_NEAR(estimate.standard_error, 0.1 / std::sqrt(3.0), 1e-15);
  EXPECT_NEAR(estimate.half_width, 4.302652729911275 * 0.1 / std::sqrt(3.0), 1e-9);
  EXPECT_DOUBLE_EQ(estimate.low, estimate.log_ratio - estimate.half_width);
  EXPECT_DOUBLE_EQ(estimate.high, estimate.log_ratio + estimate.half_width);
}

TEST(PairedTest, FewerThanThreePairsHaveNoInterval) {
  for (size_t pairs : {0, 1, 2}) {
    const PairedEstimate estimate = EstimatePaired(std::vector<double>(pairs, 0.5));
    EXPECT_EQ(estimate.pairs, static_cast<int64_t>(pairs));
    EXPECT_FALSE(estimate.HasInterval());
    EXPECT_EQ(estimate.log_ratio, pairs == 0 ? 0 : 0.5);
    EXPECT_EQ(estimate.half_width, kInfinity);
    EXPECT_EQ(estimate.low, -kInfinity);
    EXPECT_EQ(estimate.high, kInfinity);
    EXPECT_EQ(Judge(estimate), Verdict::kUnclear);
    EXPECT_EQ(PValue(estimate), 1);
  }
}

TEST(PairedTest, TenBatchesFromTwentyPairs) {
  Random random(5);
  std::vector<double> ratios;
  for (int i = 0; i < 19; ++i) ratios.push_back(0.01 * random.Normal());
  EXPECT_EQ(EstimatePaired(ratios).batches, 19);
  ratios.push_back(0);
  EXPECT_EQ(EstimatePaired(ratios).batches, kBatches);
  ratios.resize(1003, 0.001);
  const PairedEstimate estimate = EstimatePaired(ratios, 25);
  EXPECT_EQ(estimate.batches, 25);
  EXPECT_EQ(estimate.pairs, 1003);
}

TEST(PairedTest, SlowDisturbancesWidenTheInterval) {
  // The same values: once mixed, once with all of one half of the trial shifted against the other.
  Random random(6);
  std::vector<double> mixed, split;
  for (int i = 0; i < 400; ++i) {
    const double noise = 0.005 * random.Normal();
    mixed.push_back(noise + (i % 2 == 0 ? 0.02 : -0.02));
    split.push_back(noise + (i < 200 ? 0.02 : -0.02));
  }
  EXPECT_GT(EstimatePaired(split).half_width, 3 * EstimatePaired(mixed).half_width);
}

TEST(PairedTest, SignedRankHalfWidthOfNormalPairs) {
  EXPECT_EQ(SignedRankHalfWidth(std::vector<double>(5, 0.1)), kInfinity);
  Random random(7);
  std::vector<double> ratios;
  for (int i = 0; i < 1000; ++i) ratios.push_back(0.1 * random.Normal());
  // 1.96 standard errors, over the square root of the estimator's efficiency (3 / pi).
  EXPECT_NEAR(SignedRankHalfWidth(ratios), 1.96 * 0.1 / std::sqrt(1000.0) / std::sqrt(3 / M_PI), 0.0005);
}

TEST(PairedTest, ProcessesCombineByTheirMean) {
  std::vector<PairedEstimate> processes(5);
  for (size_t i = 0; i < processes.size(); ++i) {
    processes[i].log_ratio = 0.01 * static_cast<double>(i);
    processes[i].pairs = 100;
    processes[i].half_width = 0.001;
  }
  const PairedEstimate estimate = CombineProcesses(processes);
  EXPECT_EQ(estimate.pairs, 500);
  EXPECT_EQ(estimate.batches, 5);
  EXPECT_NEAR(estimate.log_ratio, 0.02, 1e-15);
  // 2.776 (t with 4 degrees of freedom) * 0.0158 / sqrt(5): what differs between processes, not within.
  EXPECT_NEAR(estimate.half_width, 2.7764451 * std::sqrt(2.5) * 0.01 / std::sqrt(5.0), 1e-7);
  // A process without pairs says nothing; two that are left allow no interval.
  for (size_t i = 2; i < 5; ++i) processes[i] = PairedEstimate();
  const PairedEstimate two = CombineProcesses(processes);
  EXPECT_FALSE(two.HasInterval());
  EXPECT_NEAR(two.log_ratio, 0.005, 1e-15);
  EXPECT_EQ(CombineProcesses({}).pairs, 0);
}

PairedEstimate Between(double low, double high) {
  PairedEstimate estimate;
  estimate.log_ratio = (low + high) / 2;
  estimate.low = low;
  estimate.high = high;
  estimate.half_width = (high - low) / 2;
  estimate.standard_error = StandardErrorFromHalfWidth(estimate.half_width);
  estimate.batches = kBatches;
  estimate.pairs = 100;
  return estimate;
}

TEST(PairedTest, VerdictsNeedTheWholeIntervalOnOneSideOfTheMinimumEffect) {
  const double limit = std::log1p(0.01);
  EXPECT_EQ(Judge(Between(limit + 1e-6, 0.5)), Verdict::kFaster);
  EXPECT_EQ(Judge(Between(limit - 1e-6, 0.5)), Verdict::kUnclear);
  EXPECT_EQ(Judge(Between(-0.5, -limit - 1e-6)), Verdict::kSlower);
  EXPECT_EQ(Judge(Between(-0.5, -limit + 1e-6)), Verdict::kUnclear);
  EXPECT_EQ(Judge(Between(-limit, limit)), Verdict::kSame);
  EXPECT_EQ(Judge(Between(0.001, 0.002)), Verdict::kSame);
  EXPECT_EQ(Judge(Between(-0.05, 0.05)), Verdict::kUnclear);
  EXPECT_EQ(Judge(Between(0.03, 0.04), 0.05), Verdict::kSame);
  for (Verdict verdict : {Verdict::kFaster, Verdict::kSlower, Verdict::kSame, Verdict::kUnclear}) {
    EXPECT_EQ(VerdictFromName(Name(verdict)), verdict);
  }
  EXPECT_EQ(VerdictFromName("better"), std::nullopt);
}

TEST(PairedTest, PValueAgreesWithTheInterval) {
  // An interval that just touches 0 has a p-value of 0.05.
  EXPECT_NEAR(PValue(Between(0, 0.02)), 0.05, 1e-9);
  EXPECT_NEAR(PValue(Between(-0.02, 0)), 0.05, 1e-9);
  EXPECT_DOUBLE_EQ(PValue(Between(-0.01, 0.01)), 1);
  EXPECT_EQ(PValue(Between(0.1, 0.1)), 0);
  EXPECT_EQ(PValue(Between(0, 0)), 1);
  EXPECT_EQ(StandardErrorFromHalfWidth(kInfinity), 0);
  EXPECT_NEAR(StandardErrorFromHalfWidth(2.262157162740992), 1, 1e-9);
}

}  // namespace
}  // namespace assay::measure
