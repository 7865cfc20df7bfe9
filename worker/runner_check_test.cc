#include "worker/runner_check.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/sandbox.h"

namespace assay::worker {
namespace {

using testing::HasSubstr;

std::vector<CheckResult> Check(std::vector<std::string> arguments) {
  Config config;
  config.sandbox = ProbeSandbox(SandboxLevel::kFull).ok() ? SandboxLevel::kFull : SandboxLevel::kNone;
  RunnerConfig runner;
  runner.name = "checked";
  runner.command = {std::filesystem::path(FAKE_RUNNER).lexically_normal().string()};
  runner.command.insert(runner.command.end(), arguments.begin(), arguments.end());
  return CheckRunner(runner, config);
}

TEST(RunnerCheckTest, AGoodRunnerPasses) {
  for (const char* mode : {"", "--fork", "--lower", "--lowered", "--helper", "--compile-only"}) {
    const std::vector<CheckResult> results = Check({mode});
    EXPECT_GT(results.size(), 12u);
    for (const CheckResult& result : results) EXPECT_TRUE(result.passed) << result.what << ": " << result.message;
  }
}

TEST(RunnerCheckTest, SaysWhatIsWrong) {
  const std::vector<CheckResult> ends = Check({"--exit-at-start"});
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_FALSE(ends[0].passed);
  EXPECT_THAT(ends[0].message, HasSubstr("no such device"));

  const std::vector<CheckResult> open = Check({"--open-options"});
  ASSERT_EQ(open.size(), 1u);
  EXPECT_THAT(open[0].message, HasSubstr("additionalProperties"));

  std::string failures;
  for (const CheckResult& result : Check({"--no-budget"})) {
    if (!result.passed) failures += result.what + "\n";
  }
  EXPECT_EQ(failures, "eager: pair: stops after its budget\nfake: pair: stops after its budget\n");

  failures.clear();
  for (const CheckResult& result : Check({"--stale"})) {
    if (!result.passed) failures += result.what + "\n";
  }
  EXPECT_THAT(failures, HasSubstr("other inputs give other outputs"));
}

}  // namespace
}  // namespace assay::worker
