#include "worker/timing.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/random.h"

namespace assay::worker {
namespace {

// Calls with a normal noise of 1 %; the first ones of each arm are slow.
class FakeSampler : public Sampler {
 public:
  FakeSampler(double baseline_ns, double candidate_ns) : ns_{baseline_ns, candidate_ns} {}

  std::optional<SampleFailure> Take(const Chunk& chunk, std::stop_token, Samples& samples) override {
    ++requests;
    if (fail_at == requests) return SampleFailure{1, CallFailure{CallFailure::Kind::kSignal, "", "ended", 0, 11}};
    for (size_t i = 0; i < chunk.order.size(); ++i) {
      const int arm = chunk.order[i];
      const double slow = calls[arm] < 5 ? 3 : 1;
      calls[arm] += chunk.batch[arm];
      const double ns = ns_[arm] * chunk.batch[arm] * slow * std::exp(0.01 * random_.Normal());
      samples.ns.push_back(std::max<int64_t>(1, std::llround(ns)));
      samples.calls_ns += samples.ns.back();
    }
    if (chunk.keep >= 0) {
      EXPECT_EQ(chunk.order.at(chunk.keep), measure::kCandidateArm) << "the candidate's call is what is checked";
      samples.kept = *runner::MemoryFile::Create("kept");
    }
    return std::nullopt;
  }
  int RunLength(double) const override { return run_length; }

  int run_length = 1, requests = 0, fail_at = 0;
  std::array<int64_t, 2> calls = {0, 0};

 private:
  std::array<double, 2> ns_;
  measure::Random random_{1};
};

TimingRequest Request(const char* policy) {
  TimingRequest request;
  request.policy = *measure::PolicyFromName(policy);
  request.seed = 42;
  return request;
}

TEST(TimingTest, FindsTheSpeedUp) {
  for (const int run_length : {1, 4}) {
    FakeSampler sampler(2e6, 1e6);
    sampler.run_length = run_length;
    PhaseLog phases({});
    TimingResult result;
    ASSERT_FALSE(TimeArms(sampler, Request("standard"), {}, phases, result).has_value());
    EXPECT_NEAR(result.estimate.log_ratio, std::log(2), 0.01);
    EXPECT_TRUE(result.estimate.HasInterval());
    EXPECT_LT(result.estimate.half_width, 0.01);
    EXPECT_TRUE(result.settled);
    EXPECT_EQ(result.samples_ns[0].size(), result.samples_ns[1].size());
    EXPECT_EQ(static_cast<int64_t>(result.samples_ns[0].size()), result.estimate.pairs);
    EXPECT_GE(result.warmup_calls, 10);
    EXPECT_FALSE(result.kept.empty());
  }
}

TEST(TimingTest, ShortCallsAreTimedInBatches) {
  FakeSampler sampler(1000, 10'000);
  PhaseLog phases({});
  TimingResult result;
  ASSERT_FALSE(TimeArms(sampler, Request("sweep"), {}, phases, result).has_value());
  EXPECT_NEAR(result.batch[0], 50, 5);
  EXPECT_EQ(result.batch[1], 5);
  EXPECT_NEAR(result.estimate.log_ratio, std::log(0.1), 0.01);
}

TEST(TimingTest, AGraphThatMutatesIsTimedCallByCall) {
  FakeSampler sampler(1000, 1000);
  TimingRequest request = Request("sweep");
  request.mutates = true;
  PhaseLog phases({});
  TimingResult result;
  ASSERT_FALSE(TimeArms(sampler, std::move(request), {}, phases, result).has_value());
  EXPECT_EQ(result.batch[0], 1);
  EXPECT_EQ(result.batch[1], 1);
}

TEST(TimingTest, LongCallsAreFew) {
  FakeSampler sampler(3e9, 3e9);
  TimingRequest request = Request("sweep");
  request.calls = {std::vector<double>{9, 3}, std::vector<double>{9, 3}};  // the checked calls count
  PhaseLog phases({});
  TimingResult result;
  ASSERT_FALSE(TimeArms(sampler, std::move(request), {}, phases, result).has_value());
  EXPECT_LE(sampler.calls[0], 4);
  EXPECT_GE(result.estimate.pairs, 1);
}

TEST(TimingTest, HandsFailuresOn) {
  for (const int at : {1, 3}) {
    FakeSampler sampler(1e6, 1e6);
    sampler.fail_at = at;
    PhaseLog phases({});
    TimingResult result;
    const auto failure = TimeArms(sampler, Request("sweep"), {}, phases, result);
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->arm, 1);
    EXPECT_EQ(failure->failure.signal, 11);
  }
}

TEST(PhaseLogTest, SplitsTheRunnersTimeFromTheRest) {
  PhaseLog phases({});
  phases.Begin("replay", true);
  phases.Begin("run", false);
  phases.AddRunnerTime(1);
  phases.Begin("end", true);
  v1::Measurement m;
  phases.Finish(m);
  ASSERT_EQ(m.phases_size(), 4);
  EXPECT_EQ(m.phases(1).name(), "run");
  EXPECT_EQ(m.phases(1).duration_ns(), 1);
  EXPECT_EQ(m.phases(2).name(), "run+");
  EXPECT_TRUE(m.phases(2).harness());
  EXPECT_EQ(m.harness_ns(), m.wall_ns() - 1);
}

}  // namespace
}  // namespace assay::worker
