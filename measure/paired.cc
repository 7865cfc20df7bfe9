#include "measure/paired.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <iterator>
#include <vector>

namespace assay::measure {
namespace {

constexpr double kConfidence = 0.95;
constexpr std::string_view kVerdictNames[] = {"faster", "slower", "same", "unclear"};

// Up to so many values all the averages are listed; above, they are counted.
constexpr size_t kListedValues = 64;

// Median of `values`, which it reorders; the mean of the middle two where their number is even.
double MedianInPlace(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// The Walsh averages (of each two values, each with itself too) of a sorted list, without listing them.
class WalshAverages {
 public:
  explicit WalshAverages(std::span<const double> sorted) : sorted_(sorted) {}

  size_t Count() const { return sorted_.size() * (sorted_.size() + 1) / 2; }

  // The average of this rank, 0 for the smallest. Bisects until few are left, and lists those.
  double AtRank(size_t rank) const {
    double low = std::nextafter(sorted_.front(), -std::numeric_limits<double>::infinity());
    double high = sorted_.back();
    size_t below = 0;  // averages that are at most `low`; more than `rank` are at most `high`
    size_t within = Count();
    while (within > 4 * sorted_.size()) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return high;
      const size_t at_most = CountAtMost(middle);
      if (at_most > rank) {
        high = middle;
        within = at_most - below;
      } else {
        low = middle;
        within -= at_most - below;
        below = at_most;
      }
    }
    std::vector<double> left;
    left.reserve(within);
    for (size_t i = 0; i < sorted_.size(); ++i) {
      for (size_t j = std::max(i, FirstPartnerAbove(i, low)); j < sorted_.size() && Average(i, j) <= high; ++j) {
        left.push_back(Average(i, j));
      }
    }
    const auto wanted = left.begin() + static_cast<ptrdiff_t>(rank - below);
    std::nth_element(left.begin(), wanted, left.end());
    return *wanted;
  }

 private:
  double Average(size_t i, size_t j) const { return (sorted_[i] + sorted_[j]) / 2; }

  size_t CountAtMost(double limit) const {
    size_t count = 0;
    size_t partners = sorted_.size();  // values whose average with sorted_[i] is at most the limit; falls with i
    for (size_t i = 0; i < sorted_.size(); ++i) {
      while (partners > i && Average(i, partners - 1) > limit) --partners;
      if (partners <= i) break;
      count += partners - i;
    }
    return count;
  }

  size_t FirstPartnerAbove(size_t i, double limit) const {
    const auto found = std::partition_point(sorted_.begin(), sorted_.end(),
                                            [&](double value) { return (sorted_[i] + value) / 2 <= limit; });
    return static_cast<size_t>(found - sorted_.begin());
  }

  std::span<const double> sorted_;
};

// Fills in the interval around `estimate.log_ratio` from independent estimates of it.
void SetInterval(std::span<const double> parts, PairedEstimate& estimate) {
  estimate.batches = static_cast<int>(parts.size());
  if (!estimate.HasInterval()) return;
  const double n = static_cast<double>(parts.size());
  double mean = 0;
  for (double part : parts) mean += part / n;
  double squares = 0;
  for (double part : parts) squares += (part - mean) * (part - mean);
  estimate.standard_error = std::sqrt(squares / (n - 1) / n);
  const boost::math::students_t distribution(n - 1);
  estimate.half_width = boost::math::quantile(distribution, (1 + kConfidence) / 2) * estimate.standard_error;
  estimate.low = estimate.log_ratio - estimate.half_width;
  estimate.high = estimate.log_ratio + estimate.half_width;
}

}  // namespace

double HodgesLehmann(std::span<const double> values) {
  if (values.size() <= kListedValues) {
    std::vector<double> averages;
    averages.reserve(values.size() * (values.size() + 1) / 2);
    for (size_t i = 0; i < values.size(); ++i) {
      for (size_t j = i; j < values.size(); ++j) averages.push_back((values[i] + values[j]) / 2);
    }
    return MedianInPlace(averages);
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const WalshAverages averages(sorted);
  const size_t middle = averages.Count() / 2;
  const double upper = averages.AtRank(middle);
  return averages.Count() % 2 == 1 ? upper : (averages.AtRank(middle - 1) + upper) / 2;
}

PairedEstimate EstimatePaired(std::span<const double> log_ratios, int batches) {
  PairedEstimate estimate;
  const size_t pairs = log_ratios.size();
  estimate.pairs = static_cast<int64_t>(pairs);
  if (pairs == 0) return estimate;
  estimate.log_ratio = HodgesLehmann(log_ratios);
  const size_t groups = static_cast<size_t>(batches);
  if (pairs < 2 * groups) {
    SetInterval(log_ratios, estimate);
    return estimate;
  }
  std::vector<double> parts;  // the jackknife's pseudo-values
  std::vector<double> rest;
  for (size_t i = 0; i < groups; ++i) {
    const size_t begin = i * pairs / groups;
    const size_t end = (i + 1) * pairs / groups;
    rest.assign(log_ratios.begin(), log_ratios.begin() + static_cast<ptrdiff_t>(begin));
    rest.insert(rest.end(), log_ratios.begin() + static_cast<ptrdiff_t>(end), log_ratios.end());
    const double weight = static_cast<double>(groups);
    parts.push_back(weight * estimate.log_ratio - (weight - 1) * HodgesLehmann(rest));
  }
  SetInterval(parts, estimate);
  return estimate;
}

PairedEstimate Widened(PairedEstimate estimate, double by) {
  if (by == 0 || !estimate.HasInterval()) return estimate;
  const double half_width = estimate.half_width + by;
  // The test of compared evaluations takes the standard error: it must not be surer than the interval.
  estimate.standard_error =
      estimate.half_width > 0 ? estimate.standard_error * half_width / estimate.half_width : half_width;
  estimate.half_width = half_width;
  estimate.low = estimate.log_ratio - half_width;
  estimate.high = estimate.log_ratio + half_width;
  return estimate;
}

double SignedRankHalfWidth(std::span<const double> log_ratios) {
  const double n = static_cast<double>(log_ratios.size());
  if (n < 6) return std::numeric_limits<double>::infinity();
  const boost::math::normal_distribution<double> normal;
  const double spread =
      boost::math::quantile(normal, (1 + kConfidence) / 2) * std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
  std::vector<double> sorted(log_ratios.begin(), log_ratios.end());
  std::sort(sorted.begin(), sorted.end());
  const WalshAverages averages(sorted);
  const double middle = static_cast<double>(averages.Count() - 1) / 2;
  const auto low = static_cast<size_t>(std::max(0.0, std::floor(middle - spread)));
  return (averages.AtRank(averages.Count() - 1 - low) - averages.AtRank(low)) / 2;
}

PairedEstimate CombineProcesses(std::span<const PairedEstimate> processes) {
  PairedEstimate estimate;
  std::vector<double> parts;
  parts.reserve(processes.size());
  for (const PairedEstimate& process : processes) {
    if (process.pairs == 0) continue;
    parts.push_back(process.log_ratio);
    estimate.pairs += process.pairs;
  }
  if (parts.empty()) return estimate;
  for (double part : parts) estimate.log_ratio += part / static_cast<double>(parts.size());
  SetInterval(parts, estimate);
  return estimate;
}

std::string_view Name(Verdict verdict) { return kVerdictNames[static_cast<size_t>(verdict)]; }

std::optional<Verdict> VerdictFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kVerdictNames); ++i) {
    if (kVerdictNames[i] == name) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

Verdict Judge(const PairedEstimate& estimate, double minimum_effect) {
  if (!estimate.HasInterval()) return Verdict::kUnclear;
  const double limit = std::log1p(minimum_effect);
  if (estimate.low > limit) return Verdict::kFaster;
  if (estimate.high < -limit) return Verdict::kSlower;
  if (estimate.low >= -limit && estimate.high <= limit) return Verdict::kSame;
  return Verdict::kUnclear;
}

double StandardErrorFromHalfWidth(double half_width, int batches) {
  if (!std::isfinite(half_width)) return 0;
  const boost::math::students_t distribution(batches - 1);
  return half_width / boost::math::quantile(distribution, (1 + kConfidence) / 2);
}

double PValue(const PairedEstimate& estimate) {
  if (!estimate.HasInterval()) return 1;
  if (estimate.standard_error == 0) return estimate.log_ratio == 0 ? 1 : 0;
  const boost::math::students_t distribution(estimate.batches - 1);
  const double statistic = std::abs(estimate.log_ratio / estimate.standard_error);
  return 2 * boost::math::cdf(boost::math::complement(distribution, statistic));
}

}  // namespace assay::measure
