// The short form of coverage_bench.cc: intervals hold the true speed-up about as often as they say, verdicts find a
// planted effect and invent none, for each kind of noise.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "measure/noise_model.h"

namespace assay::measure {
namespace {

class CoverageTest : public testing::TestWithParam<NoiseModel> {};

TEST_P(CoverageTest, IntervalsHoldTheTruthAndVerdictsAreRight) {
  constexpr int kTrials = 400;
  constexpr double kCallSeconds = 0.001;
  const Policy policy = PolicyFromName("standard").value();
  const double slow_down = std::log(1 / 1.03);
  int covered = 0, slower = 0, wrong = 0, unstable = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const uint64_t seed = static_cast<uint64_t>(trial) * 104'729 + 5;
    const PairedEstimate none = SimulateTrial(policy, GetParam(), 0, kCallSeconds, seed);
    const PairedEstimate slow = SimulateTrial(policy, GetParam(), slow_down, kCallSeconds, ~seed);
    covered += none.low <= 0 && 0 <= none.high;
    covered += slow.low <= slow_down && slow_down <= slow.high;
    unstable += IsUnstable(policy, none.half_width);
    wrong += Judge(none) == Verdict::kSlower || Judge(none) == Verdict::kFaster;
    slower += Judge(slow) == Verdict::kSlower;
  }
  EXPECT_GE(covered, 0.92 * 2 * kTrials);
  EXPECT_LE(covered, 0.97 * 2 * kTrials);
  EXPECT_GE(slower, 0.95 * kTrials);
  EXPECT_LE(wrong, 0.02 * kTrials);
  EXPECT_LE(unstable, 0.1 * kTrials);
}

INSTANTIATE_TEST_SUITE_P(Models, CoverageTest, testing::ValuesIn(kNoiseModels),
                         [](const auto& info) { return std::string(Name(info.param)); });

}  // namespace
}  // namespace assay::measure
