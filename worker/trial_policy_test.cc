#include "worker/trial_policy.h"

#include "gmock/gmock.h"

namespace assay::worker {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMemory = 1000;

Config SmallConfig() {
  Config config;
  config.threads = 3;
  config.limits = {.load_seconds = 1, .compile_seconds = 2, .run_seconds = 4};
  return config;
}

v1::Policy TellOf(const v1::Policy& asked) {
  const absl::StatusOr<TrialPolicy> policy = ResolvePolicy(asked, SmallConfig(), kMemory);
  EXPECT_TRUE(policy.ok()) << policy.status();
  v1::Policy told;
  if (policy.ok()) Tell(*policy, asked, &told);
  return told;
}

TEST(TrialPolicyTest, WhatIsNotAskedForIsThisWorkersOwn) {
  const v1::Policy told = TellOf({});
  EXPECT_EQ(told.name(), "standard");
  EXPECT_EQ(told.threads(), 3);
  EXPECT_EQ(told.load_timeout_seconds(), 1);
  EXPECT_EQ(told.compile_timeout_seconds(), 2);
  EXPECT_EQ(told.run_timeout_seconds(), 4);
  EXPECT_EQ(told.memory_limit_bytes(), kMemory);
  EXPECT_EQ(told.replay(), "assay");
  EXPECT_EQ(told.cache(), "warm");
  EXPECT_GT(told.budget_seconds(), 0);
}

TEST(TrialPolicyTest, WhatIsAskedForGoesFirst) {
  v1::Policy asked;
  asked.set_name("sweep");
  asked.set_threads(1);
  asked.set_load_timeout_seconds(10);
  asked.set_budget_seconds(0.5);
  asked.set_half_width(0.25);
  asked.set_processes(3);
  asked.set_cache("cold");
  asked.set_memory_limit_bytes(400);
  asked.set_replay("assay-replay-1");
  const v1::Policy told = TellOf(asked);
  EXPECT_EQ(told.name(), "sweep");
  EXPECT_EQ(told.threads(), 1);
  EXPECT_EQ(told.load_timeout_seconds(), 10);
  EXPECT_EQ(told.budget_seconds(), 0.5);
  EXPECT_EQ(told.half_width(), 0.25);
  EXPECT_EQ(told.processes(), 3);
  EXPECT_EQ(told.cache(), "cold");
  EXPECT_EQ(told.memory_limit_bytes(), 400);
  EXPECT_EQ(told.replay(), "graphnet");
  EXPECT_LE(ResolvePolicy(asked, SmallConfig(), kMemory)->timing.pilot_seconds, 0.5);
  asked.set_memory_limit_bytes(2 * kMemory);
  EXPECT_EQ(TellOf(asked).memory_limit_bytes(), kMemory) << "more than there is";
}

TEST(TrialPolicyTest, CompilingOnlyHasNoTiming) {
  v1::Policy asked;
  asked.set_name("aot");
  asked.set_cache("lukewarm");
  const v1::Policy told = TellOf(asked);
  EXPECT_EQ(told.name(), "aot");
  EXPECT_EQ(told.cache(), "");
  EXPECT_EQ(told.budget_seconds(), 0);
  EXPECT_EQ(told.memory_limit_bytes(), kMemory);
}

TEST(TrialPolicyTest, SaysWhatItDoesNotKnow) {
  const auto refused = [](auto set, const char* text) {
    v1::Policy asked;
    set(asked);
    const absl::Status status = ResolvePolicy(asked, SmallConfig(), kMemory).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr(text));
  };
  refused([](v1::Policy& asked) { asked.set_name("hasty"); }, "hasty");
  refused([](v1::Policy& asked) { asked.set_cache("lukewarm"); }, "policy.cache is \"lukewarm\"");
  refused([](v1::Policy& asked) { asked.set_replay("other"); }, "policy.replay is 'other'");
}

}  // namespace
}  // namespace assay::worker
