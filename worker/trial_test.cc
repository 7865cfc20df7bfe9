// Trials that end well, through the real code: the real runner processes, sandboxed where this machine can, with the
// fake runner.
#include <filesystem>

#include "gmock/gmock.h"
#include "measure/paired.h"
#include "worker/device_lock.h"
#include "worker/trial_fixture.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST_F(TrialTest, OneProcess) {
  AddRunner("default", {});
  const v1::Measurement m = Measure(Assign("slow"));
  ExpectWhole(m);
  EXPECT_TRUE(m.timing().one_process());
  EXPECT_FALSE(m.self_reported());
  EXPECT_NEAR(m.timing().log_speedup(), std::log(1.0 / 3), 0.3) << "300 us against 100 us";
  EXPECT_TRUE(std::isinf(m.critical_t()));
}

TEST_F(TrialTest, ForkedChildOfAWarmParent) {
  AddRunner("default", {"--fork"});
  for (int i = 0; i < 3; ++i) ExpectWhole(Measure(Assign("nearly")));
  EXPECT_EQ(Measure(Assign("run-abort")).signal(), SIGABRT);
  EXPECT_EQ(Measure(Assign("compile-exit")).exit_code(), 17);
  ExpectWhole(Measure(Assign("none")));
}

TEST_F(TrialTest, TimesByADevicesClockAreToldOfTheArmsThatHaveOne) {
  AddRunner("default", {"--device-clock"});
  AddRunner("clockless", {});
  const v1::Measurement m = Measure(Assign("slow"));
  ExpectWhole(m);
  ASSERT_EQ(m.timing().baseline_device_quantiles_ns_size(), 5);
  ASSERT_EQ(m.timing().candidate_device_quantiles_ns_size(), 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(m.timing().baseline_device_quantiles_ns(i), m.timing().baseline_quantiles_ns(i) / 2, 1);
    EXPECT_NEAR(m.timing().candidate_device_quantiles_ns(i), m.timing().candidate_quantiles_ns(i) / 2, 1);
  }
  EXPECT_NEAR(m.timing().log_speedup(), std::log(1.0 / 3), 0.3) << "of the host's times";
  const v1::Measurement mixed = Measure(Assign("none", "clockless"));
  ExpectWhole(mixed);
  EXPECT_FALSE(mixed.timing().one_process());
  EXPECT_EQ(mixed.timing().baseline_device_quantiles_ns_size(), 5);
  EXPECT_EQ(mixed.timing().candidate_device_quantiles_ns_size(), 0);
}

TEST_F(TrialTest, TwoProcesses) {
  AddRunner("default", {"--fork"});
  AddRunner("nightly", {});
  const v1::Measurement m = Measure(Assign("slow", "nightly"));
  ExpectWhole(m);
  EXPECT_FALSE(m.timing().one_process());
  EXPECT_NEAR(m.timing().log_speedup(), std::log(1.0 / 3), 0.4);
}

TEST_F(TrialTest, TwoProcessesWhereThePolicyWantsThem) {
  AddRunner("default", {"--fork"});
  v1::Assignment assignment = Assign("none");
  assignment.mutable_policy()->set_two_processes(true);
  assignment.mutable_policy()->set_budget_seconds(1);
  const v1::Measurement m = Measure(assignment);
  ExpectWhole(m);
  EXPECT_FALSE(m.timing().one_process());
  EXPECT_TRUE(m.policy().two_processes());
  // The luck of one pair of processes must be in the interval: there are several, and it is taken over them.
  EXPECT_GE(m.timing().processes(), 3);
  EXPECT_EQ(m.timing().batches(), m.timing().processes());
  const auto& told = m.conditions().fields().at("processes").list_value().values();
  ASSERT_EQ(told.size(), m.timing().processes()) << "of each pair, not of the first and the last";
  for (const auto& process : told) {
    const auto& fields = process.struct_value().fields();
    EXPECT_TRUE(fields.at("before").struct_value().fields().contains("load_average"));
    EXPECT_TRUE(fields.at("after").struct_value().fields().contains("load_average"));
    EXPECT_EQ(fields.at("cpu_waited_share").list_value().values_size(), 2);
  }
  // Where the budget does not pay for another start, one pair has to do, and its interval says so.
  assignment.mutable_policy()->set_budget_seconds(0.05);
  const v1::Measurement short_one = Measure(assignment);
  EXPECT_EQ(short_one.timing().processes(), 1);
  EXPECT_GE(short_one.timing().high() - short_one.timing().low(), 2 * measure::kProcessLuck);
  assignment = Assign("slow-clock");
  assignment.mutable_policy()->set_two_processes(true);
  EXPECT_EQ(Measure(assignment).detail(), v1::CHEATING);
}

TEST_F(TrialTest, ARunnerThatIsNotTrustedIsTimedByTheWorker) {
  AddRunner("default", {}, /*trusted=*/false);
  // Would be a contradiction if `pair` were used.
  const v1::Measurement m = Measure(Assign("pair-lies"));
  ExpectWhole(m);
  EXPECT_TRUE(m.self_reported());
}

TEST_F(TrialTest, SeveralProcesses) {
  AddRunner("default", {"--fork"});
  v1::Assignment assignment = Assign("none");
  assignment.mutable_policy()->set_processes(3);
  const v1::Measurement m = Measure(assignment);
  ExpectWhole(m);
  EXPECT_EQ(m.timing().processes(), 3);
  EXPECT_EQ(m.timing().batches(), 3);
}

std::vector<std::string> PhaseNames(const v1::Measurement& m) {
  std::vector<std::string> names;
  for (const v1::Phase& phase : m.phases()) names.push_back(phase.name());
  return names;
}

TEST_F(TrialTest, WhatARunnerLoweredIsKeptForItsNextTrialOfTheGraph) {
  AddRunner("default", {});
  AddRunner("lowering", {"--lower"});
  for (const char* kept : {"lowering with ''", "lowering with 'greetings'"}) {
    const v1::Measurement m = Measure(Assign("run-error", "lowering"));
    EXPECT_EQ(m.failed_phase(), "run.candidate") << m.message();
    EXPECT_THAT(m.evidence(), HasSubstr(kept));
    EXPECT_THAT(PhaseNames(m), testing::IsSupersetOf({"lower.candidate", "compile.candidate"}));
    for (const v1::Phase& phase : m.phases()) {
      if (phase.name() != "lower.candidate") continue;
      EXPECT_EQ(phase.duration_ns(), 1000) << "the runner's own time, apart from that of compile";
      EXPECT_FALSE(phase.harness());
    }
  }
  // Another runner environment starts from nothing.
  AddRunner("another", {"--lower"});
  runners_.back().offer.set_environment_hash("another");
  EXPECT_THAT(Measure(Assign("run-error", "another")).evidence(), HasSubstr("lowering with ''"));
}

TEST_F(TrialTest, APolicyThatOnlyCompilesRunsNothing) {
  AddRunner("default", {"--compile-only"});
  EXPECT_TRUE(runners_[0].offer.compiles_only());
  v1::Assignment assignment = Assign("none");
  assignment.clear_baseline();
  assignment.mutable_policy()->Clear();
  assignment.mutable_policy()->set_name("aot");
  const v1::Measurement m = Measure(assignment);
  EXPECT_EQ(m.outcome_class(), v1::COMPILED) << m.message();
  EXPECT_FALSE(m.has_baseline());
  EXPECT_FALSE(m.has_timing());
  EXPECT_EQ(m.comparisons_size(), 0);
  EXPECT_EQ(m.policy().name(), "aot");
  EXPECT_EQ(m.candidate().compile_ns(), 1000);
  EXPECT_EQ(m.candidate().executable_bytes(), 2048);
  EXPECT_EQ(m.candidate().memory().size(), 1u);
  EXPECT_EQ(m.candidate().memory().at("temp_bytes"), 1024);
  EXPECT_EQ(m.candidate().cost_estimate().at("flops"), 12.5);
  EXPECT_EQ(m.candidate().cost_estimate().at("calls"), 3);
  ASSERT_EQ(m.candidate().artifacts_size(), 1);
  EXPECT_FALSE(m.candidate().artifacts(0).content().empty());
  (*assignment.mutable_candidate()->mutable_options()->mutable_fields())["trick"].set_string_value("compile-error");
  const v1::Measurement failed = Measure(assignment);
  EXPECT_EQ(failed.outcome_class(), v1::COMPILE_FAIL);
  EXPECT_EQ(failed.failed_phase(), "compile.candidate");
}

TEST_F(TrialTest, AnyTargetCanBeOnlyCompiledAndWeightsTakeNoMemory) {
  AddRunner("default", {"--fork"});
  v1::Assignment assignment = Assign("run-abort");
  assignment.clear_baseline();
  assignment.mutable_policy()->set_name("aot");
  assignment.mutable_policy()->set_memory_limit_bytes(1);  // less than its inputs have
  EXPECT_EQ(Measure(assignment).outcome_class(), v1::COMPILED);
}

TEST_F(TrialTest, WhatCannotBeLoweredIsACompileFailure) {
  AddRunner("default", {});
  AddRunner("lowering", {"--lower-error"});
  const v1::Measurement m = Measure(Assign("none", "lowering"));
  EXPECT_EQ(m.outcome_class(), v1::COMPILE_FAIL);
  EXPECT_EQ(m.failed_phase(), "lower.candidate");
  EXPECT_THAT(m.message(), HasSubstr("the fake runner says compile_fail"));
  EXPECT_THAT(m.evidence(), HasSubstr("lowering with ''"));
  EXPECT_THAT(Measure(Assign("none", "lowering")).evidence(), HasSubstr("lowering with 'greetings'"))
      << "what was kept of a failure";
}

TEST_F(TrialTest, AFloat64ReferenceSaysWhichSideIsWrong) {
  AddRunner("default", {});
  v1::Assignment assignment = Assign("nearly");
  EXPECT_FALSE(Measure(assignment).has_reference());
  assignment.mutable_policy()->set_reference_float64(true);
  const v1::Measurement m = Measure(assignment);
  EXPECT_EQ(m.outcome_class(), v1::CORRECT) << m.message();
  EXPECT_TRUE(m.policy().reference_float64());
  ASSERT_EQ(m.reference().failure(), "");
  EXPECT_EQ(m.reference().runner(), "fake");
  EXPECT_EQ(m.reference().baseline().critical_t(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(m.reference().candidate().critical_t(), m.critical_t()) << "the baseline is exact";
  EXPECT_GT(m.reference().candidate().max_abs_diff(), 0);
  EXPECT_THAT(PhaseNames(m), testing::IsSupersetOf({"load.reference", "compile.reference", "run.reference", "timing"}));

  // Where the outputs differ it is what one wants to know, and the outcome stays.
  assignment = Assign("none", "default", "nan");
  assignment.mutable_policy()->set_reference_float64(true);
  const v1::Measurement wrong = Measure(assignment);
  EXPECT_EQ(wrong.outcome_class(), v1::NAN_MISMATCH);
  EXPECT_EQ(wrong.failed_phase(), "compare");
  EXPECT_EQ(wrong.reference().baseline().outcome_class(), v1::NAN_MISMATCH) << "here the baseline is wrong";
  EXPECT_EQ(wrong.reference().candidate().outcome_class(), v1::CORRECT);

  // Other outputs than a narrower run's: no reference, and the reason.
  assignment = Assign("wrong-dtype");
  assignment.mutable_policy()->set_reference_float64(true);
  const v1::Measurement other = Measure(assignment);
  EXPECT_EQ(other.outcome_class(), v1::TYPE_MISMATCH);
  EXPECT_THAT(other.reference().failure(), HasSubstr("another dtype or shape"));
  EXPECT_FALSE(other.reference().has_baseline());
}

TEST_F(TrialTest, ColdCachesAreAskedForBeforeEachTimedCall) {
  AddRunner("default", {});
  AddRunner("reporting", {}, /*trusted=*/false);
  v1::Assignment assignment = Assign("none");
  (*assignment.mutable_candidate()->mutable_options()->mutable_fields())["steps"].set_number_value(1);  // 1 µs a call
  EXPECT_GT(Measure(assignment).timing().calls_per_sample_candidate(), 1);
  EXPECT_EQ(Measure(assignment).policy().cache(), "warm");
  assignment.mutable_policy()->set_cache("cold");
  const v1::Measurement cold = Measure(assignment);
  EXPECT_EQ(cold.outcome_class(), v1::CORRECT) << cold.message();
  EXPECT_EQ(cold.policy().cache(), "cold");
  EXPECT_EQ(cold.timing().calls_per_sample_candidate(), 1) << "a second call would find the caches warm";
  EXPECT_EQ(cold.timing().calls_per_sample_baseline(), 1);
  for (const int64_t ns : cold.timing().candidate_samples_ns()) EXPECT_GE(ns, 300'000);
  for (const int64_t ns : cold.timing().baseline_samples_ns()) EXPECT_GE(ns, 400'000);
  // Whose calls the worker times has nobody to empty the caches.
  assignment.mutable_candidate()->set_environment("reporting");
  const v1::Measurement skipped = Measure(assignment);
  EXPECT_EQ(skipped.outcome_class(), v1::SKIPPED);
  EXPECT_EQ(skipped.detail(), v1::UNSUPPORTED);
  EXPECT_THAT(skipped.message(), HasSubstr("cold caches: the runner fake"));
}

TEST_F(TrialTest, ACompilerThatAnotherRunnerLowersFor) {
  AddRunner("default", {"--lowered"});
  EXPECT_EQ(LinkLowering(runners_), std::vector<std::string>{"elsewhere"}) << "nobody lowers for it";
  runners_.clear();
  AddRunner("default", {"--lowered"});
  AddRunner("default", {"--helper"});
  EXPECT_TRUE(LinkLowering(runners_).empty());
  const v1::Compiler& offered = runners_[0].offer.compilers(2);
  EXPECT_EQ(offered.name(), "elsewhere");
  EXPECT_EQ(offered.version(), "1.helper");
  EXPECT_TRUE(offered.options().fields().contains("properties"));

  v1::Assignment assignment = Assign("none");
  assignment.mutable_candidate()->set_compiler("elsewhere");
  assignment.mutable_candidate()->set_runner("fake");
  assignment.mutable_baseline()->set_runner("fake");
  const v1::Measurement m = Measure(assignment);
  EXPECT_EQ(m.outcome_class(), v1::CORRECT) << m.message();
  EXPECT_TRUE(m.timing().one_process()) << "the process that lowered is not an arm's";
  EXPECT_EQ(m.candidate().target().runner(), "fake");
  EXPECT_EQ(m.candidate().target().version(), "1.helper");
  EXPECT_EQ(m.candidate().compile_ns(), 7'001'000) << "both runners' parts";
  EXPECT_EQ(m.candidate().peak_memory_bytes(), 8192);
  EXPECT_EQ(m.baseline().compile_ns(), 1000);
  EXPECT_THAT(PhaseNames(m), testing::IsSupersetOf({"lower.candidate", "compile.candidate"}));
  EXPECT_THAT(m.environment().DebugString(), HasSubstr("helper")) << "it decides what is timed, too";

  // What goes wrong there is the candidate's, with that process's output.
  struct {
    const char* trick;
    v1::FailureDetail detail;
  } const cases[] = {{"compile-error", v1::ERROR}, {"compile-abort", v1::SIGNAL}, {"no-output", v1::PROTOCOL}};
  for (const auto& [trick, detail] : cases) {
    (*assignment.mutable_candidate()->mutable_options()->mutable_fields())["trick"].set_string_value(trick);
    const v1::Measurement failed = Measure(assignment);
    EXPECT_EQ(failed.outcome_class(), v1::COMPILE_FAIL) << trick;
    EXPECT_EQ(failed.detail(), detail) << trick;
    EXPECT_EQ(failed.failed_phase(), "lower.candidate") << trick;
    EXPECT_THAT(failed.evidence(), HasSubstr(std::string("lowering for elsewhere with trick ") + trick));
  }

  // As a baseline, a failure is the baseline's.
  assignment = Assign("none", "default", "compile-error");
  assignment.mutable_candidate()->set_runner("fake");
  assignment.mutable_baseline()->set_compiler("elsewhere");
  assignment.mutable_baseline()->set_runner("fake");
  EXPECT_EQ(Measure(assignment).outcome_class(), v1::EAGER_FAIL);
}

TEST(LockNameTest, TheProcessorsOfAHostAreOneDevice) {
  v1::Device device;
  device.set_kind("cpu");
  device.set_id("cpu");
  EXPECT_EQ(LockName(device, false), "cpu");
  device.set_uuid("a1b2");  // the machine's, as a runner without a sandbox tells it
  EXPECT_EQ(LockName(device, false), "cpu");
  device.set_kind("tpu:v5e");
  device.set_id("tpu:v5e");
  EXPECT_EQ(LockName(device, true), "cpu") << "a device that is not there is compiled for on the host";
  device.set_kind("cuda");
  device.set_id("cuda:0");
  device.set_uuid("GPU-1234");
  EXPECT_EQ(LockName(device, false), "GPU-1234");
  device.clear_uuid();
  EXPECT_EQ(LockName(device, false), "cuda:0");
}

}  // namespace
}  // namespace assay::worker
