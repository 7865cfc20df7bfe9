#include "measure/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "measure/random.h"

namespace assay::measure {
namespace {

using testing::HasSubstr;

TEST(PolicyTest, NamedPoliciesAreValid) {
  for (const char* name : {"sweep", "standard", "precise"}) {
    const absl::StatusOr<Policy> policy = PolicyFromName(name);
    ASSERT_TRUE(policy.ok());
    EXPECT_EQ(policy->name, name);
    EXPECT_TRUE(Validate(*policy).ok()) << Validate(*policy);
  }
  EXPECT_EQ(PolicyFromName("sweep")->budget_seconds, 2);
  EXPECT_EQ(PolicyFromName("standard")->budget_seconds, 10);
  EXPECT_EQ(PolicyFromName("standard")->target_half_width, 0.01);
  EXPECT_EQ(PolicyFromName("standard")->processes, 1);
  EXPECT_EQ(PolicyFromName("precise")->processes, 5);
  EXPECT_EQ(PolicyFromName("precise")->budget_seconds, 10);
}

TEST(PolicyTest, UnknownNameListsTheNames) {
  const absl::Status status = PolicyFromName("fast").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"fast\": use sweep, standard or precise"));
}

TEST(PolicyTest, ValidationNamesFieldAndRange) {
  const auto message = [](auto change) {
    Policy policy = PolicyFromName("standard").value();
    change(policy);
    return std::string(Validate(policy).message());
  };
  EXPECT_THAT(message([](Policy& p) { p.budget_seconds = -1; }), HasSubstr("budget_seconds is -1, must be from"));
  EXPECT_THAT(message([](Policy& p) { p.budget_seconds = std::nan(""); }), HasSubstr("budget_seconds is nan"));
  EXPECT_THAT(message([](Policy& p) { p.target_half_width = 0; }), HasSubstr("target_half_width is 0"));
  EXPECT_THAT(message([](Policy& p) { p.pilot_pairs = 0; }), HasSubstr("pilot_pairs is 0"));
  EXPECT_THAT(message([](Policy& p) { p.pilot_seconds = 11; }), HasSubstr("pilot_seconds is 11, must be from 0 to 10"));
  EXPECT_THAT(message([](Policy& p) { p.maximum_pairs = 10; }), HasSubstr("maximum_pairs is 10, must be from 60"));
  EXPECT_THAT(message([](Policy& p) { p.processes = 2; }), HasSubstr("processes is 2, which gives no interval"));
  EXPECT_THAT(message([](Policy& p) { p.processes = 0; }), HasSubstr("processes is 0"));
  EXPECT_THAT(message([](Policy& p) { p.minimum_sample_seconds = 2; }), HasSubstr("minimum_sample_seconds is 2"));
  EXPECT_THAT(message([](Policy& p) { p.warm_up.window = 0; }), HasSubstr("warm_up.window is 0"));
  EXPECT_THAT(message([](Policy& p) { p.warm_up.maximum_calls = 1; }), HasSubstr("warm_up.maximum_calls is 1"));
}

// Calls made until the rule ends warm-up, and how it ended.
std::pair<int, WarmUp> WarmUpCalls(const WarmUpPolicy& policy, const std::vector<double>& times) {
  for (size_t calls = 1; calls <= times.size(); ++calls) {
    const WarmUp judgement = JudgeWarmUp(policy, std::span(times).first(calls));
    if (judgement != WarmUp::kContinue) return {static_cast<int>(calls), judgement};
  }
  return {-1, WarmUp::kContinue};
}

TEST(SpreadTest, AsManyProcessesAsTheBudgetPaysFor) {
  const Policy standard = *PolicyFromName("standard");
  const Policy sweep = *PolicyFromName("sweep");
  EXPECT_EQ(SpreadProcesses(standard, 0.1, 0.001), 5);
  EXPECT_EQ(SpreadProcesses(standard, 5, 0.001), 3);
  EXPECT_EQ(SpreadProcesses(standard, 5.1, 0.001), 1);  // two give no interval
  EXPECT_EQ(SpreadProcesses(standard, 100, 0.001), 1);
  EXPECT_EQ(SpreadProcesses(sweep, 1, 0.001), 3);
  EXPECT_EQ(SpreadProcesses(sweep, 0.1, 0.5), 1);  // long calls
  EXPECT_EQ(SpreadProcesses(standard, 0.1, 0.7), 4);
}

TEST(SpreadTest, TheBudgetIsDividedAndThePolicyStaysValid) {
  for (const char* name : {"sweep", "standard"}) {
    const Policy whole = *PolicyFromName(name);
    const Policy part = Spread(whole, 5);
    EXPECT_DOUBLE_EQ(5 * part.budget_seconds, whole.budget_seconds);
    EXPECT_EQ(5 * part.maximum_pairs, whole.maximum_pairs);
    EXPECT_EQ(part.target_half_width, whole.target_half_width);
    EXPECT_TRUE(Validate(part).ok());
    EXPECT_EQ(Spread(whole, 1).budget_seconds, whole.budget_seconds);
  }
  Policy tiny = *PolicyFromName("sweep");
  tiny.pilot_pairs = tiny.maximum_pairs = 1;
  EXPECT_TRUE(Validate(Spread(tiny, 5)).ok());
}

TEST(WarmUpTest, EndsWhenTimesHaveSettled) {
  const WarmUpPolicy policy;
  EXPECT_EQ(JudgeWarmUp(policy, {}), WarmUp::kContinue);
  // Steady from the start: two windows.
  EXPECT_EQ(WarmUpCalls(policy, std::vector<double>(100, 0.001)), std::make_pair(10, WarmUp::kSettled));
  // Falling for 20 calls, then steady.
  std::vector<double> falling;
  for (int i = 0; i < 100; ++i) falling.push_back(0.001 * std::max(1.0, 10 * std::pow(0.9, i)));
  const auto [calls, end] = WarmUpCalls(policy, falling);
  EXPECT_EQ(end, WarmUp::kSettled);
  EXPECT_GT(calls, 20);
  EXPECT_LT(calls, 40);
}

TEST(WarmUpTest, GivesUpAtItsLimits) {
  WarmUpPolicy policy;
  // Always falling: the limit of calls.
  policy.maximum_calls = 30;
  std::vector<double> falling;
  for (int i = 0; i < 100; ++i) falling.push_back(0.01 * std::pow(0.9, i));
  EXPECT_EQ(WarmUpCalls(policy, falling), std::make_pair(30, WarmUp::kGaveUp));
  // One call takes more than the whole budget.
  EXPECT_EQ(WarmUpCalls(policy, {3, 3, 3}), std::make_pair(1, WarmUp::kGaveUp));
}

TEST(WarmUpTest, LongCallsAreComparedInShortWindows) {
  const WarmUpPolicy policy;
  // A budget of 1 s holds 5 calls: windows of 2.
  EXPECT_EQ(WarmUpCalls(policy, {0.2, 0.2, 0.2, 0.2, 0.2}), std::make_pair(4, WarmUp::kSettled));
  EXPECT_EQ(WarmUpCalls(policy, {0.4, 0.4, 0.4}), std::make_pair(2, WarmUp::kSettled));
}

TEST(ScheduleTest, CallsPerSample) {
  EXPECT_EQ(CallsPerSample(1, 50e-6), 1);
  EXPECT_EQ(CallsPerSample(50e-6, 50e-6), 1);
  EXPECT_EQ(CallsPerSample(49e-6, 50e-6), 2);
  EXPECT_EQ(CallsPerSample(3e-6, 50e-6), 17);
  EXPECT_EQ(CallsPerSample(0, 50e-6), 1'000'000);
  EXPECT_EQ(CallsPerSample(1e-12, 1), 1'000'000);
  EXPECT_EQ(CallsPerSample(0, 0), 1);
}

TEST(ScheduleTest, OrdersAreBalancedAndMirrored) {
  for (int run_length : {1, 3}) {
    const std::vector<int> order = SampleOrder(11, 60, run_length);
    ASSERT_EQ(order.size(), 120u);
    EXPECT_EQ(std::accumulate(order.begin(), order.end(), 0), 60);
    const size_t block = 2 * static_cast<size_t>(run_length);
    int baseline_first = 0;
    for (size_t begin = 0; begin < order.size(); begin += block) {
      for (size_t i = 0; i < block; ++i) {
        EXPECT_EQ(order[begin + i], i < block / 2 ? order[begin] : 1 - order[begin]);
      }
      if (begin / block % 2 == 1) {
        EXPECT_EQ(order[begin], 1 - order[begin - block]);
      }
      baseline_first += order[begin] == kBaselineArm;
    }
    EXPECT_EQ(baseline_first, 60 / run_length / 2);
  }
}

TEST(ScheduleTest, OrdersDependOnTheSeedOnly) {
  EXPECT_EQ(SampleOrder(1, 50), SampleOrder(1, 50));
  EXPECT_NE(SampleOrder(1, 50), SampleOrder(2, 50));
  EXPECT_TRUE(SampleOrder(1, 0).empty());
  EXPECT_EQ(SampleOrder(1, 7, 3).size(), 14u);
  // Pinned: a stored seed must give the order that was run.
  EXPECT_EQ(SampleOrder(42, 6), (std::vector<int>{1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0}));
}

TEST(ScheduleTest, RatiosAreBaselineOverCandidatePerCall) {
  const std::vector<int> order = {0, 1, 1, 0};
  const std::vector<int64_t> samples = {200, 100, 300, 100};
  const std::vector<int> calls = {1, 1};
  const std::vector<double> ratios = PairLogRatios(order, samples, calls).value();
  ASSERT_EQ(ratios.size(), 2u);
  EXPECT_DOUBLE_EQ(ratios[0], std::log(2.0));        // the candidate is twice as fast
  EXPECT_DOUBLE_EQ(ratios[1], std::log(1.0 / 3.0));  // the candidate came first and took three times as long
  // Two calls in a sample of the baseline, ten in one of the candidate.
  const std::vector<double> batched = PairLogRatios(order, samples, std::vector<int>{2, 10}).value();
  EXPECT_DOUBLE_EQ(batched[0], std::log(100.0 / 10.0));
}

TEST(ScheduleTest, RunsArePairedInOrder) {
  const std::vector<int> order = {1, 1, 0, 0, 0, 1};  // a run of two, then a shorter last block
  const std::vector<int64_t> samples = {10, 20, 30, 80, 50, 25};
  const std::vector<double> ratios = PairLogRatios(order, samples, std::vector<int>{1, 1}, 2).value();
  ASSERT_EQ(ratios.size(), 3u);
  EXPECT_DOUBLE_EQ(ratios[0], std::log(3.0));
  EXPECT_DOUBLE_EQ(ratios[1], std::log(4.0));
  EXPECT_DOUBLE_EQ(ratios[2], std::log(2.0));
}

TEST(ScheduleTest, SamplesWithoutPartnersAreLeftOut) {
  const std::vector<int> order = SampleOrder(9, 10);
  const std::vector<int64_t> samples(7, 100);
  EXPECT_EQ(PairLogRatios(order, samples, std::vector<int>{1, 1})->size(), 3u);
  EXPECT_EQ(PairLogRatios(order, {}, std::vector<int>{1, 1})->size(), 0u);
  // Of a run of four an arm only the first two samples of the second arm are there.
  EXPECT_EQ(PairLogRatios(SampleOrder(9, 8, 4), std::vector<int64_t>(6, 100), std::vector<int>{1, 1}, 4)->size(), 2u);
}

TEST(ScheduleTest, BadSamplesAreNamed) {
  const std::vector<int> order = {0, 1, 1, 0};
  const std::vector<int> calls = {1, 1};
  const auto message = [](const auto& result) { return std::string(result.status().message()); };
  EXPECT_THAT(message(PairLogRatios(order, std::vector<int64_t>{5, 0}, calls)), HasSubstr("sample 1 lasts 0 ns"));
  EXPECT_THAT(message(PairLogRatios(order, std::vector<int64_t>{5, -3}, calls)), HasSubstr("sample 1 lasts -3 ns"));
  EXPECT_THAT(message(PairLogRatios(order, std::vector<int64_t>(5, 1), calls)), HasSubstr("5 samples"));
  EXPECT_THAT(message(PairLogRatios(order, std::vector<int64_t>(4, 1), std::vector<int>{1, 0})), HasSubstr("calls"));
  EXPECT_THAT(message(PairLogRatios(std::vector<int>{0, 0}, std::vector<int64_t>(2, 1), calls)), HasSubstr("blocks"));
  EXPECT_THAT(message(PairLogRatios(std::vector<int>{0, 1, 0}, std::vector<int64_t>(3, 1), calls)), HasSubstr("odd"));
}

TEST(SizePlanTest, PilotFitsThePolicyAndTheBudget) {
  const Policy policy = PolicyFromName("standard").value();
  EXPECT_EQ(PilotPairs(policy, 0.04), 60);    // the least number of pairs
  EXPECT_EQ(PilotPairs(policy, 0.002), 250);  // half a second of short ones
  EXPECT_EQ(PilotPairs(policy, 1), 10);       // all that the budget holds
  EXPECT_EQ(PilotPairs(policy, 100), 1);      // always one
  EXPECT_EQ(PilotPairs(policy, 0), 10'000);   // never above the maximum
  EXPECT_EQ(PilotPairs(PolicyFromName("sweep").value(), 5.2), 1);
}

std::vector<double> NormalPairs(int count, double deviation) {
  Random random(21);
  std::vector<double> ratios;
  for (int i = 0; i < count; ++i) ratios.push_back(deviation * random.Normal());
  return ratios;
}

TEST(SizePlanTest, NoisierPilotsNeedMorePairs) {
  const Policy policy = PolicyFromName("standard").value();
  const SizePlan quiet = PlanPairs(policy, NormalPairs(100, 0.001), 0.001);
  EXPECT_EQ(quiet.pairs, 100);  // the pilot is enough
  EXPECT_EQ(quiet.limit, SizeLimit::kTarget);
  const SizePlan noisy = PlanPairs(policy, NormalPairs(100, 0.1), 0.001);
  EXPECT_EQ(noisy.limit, SizeLimit::kTarget);
  // Independent pairs need (1.96 * 0.1 / 0.008)^2 / 0.955 = 629, the batches' own uncertainty at most doubles it.
  EXPECT_GT(noisy.pairs, 500);
  EXPECT_LT(noisy.pairs, 1900);
}

TEST(SizePlanTest, LimitsAreSaid) {
  const Policy policy = PolicyFromName("standard").value();
  const SizePlan long_calls = PlanPairs(policy, NormalPairs(60, 0.1), 0.1);
  EXPECT_EQ(long_calls.limit, SizeLimit::kBudget);
  EXPECT_EQ(long_calls.pairs, 100);
  const SizePlan wild = PlanPairs(policy, NormalPairs(60, 2), 1e-5);
  EXPECT_EQ(wild.limit, SizeLimit::kMaximumPairs);
  EXPECT_EQ(wild.pairs, policy.maximum_pairs);
  // A pilot that filled the budget is the whole trial; one without an interval asks for all that may be had.
  EXPECT_EQ(PlanPairs(policy, NormalPairs(10, 0.1), 1).pairs, 10);
  EXPECT_EQ(PlanPairs(policy, NormalPairs(2, 0.1), 1).pairs, 10);
  EXPECT_EQ(Name(SizeLimit::kTarget), "target");
  EXPECT_EQ(Name(SizeLimit::kBudget), "budget");
  EXPECT_EQ(Name(SizeLimit::kMaximumPairs), "maximum_pairs");
}

TEST(SizePlanTest, UnstableIsWiderThanTheTarget) {
  const Policy policy = PolicyFromName("standard").value();
  EXPECT_FALSE(IsUnstable(policy, 0.01));
  EXPECT_TRUE(IsUnstable(policy, 0.0101));
  EXPECT_TRUE(IsUnstable(policy, INFINITY));
  EXPECT_TRUE(IsUnstable(policy, std::nan("")));
}

}  // namespace
}  // namespace assay::measure
