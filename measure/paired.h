// The estimate of a speed-up from paired samples, and the verdict on it.
//
// A pair is log(baseline time / candidate time) of two neighbouring samples (schedule.h): above 0 the candidate is
// faster. The estimate is the Hodges-Lehmann one of all pairs. For its interval the pairs, in the order of time, are
// cut into batches; the estimate is taken again without each batch in turn (the delete-a-group jackknife), and the
// interval is Student's t over the batches. So slow disturbances (drift, bursts, neighbours) widen the interval instead
// of being averaged away as if the samples were independent, and no estimate is taken of a handful of pairs, which
// would be unsteady where times have two modes.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace assay::measure {

// Hodges-Lehmann estimate of location: the median of the averages of each two values (each with itself too). Takes
// O(n log n), so that samples need no thinning. Precondition: not empty, every value finite.
double HodgesLehmann(std::span<const double> values);

struct PairedEstimate {
  double log_ratio = 0;  // log speed-up; exp() of it is the speed-up
  // 95 % interval of log_ratio; infinite where fewer than 3 pairs allow none.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double half_width = std::numeric_limits<double>::infinity();
  double standard_error = std::numeric_limits<double>::infinity();
  int64_t pairs = 0;
  int batches = 0;  // or processes, for CombineProcesses
  bool HasInterval() const { return batches >= 3; }
};

inline constexpr int kBatches = 10;
inline constexpr int kMinimumPairs = 3;  // fewer: no interval

// Estimate of the pairs in the order of time, with an interval from `batches` batches; from single pairs where a batch
// would get fewer than two. Without pairs: pairs = 0, log_ratio = 0. Preconditions: every value is finite; batches
// >= 3.
PairedEstimate EstimatePaired(std::span<const double> log_ratios, int batches = kBatches);

// The estimate with an interval that is wider by so much on either side: for an error that the samples cannot show.
// Precondition: by >= 0.
PairedEstimate Widened(PairedEstimate estimate, double by);

// What one pair of processes cannot show, a half-width of 95 %: where the kernel happened to put their memory makes one
// of two equal processes faster than the other. Measured as a standard deviation of 0.5 % (docs/measuring.md).
inline constexpr double kProcessLuck = 0.01;

// The half-width of the 95 % interval that the signed-rank test gives (Tukey's): right for independent pairs only, but
// steadier than the one from batches. Infinite for fewer than 6 pairs.
double SignedRankHalfWidth(std::span<const double> log_ratios);

// One estimate from those of several fresh processes: their mean, and Student's t over the processes (3 or more, else
// no interval), so that what differs from process to process (addresses, tuning) is in the interval.
PairedEstimate CombineProcesses(std::span<const PairedEstimate> processes);

enum class Verdict : uint8_t { kFaster, kSlower, kSame, kUnclear };
// "faster", "slower", "same", "unclear".
std::string_view Name(Verdict verdict);
std::optional<Verdict> VerdictFromName(std::string_view name);

inline constexpr double kMinimumEffect = 0.01;

// kFaster: the whole interval lies above a speed-up of 1 + minimum_effect; kSlower: below its inverse; kSame: between
// the two; else, or without an interval, kUnclear.
Verdict Judge(const PairedEstimate& estimate, double minimum_effect = kMinimumEffect);

// The standard error behind a 95 % half-width; 0 ("unknown") where the half-width is not finite.
// Precondition: batches >= 2.
double StandardErrorFromHalfWidth(double half_width, int batches = kBatches);

// Two-sided p-value of Student's t test that log_ratio is 0; 1 without an interval.
double PValue(const PairedEstimate& estimate);

}  // namespace assay::measure
