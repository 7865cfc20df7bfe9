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
      const bool stall = stall_every > 0 && ++taken_ % stall_every == 0;
      const double ns = ns_[arm] * chunk.batch[arm] * slow * std::exp(0.01 * random_.Normal()) + (stall ? 2e7 : 0);
      samples.ns.push_back(std::max<int64_t>(1, std::llround(ns)));
      samples.device_ns.push_back(0);
      samples.calls_ns += samples.ns.back();
      samples.request_ns += samples.ns.back() + (chunk.cold ? sweep_ns : 0);
      samples.uncounted_ns[arm] += uncounted_ns;
    }
    colds += chunk.cold;
    if (chunk.keep >= 0) {
      EXPECT_EQ(chunk.order.at(chunk.keep), measure::kCandidateArm) << "the candidate's call is what is checked";
      samples.kept = *runner::MemoryFile::Create("kept");
    }
    return std::nullopt;
  }
  std::optional<SampleFailure> TakeAlone(int arm, int calls, double, std::stop_token, AloneCalls& alone) override {
    ++alone_requests;
    const double seconds = ns_[arm] * calls;
    alone.told_ns = std::llround(seconds / own_clock);
    alone.wall_ns = std::llround(seconds * (alone_requests <= crowded ? 3 : alone_factor[arm])) + 100'000;
    alone.waited_ns = std::llround(seconds * waited_factor[arm]);
    return std::nullopt;
  }
  int RunLength(double) const override { return run_length; }

  int run_length = 1, requests = 0, fail_at = 0, alone_requests = 0;
  int crowded = 0;                               // so many requests alone take three times as long
  std::array<double, 2> alone_factor = {1, 1};   // of the time that was told
  std::array<double, 2> waited_factor = {0, 0};  // of it, that was waiting for a CPU
  double own_clock = 1;
  int64_t sweep_ns = 0;      // what emptying the caches takes
  int64_t uncounted_ns = 0;  // a sample
  int colds = 0;             // requests for it
  int stall_every = 0;       // every so many samples one takes 20 ms longer
  std::array<int64_t, 2> calls = {0, 0};

 private:
  int taken_ = 0;
  std::array<double, 2> ns_;
  measure::Random random_{1};
};

TimingRequest Request(const char* policy) {
  TimingRequest request;
  request.policy = *measure::PolicyFromName(policy);
  request.seed = 42;
  return request;
}

TEST(TimingTest, ColdCachesTakeTheirShareOfTheBudget) {
  FakeSampler sampler(2e3, 1e3);
  sampler.sweep_ns = 10'000'000;
  TimingRequest request = Request("sweep");
  request.cold = true;
  PhaseLog phases({});
  TimingResult result;
  ASSERT_FALSE(TimeArms(sampler, std::move(request), {}, phases, result).has_value());
  EXPECT_EQ(sampler.colds, sampler.requests) << "the warm-up's calls too";
  EXPECT_EQ(result.batch, (std::array<int, 2>{1, 1}));
  EXPECT_NEAR(result.estimate.log_ratio, std::log(2), 0.02);
  EXPECT_LE(result.samples_ns[0].size(), 100u) << "2 s hold 100 pairs of 20 ms";
  EXPECT_GE(result.samples_ns[0].size(), 3u);
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

std::string ContradictionOf(FakeSampler& sampler, bool mutates = false) {
  TimingRequest request = Request("sweep");
  request.mutates = mutates;
  PhaseLog phases({});
  TimingResult result;
  EXPECT_FALSE(TimeArms(sampler, std::move(request), {}, phases, result).has_value());
  return result.contradiction;
}

TEST(TimingTest, TheRunnersClockIsHeldAgainstTheWorkers) {
  FakeSampler honest(1e6, 2e6);
  EXPECT_EQ(ContradictionOf(honest), "");
  EXPECT_EQ(honest.alone_requests, 2);

  FakeSampler moved(1e6, 1e6);
  moved.alone_factor = {0.5, 2.2};  // most of the candidate's time was told as the baseline's
  EXPECT_THAT(ContradictionOf(moved), testing::HasSubstr("time was moved between them"));
  EXPECT_EQ(moved.alone_requests, 20) << "accused only after ten tries";

  FakeSampler clock(1e6, 1e6);
  clock.own_clock = 4;
  EXPECT_THAT(ContradictionOf(clock), testing::HasSubstr("by the worker's clock"));
  FakeSampler interrupted(1e6, 1e6);
  interrupted.own_clock = 4;
  interrupted.waited_factor = {0.9, 0.9};  // both clocks went on meanwhile
  EXPECT_THAT(ContradictionOf(interrupted), testing::HasSubstr("by the worker's clock"));
}

TEST(TimingTest, ACrowdedMachineIsNoLie) {
  FakeSampler sampler(1e6, 1e6);
  sampler.crowded = 7;
  EXPECT_EQ(ContradictionOf(sampler), "");
  EXPECT_EQ(sampler.alone_requests, 10) << "the first that is undisturbed in both arms ends it";
  FakeSampler never_alone(1e6, 1e6);
  never_alone.alone_factor = {4, 1.2};
  never_alone.waited_factor = {2.9, 0};
  never_alone.own_clock = 0.25;  // it tells the time with the interruptions
  EXPECT_EQ(ContradictionOf(never_alone), "") << "what it waited for a CPU it did not use";
  FakeSampler warm(1e6, 1e6);
  warm.alone_factor = {0.4, 1};  // alternating arms evict each other from the caches
  EXPECT_EQ(ContradictionOf(warm), "");
  FakeSampler restored(1e6, 1e6);
  restored.alone_factor = {1, 5};
  EXPECT_EQ(ContradictionOf(restored, /*mutates=*/true), "");
}

TEST(TimingTest, StallsCountAgainstTheBudget) {
  FakeSampler sampler(1e6, 1e6);
  sampler.stall_every = 5;
  PhaseLog phases({});
  TimingResult result;
  ASSERT_FALSE(TimeArms(sampler, Request("sweep"), {}, phases, result).has_value());
  double seconds = 0;
  for (const auto& samples : result.samples_ns) {
    for (const int64_t ns : samples) seconds += 1e-9 * static_cast<double>(ns);
  }
  EXPECT_LT(seconds, 3) << "the policy gives 2 s";
}

// Waiting in there says nothing of the estimate.
TEST(TimingTest, TellsWhatTheMedianDoesNotShow) {
  FakeSampler sampler(2e6, 1e6);
  sampler.uncounted_ns = 1'000'000;
  PhaseLog phases({});
  TimingResult result;
  ASSERT_FALSE(TimeArms(sampler, Request("standard"), {}, phases, result).has_value());
  for (const int arm : {measure::kBaselineArm, measure::kCandidateArm}) {
    const double uncounted = 1e6 * static_cast<double>(result.samples_ns[arm].size() + result.warmup_calls / 2);
    EXPECT_GT(result.unshown_ns[arm], uncounted);
    EXPECT_LT(result.unshown_ns[arm], uncounted + 1e6 * (5 * result.warmup_calls + 200)) << "noise of 1 % and a check";
  }
  FakeSampler stalling(2e6, 1e6);
  stalling.stall_every = 10;
  TimingResult stalled;
  ASSERT_FALSE(TimeArms(stalling, Request("standard"), {}, phases, stalled).has_value());
  const double stalls = 2e7 * static_cast<double>(stalled.samples_ns[0].size()) / 10;
  EXPECT_GT(stalled.unshown_ns[0] + stalled.unshown_ns[1], stalls);
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
