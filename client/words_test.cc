#include "client/words.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::client {
namespace {

TEST(WordsTest, Durations) {
  EXPECT_EQ(Duration(0), "–");
  EXPECT_EQ(Duration(870), "870 ns");
  EXPECT_EQ(Duration(1240), "1.24 µs");
  EXPECT_EQ(Duration(12.34e6), "12.3 ms");
  EXPECT_EQ(Duration(5e9), "5.00 s");
  EXPECT_EQ(Duration(125e9), "2 min 05 s");
  EXPECT_EQ(Seconds(59.6), "1 min 00 s");
  EXPECT_EQ(Seconds(11400), "3 h 10 min");
}

TEST(WordsTest, SizesAndIntervals) {
  EXPECT_EQ(Bytes(1023), "1023 B");
  EXPECT_EQ(Bytes(1536), "1.5 KiB");
  EXPECT_EQ(Bytes(int64_t{19} << 30), "19 GiB");
  EXPECT_EQ(WithInterval(1.2345, 1.2, 1.3), "1.234 [1.200, 1.300]");
  EXPECT_EQ(WithInterval(1.5, 0, 0), "1.500");
  EXPECT_EQ(Fixed(std::nan(""), 2), "–");
}

TEST(WordsTest, ToleranceLevels) {
  EXPECT_EQ(CriticalT(-std::numeric_limits<double>::infinity()), "exact");
  EXPECT_EQ(CriticalT(std::numeric_limits<double>::infinity()), "never");
  EXPECT_EQ(CriticalT(-5), "-5.0");
}

TEST(WordsTest, Enumerations) {
  EXPECT_EQ(ClassWord(v1::COMPILE_FAIL), "compile_fail");
  EXPECT_EQ(ClassWord(v1::SHAPE_MISMATCH), "shape_mismatch");
  // As in Evaluation.counts: a class with another word there would not be shown.
  EXPECT_EQ(ClassWord(v1::NAN_MISMATCH), "nan");
  EXPECT_EQ(ClassWord(v1::INF_MISMATCH), "inf");
  EXPECT_EQ(DetailWord(v1::FAILURE_DETAIL_UNSPECIFIED), "");
  EXPECT_EQ(DetailWord(v1::OUT_OF_MEMORY), "out_of_memory");
  EXPECT_EQ(VerdictWord(v1::FASTER), "faster");
}

TEST(WordsTest, Times) {
  google::protobuf::Timestamp time;
  EXPECT_EQ(When(time), "–");
  time.set_seconds(1714566600);
  EXPECT_EQ(When(time), "2024-05-01T12:30");
}

}  // namespace
}  // namespace assay::client
