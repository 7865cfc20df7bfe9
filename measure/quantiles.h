// Order statistics of samples, with linear interpolation between neighbours (the definition of NumPy's default).
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

namespace assay::measure {

// The q-quantile. Preconditions: not empty, no NaN, 0 <= q <= 1.
double Quantile(std::span<const double> values, double q);
double Median(std::span<const double> values);

// What is shown of one arm's samples. All 0 without samples.
struct SampleSummary {
  int64_t count = 0;
  double minimum = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
  double p95 = 0;
  double maximum = 0;
  double mean = 0;
  double standard_deviation = 0;  // of the sample (n - 1); 0 for fewer than two
};
SampleSummary Summarise(std::span<const double> values);

}  // namespace assay::measure
