#include "measure/speedup_difference.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace assay::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUpper = 0.975;      // of a two-sided 95 % interval
constexpr double kMostDegrees = 1e6;  // beyond: normal

double Quantile(double degrees) {
  if (degrees >= kMostDegrees) return boost::math::quantile(boost::math::normal_distribution<double>(), kUpper);
  return boost::math::quantile(boost::math::students_t(degrees), kUpper);
}

// The upper tail of Student's t.
double Tail(double degrees, double statistic) {
  if (degrees >= kMostDegrees) {
    return boost::math::cdf(boost::math::complement(boost::math::normal_distribution<double>(), statistic));
  }
  return boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), statistic));
}

// The degrees of freedom with which the standard error gives the half-width.
double DegreesOfFreedom(const MeasuredSpeedup& speedup) {
  const double wanted = speedup.half_width / speedup.standard_error;
  double low = 1, high = kMostDegrees;
  if (wanted >= Quantile(low)) return low;
  if (wanted <= Quantile(high)) return kInfinity;
  while (high / low > 1 + 1e-6) {
    const double middle = std::sqrt(low * high);
    (Quantile(middle) > wanted ? low : high) = middle;
  }
  return low;
}

}  // namespace

SpeedupDifference Subtract(const MeasuredSpeedup& after, const MeasuredSpeedup& before) {
  SpeedupDifference out;
  out.log_ratio = after.log_speedup - before.log_speedup;
  double variance = 0, denominator = 0;
  for (const MeasuredSpeedup* side : {&after, &before}) {
    if (!std::isfinite(side->half_width)) return out;
    if (side->half_width == 0) continue;
    if (!(side->standard_error > 0)) return out;
    const double square = side->standard_error * side->standard_error;
    variance += square;
    denominator += square * square / DegreesOfFreedom(*side);
  }
  out.standard_error = std::sqrt(variance);
  out.degrees_of_freedom = denominator > 0 ? variance * variance / denominator : kInfinity;
  const double half_width = Quantile(out.degrees_of_freedom) * out.standard_error;
  out.low = out.log_ratio - half_width;
  out.high = out.log_ratio + half_width;
  return out;
}

double EffectPValue(const SpeedupDifference& difference, double minimum_effect) {
  if (!difference.HasInterval()) return 1;
  const double beyond = std::abs(difference.log_ratio) - std::log1p(minimum_effect);
  if (beyond <= 0) return 1;
  if (difference.standard_error == 0) return 0;
  return 2 * Tail(difference.degrees_of_freedom, beyond / difference.standard_error);
}

std::vector<double> BenjaminiHochberg(std::span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_values[a] > p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  const double count = static_cast<double>(p_values.size());
  double lowest = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const double rank = count - static_cast<double>(i);  // 1 for the smallest
    lowest = std::min(lowest, p_values[order[i]] * count / rank);
    adjusted[order[i]] = lowest;
  }
  return adjusted;
}

std::vector<CorrectedVerdict> JudgeAll(std::span<const SpeedupDifference> differences, double minimum_effect) {
  std::vector<CorrectedVerdict> out(differences.size());
  std::vector<size_t> judged;
  std::vector<double> p_values;
  for (size_t i = 0; i < differences.size(); ++i) {
    if (!differences[i].HasInterval()) continue;
    judged.push_back(i);
    p_values.push_back(EffectPValue(differences[i], minimum_effect));
  }
  const std::vector<double> adjusted = BenjaminiHochberg(p_values);
  const double limit = std::log1p(minimum_effect);
  for (size_t k = 0; k < judged.size(); ++k) {
    const SpeedupDifference& difference = differences[judged[k]];
    CorrectedVerdict& verdict = out[judged[k]];
    verdict.p_value = adjusted[k];
    if (adjusted[k] <= kFalseDiscoveryRate) {
      verdict.verdict = difference.log_ratio > 0 ? Verdict::kFaster : Verdict::kSlower;
    } else if (difference.low >= -limit && difference.high <= limit) {
      verdict.verdict = Verdict::kSame;
    }
  }
  return out;
}

}  // namespace assay::measure
