#include "measure/quantiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay::measure {
namespace {

TEST(QuantilesTest, InterpolatesBetweenNeighbours) {
  const std::vector<double> values = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(Quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(Median(values), 2.5);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.95), 3.85);
  EXPECT_DOUBLE_EQ(Quantile(values, 1), 4);
  EXPECT_DOUBLE_EQ(Median(std::vector<double>{7}), 7);
}

TEST(QuantilesTest, EqualInfinitiesStayInfinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Median(std::vector<double>{-infinity, -infinity, -infinity, 1}), -infinity);
}

TEST(QuantilesTest, Summary) {
  const SampleSummary summary = Summarise(std::vector<double>{5, 1, 2, 4, 3});
  EXPECT_EQ(summary.count, 5);
  EXPECT_DOUBLE_EQ(summary.minimum, 1);
  EXPECT_DOUBLE_EQ(summary.lower_quartile, 2);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.upper_quartile, 4);
  EXPECT_DOUBLE_EQ(summary.p95, 4.8);
  EXPECT_DOUBLE_EQ(summary.maximum, 5);
  EXPECT_DOUBLE_EQ(summary.mean, 3);
  EXPECT_DOUBLE_EQ(summary.standard_deviation, std::sqrt(2.5));
}

TEST(QuantilesTest, SummaryOfOneAndOfNone) {
  EXPECT_EQ(Summarise({}).count, 0);
  const SampleSummary one = Summarise(std::vector<double>{2});
  EXPECT_EQ(one.count, 1);
  EXPECT_DOUBLE_EQ(one.p95, 2);
  EXPECT_DOUBLE_EQ(one.standard_deviation, 0);
}

}  // namespace
}  // namespace assay::measure
