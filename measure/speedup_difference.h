// The difference of two speed-ups that were measured against one baseline, and verdicts on many such differences.
//
// Each speed-up comes with a 95 % half-width (Student's t) and the standard error behind it; their ratio tells the
// degrees of freedom, and Welch's formula those of the difference. A difference departs where the hypothesis that it is
// at most the minimum effect is refuted; over many graphs the p-values are corrected by Benjamini and Hochberg, so that
// of those called faster or slower at most 5 % are wrongly called so.
//
// Thread safety: pure functions.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "measure/paired.h"

namespace assay::measure {

struct MeasuredSpeedup {
  double log_speedup = 0;
  double half_width = std::numeric_limits<double>::infinity();  // of the 95 % interval; infinite: none
  double standard_error = 0;                                    // 0: unknown, or no spread at all
};

struct SpeedupDifference {
  double log_ratio = 0;  // log(speed-up after / speed-up before): above 0 the later one is faster
  double low = -std::numeric_limits<double>::infinity();  // 95 % interval
  double high = std::numeric_limits<double>::infinity();
  double standard_error = std::numeric_limits<double>::infinity();
  double degrees_of_freedom = 0;  // infinite: normal
  bool HasInterval() const { return low > -std::numeric_limits<double>::infinity(); }
};

// Without an interval on either side there is none.
SpeedupDifference Subtract(const MeasuredSpeedup& after, const MeasuredSpeedup& before);

// Two-sided p-value of the hypothesis that the true ratio is within the minimum effect; 1 without an interval. Below
// 0.05 exactly where the 95 % interval lies outside of the minimum effect on one side.
double EffectPValue(const SpeedupDifference& difference, double minimum_effect = kMinimumEffect);

// The p-values adjusted for their number, in the order given: those at most q are a set with a false discovery rate of
// at most q. Preconditions: each is in [0, 1].
std::vector<double> BenjaminiHochberg(std::span<const double> p_values);

inline constexpr double kFalseDiscoveryRate = 0.05;

struct CorrectedVerdict {
  Verdict verdict = Verdict::kUnclear;
  double p_value = 1;  // adjusted
};
// kFaster and kSlower by adjusted p-values; kSame where the interval is within the minimum effect; else kUnclear.
// Differences without an interval are unclear and do not count among the many.
std::vector<CorrectedVerdict> JudgeAll(std::span<const SpeedupDifference> differences,
                                       double minimum_effect = kMinimumEffect);

}  // namespace assay::measure
