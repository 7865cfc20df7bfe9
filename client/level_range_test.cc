#include "client/level_range.h"

#include "gtest/gtest.h"

namespace assay::client {
namespace {

TEST(LevelRangeTest, IsOneLevelOrARange) {
  struct Case {
    const char* text;
    double from, to, step;
  };
  for (const Case& c : {Case{"0", 0, 0, 1}, Case{"-3.5", -3.5, -3.5, 1}, Case{"-5:1", -5, 1, 1},
                        Case{"-5:1:0.25", -5, 1, 0.25}, Case{"1e0:2:1", 1, 2, 1}}) {
    const absl::StatusOr<LevelRange> range = ParseLevelRange(c.text);
    ASSERT_TRUE(range.ok()) << range.status();
    EXPECT_EQ(range->from, c.from);
    EXPECT_EQ(range->to, c.to);
    EXPECT_EQ(range->step, c.step);
  }
}

TEST(LevelRangeTest, RefusesTheRest) {
  for (const char* text :
       {"", ":", "a", "1:", ":1", "1:2:", "1:2:0", "1:2:-1", "2:1", "1:2:3:4", "nan", "-inf:0", "0:inf:1", "1 :2"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseLevelRange(text).status())) << text;
  }
}

}  // namespace
}  // namespace assay::client
