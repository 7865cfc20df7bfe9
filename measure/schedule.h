// How a trial's calls are timed: the measuring policy, when warm-up ends, how many calls make a sample, in which order
// the arms' samples are taken, and how many pairs are needed.
//
// The arms are 0 (baseline) and 1 (candidate). Size in two stages: a pilot is taken, the needed number of pairs is
// planned from it once, and the trial stops when they are there. Stopping when the interval happens to look narrow
// would give intervals that are too narrow.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay::measure {

inline constexpr int kBaselineArm = 0;
inline constexpr int kCandidateArm = 1;

struct WarmUpPolicy {
  int window = 5;         // calls whose medians are compared
  double settled = 0.05;  // settled where the newest window's median is at most this much below the one before
  int minimum_calls = 2;
  int maximum_calls = 100;
  double budget_seconds = 1;  // per arm
};

struct Policy {
  std::string name;
  double budget_seconds = 0;     // of timed samples, both arms, one process
  double target_half_width = 0;  // of the log speed-up; missed: `unstable`
  int pilot_pairs = 0;           // the pilot has at least so many pairs …
  double pilot_seconds = 0;      // … and lasts at least so long, within the limits below and the budget
  int maximum_pairs = 0;
  int processes = 1;  // fresh processes, each with the whole of the above
  double minimum_sample_seconds = 50e-6;
  WarmUpPolicy warm_up;
};

// `sweep` (2 s, 2 %), `standard` (10 s, 1 %) or `precise` (`standard` in 5 fresh processes). The error lists the names.
absl::StatusOr<Policy> PolicyFromName(std::string_view name);
// The error names the field that is out of range and its range.
absl::Status Validate(const Policy& policy);

// The processes that a policy's budget for one is spread over where each arm has a process of its own: enough for an
// interval, or 1. To start both arms again (load, compile) may take as long in all as the budget, and each process has
// room for some pairs. Both in seconds.
int SpreadProcesses(const Policy& policy, double start_seconds, double pair_seconds);
// The policy's half-width is for one process; arms in two are not unstable up to so many times it.
inline constexpr double kSpreadTarget = 2;
// What each of those processes gets. Precondition: processes >= 1.
Policy Spread(Policy policy, int processes);

enum class WarmUp : uint8_t {
  kContinue,
  kSettled,
  kGaveUp,  // the limit of calls or of time came first: time anyway, and say so
};
// What to do after the calls made so far, given their times in seconds, in order (one arm).
WarmUp JudgeWarmUp(const WarmUpPolicy& policy, std::span<const double> seconds);

// Calls that make one sample: the smallest number that lasts at least minimum_sample_seconds (1 for longer calls; at
// most 1,000,000). Precondition: call_seconds is not negative.
int CallsPerSample(double call_seconds, double minimum_sample_seconds);

// The arm of each sample, 2 * pairs of them: blocks of `run_length` samples of one arm, then as many of the other, the
// first arm random, each two neighbouring blocks one of either order (so a drift cancels). run_length 1 suits arms that
// share a process; longer runs save switches where the idle arm's process is stopped. The last block may be shorter.
// Equal seeds give equal orders on every machine. Preconditions: pairs >= 0, run_length >= 1.
std::vector<int> SampleOrder(uint64_t seed, int64_t pairs, int run_length = 1);

// The log ratios (baseline / candidate, per call) of the pairs of an order, in the order of time: within a block the
// i-th sample of one arm is paired with the i-th of the other. `samples` may be shorter than `order`; samples without a
// partner are left out. `calls[arm]` is the number of calls in a sample of the arm. An error where a sample is not
// above 0 (it names it), or where there are more samples than the order has.
absl::StatusOr<std::vector<double>> PairLogRatios(std::span<const int> order, std::span<const int64_t> samples_ns,
                                                  std::span<const int> calls, int run_length = 1);

// The pairs of the pilot: the policy's, fewer where the budget does not hold them, at least 1.
// `pair_seconds` is the expected time of one sample of each arm together.
int64_t PilotPairs(const Policy& policy, double pair_seconds);

enum class SizeLimit : uint8_t { kTarget, kBudget, kMaximumPairs };
// "target", "budget", "maximum_pairs".
std::string_view Name(SizeLimit limit);

struct SizePlan {
  int64_t pairs = 0;                     // in all, the pilot's included; never below the pilot's
  SizeLimit limit = SizeLimit::kTarget;  // what decided the number
};
// The pairs needed for the target half-width, from the pilot's log ratios.
SizePlan PlanPairs(const Policy& policy, std::span<const double> pilot_log_ratios, double pair_seconds);

// Whether an estimate with this half-width must be marked: it is wider than the policy's target.
bool IsUnstable(const Policy& policy, double half_width);

}  // namespace assay::measure
