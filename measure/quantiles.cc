#include "measure/quantiles.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::measure {
namespace {

double SortedQuantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const size_t below = std::min(static_cast<size_t>(position), sorted.size() - 1);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  // Neighbours that are equal (infinite ones too) need no interpolation.
  if (sorted[below] == sorted[above]) return sorted[below];
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

double Quantile(std::span<const double> values, double q) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return SortedQuantile(sorted, q);
}

double Median(std::span<const double> values) { return Quantile(values, 0.5); }

SampleSummary Summarise(std::span<const double> values) {
  SampleSummary summary;
  if (values.empty()) return summary;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  summary.count = static_cast<int64_t>(sorted.size());
  summary.minimum = sorted.front();
  summary.lower_quartile = SortedQuantile(sorted, 0.25);
  summary.median = SortedQuantile(sorted, 0.5);
  summary.upper_quartile = SortedQuantile(sorted, 0.75);
  summary.p95 = SortedQuantile(sorted, 0.95);
  summary.maximum = sorted.back();
  double sum = 0;
  for (double value : sorted) sum += value;
  summary.mean = sum / static_cast<double>(sorted.size());
  if (sorted.size() > 1) {
    double squares = 0;
    for (double value : sorted) squares += (value - summary.mean) * (value - summary.mean);
    summary.standard_deviation = std::sqrt(squares / static_cast<double>(sorted.size() - 1));
  }
  return summary;
}

}  // namespace assay::measure
