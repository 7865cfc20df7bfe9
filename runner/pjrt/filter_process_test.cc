#include "runner/pjrt/filter_process.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/pjrt/status.h"

namespace assay::pjrt {
namespace {

using testing::HasSubstr;

TEST(RunFilter, MovesMoreThanAPipeHolds) {
  const std::string input(4 << 20, 'x');
  const auto output = RunFilter({"cat"}, input, 8 << 20);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(*output, input);
}

TEST(RunFilter, AChildMayLeaveItsInput) {
  const auto output = RunFilter({"sh", "-c", "echo done"}, std::string(4 << 20, 'x'), 100);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(*output, "done\n");
}

TEST(RunFilter, SaysHowItEnded) {
  EXPECT_THAT(std::string(Said(RunFilter({"sh", "-c", "exit 3"}, "", 100).status())), HasSubstr("the code 3"));
  const auto killed = RunFilter({"sh", "-c", "kill -9 $$"}, "", 100);
  EXPECT_TRUE(absl::IsResourceExhausted(killed.status())) << killed.status();
  const auto aborted = RunFilter({"sh", "-c", "kill -6 $$"}, "", 100);
  EXPECT_TRUE(absl::IsInternal(aborted.status())) << aborted.status();
}

TEST(RunFilter, BoundsTheOutput) {
  const auto output = RunFilter({"cat", "/dev/zero"}, "", 1 << 20);
  EXPECT_TRUE(absl::IsResourceExhausted(output.status())) << output.status();
}

TEST(RunFilter, ACommandThatIsNotThereIsNamed) {
  const auto output = RunFilter({"/nowhere/python"}, "", 100);
  EXPECT_TRUE(absl::IsFailedPrecondition(output.status()));
  EXPECT_THAT(std::string(Said(output.status())), HasSubstr("/nowhere/python"));
}

}  // namespace
}  // namespace assay::pjrt
