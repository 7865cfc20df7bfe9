#include "measure/schedule.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "measure/paired.h"
#include "measure/quantiles.h"
#include "measure/random.h"

namespace assay::measure {
namespace {

constexpr int kMaximumCalls = 1'000'000;
constexpr int kPairLimit = 1'000'000;
// The pilot's half-width is itself uncertain by a quarter: aim below the target, so that most trials meet it.
constexpr double kAim = 0.8;
// With three processes Student's t is 4.3, with five 2.8; more would cost more starts than they narrow the interval.
constexpr int kMinimumSpread = 3;
constexpr int kMaximumSpread = 5;
// Pairs of calls that a process has room for, at least.
constexpr double kSpreadPairs = 3;
constexpr std::string_view kLimitNames[] = {"target", "budget", "maximum_pairs"};

Policy Sweep() {
  Policy policy;
  policy.name = "sweep";
  policy.budget_seconds = 2;
  policy.target_half_width = 0.02;
  policy.pilot_pairs = 30;
  policy.pilot_seconds = 0.1;
  policy.maximum_pairs = 2000;
  policy.warm_up.budget_seconds = 0.5;
  return policy;
}

Policy Standard() {
  Policy policy;
  policy.name = "standard";
  policy.budget_seconds = 10;
  policy.target_half_width = 0.01;
  policy.pilot_pairs = 60;
  policy.pilot_seconds = 0.5;
  policy.maximum_pairs = 10'000;
  policy.warm_up.budget_seconds = 2;
  return policy;
}

Policy Precise() {
  Policy policy = Standard();
  policy.name = "precise";
  policy.processes = 5;
  return policy;
}

absl::Status CheckRange(const Policy& policy, std::string_view field, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("policy \"{}\": {} is {}, must be from {} to {}", policy.name, field, value, low, high));
}

// Pairs that a time holds, within what an int64 and a list can take.
int64_t PairsIn(double seconds, double pair_seconds) {
  if (!(pair_seconds > 0)) return kPairLimit;
  return static_cast<int64_t>(std::min<double>(std::floor(seconds / pair_seconds), kPairLimit));
}

}  // namespace

absl::StatusOr<Policy> PolicyFromName(std::string_view name) {
  if (name == "sweep") return Sweep();
  if (name == "standard") return Standard();
  if (name == "precise") return Precise();
  return absl::InvalidArgumentError(
      fmt::format("unknown measuring policy \"{}\": use sweep, standard or precise", name));
}

absl::Status Validate(const Policy& policy) {
  struct Range {
    std::string_view field;
    double value, low, high;
  };
  const Range ranges[] = {
      {"budget_seconds", policy.budget_seconds, 0.001, 86'400},
      {"target_half_width", policy.target_half_width, 1e-4, 1},
      {"pilot_pairs", static_cast<double>(policy.pilot_pairs), 1, kPairLimit},
      {"pilot_seconds", policy.pilot_seconds, 0, policy.budget_seconds},
      {"maximum_pairs", static_cast<double>(policy.maximum_pairs), static_cast<double>(policy.pilot_pairs), kPairLimit},
      {"processes", static_cast<double>(policy.processes), 1, 100},
      {"minimum_sample_seconds", policy.minimum_sample_seconds, 0, 1},
      {"warm_up.window", static_cast<double>(policy.warm_up.window), 1, 1000},
      {"warm_up.settled", policy.warm_up.settled, 0, 1},
      {"warm_up.minimum_calls", static_cast<double>(policy.warm_up.minimum_calls), 1, kMaximumCalls},
      {"warm_up.maximum_calls", static_cast<double>(policy.warm_up.maximum_calls),
       static_cast<double>(policy.warm_up.minimum_calls), kMaximumCalls},
      {"warm_up.budget_seconds", policy.warm_up.budget_seconds, 0, 3600},
  };
  for (const Range& range : ranges) {
    if (absl::Status status = CheckRange(policy, range.field, range.value, range.low, range.high); !status.ok()) {
      return status;
    }
  }
  if (policy.processes == 2) {
    return absl::InvalidArgumentError(
        fmt::format("policy \"{}\": processes is 2, which gives no interval: use 1, or 3 or more", policy.name));
  }
  return absl::OkStatus();
}

int SpreadProcesses(const Policy& policy, double start_seconds, double pair_seconds) {
  const int64_t starts = 1 + PairsIn(policy.budget_seconds, start_seconds);
  const int64_t rooms = PairsIn(policy.budget_seconds, kSpreadPairs * pair_seconds);
  const int64_t processes = std::min<int64_t>({starts, rooms, kMaximumSpread});
  return processes < kMinimumSpread ? 1 : static_cast<int>(processes);
}

Policy Spread(Policy policy, int processes) {
  policy.budget_seconds /= processes;
  policy.pilot_seconds /= processes;
  policy.warm_up.budget_seconds /= processes;
  policy.pilot_pairs = std::max(1, policy.pilot_pairs / processes);
  policy.maximum_pairs = std::max(policy.pilot_pairs, policy.maximum_pairs / processes);
  return policy;
}

WarmUp JudgeWarmUp(const WarmUpPolicy& policy, std::span<const double> seconds) {
  if (seconds.empty()) return WarmUp::kContinue;
  const int64_t calls = static_cast<int64_t>(seconds.size());
  if (calls >= policy.minimum_calls) {
    // Where the budget holds few calls, compare what it holds: long calls are steadier than short ones.
    const int64_t affordable = PairsIn(policy.budget_seconds, 2 * Median(seconds));
    const int64_t window = std::clamp<int64_t>(affordable, 1, policy.window);
    if (calls >= 2 * window) {
      const double newest = Median(seconds.last(static_cast<size_t>(window)));
      const double before =
          Median(seconds.subspan(static_cast<size_t>(calls - 2 * window), static_cast<size_t>(window)));
      if (newest >= (1 - policy.settled) * before) return WarmUp::kSettled;
    }
  }
  double total = 0;
  for (double call : seconds) total += call;
  if (calls >= policy.maximum_calls || total >= policy.budget_seconds) return WarmUp::kGaveUp;
  return WarmUp::kContinue;
}

int CallsPerSample(double call_seconds, double minimum_sample_seconds) {
  if (call_seconds >= minimum_sample_seconds) return 1;
  if (!(call_seconds > 0)) return kMaximumCalls;
  return static_cast<int>(std::min<double>(std::ceil(minimum_sample_seconds / call_seconds), kMaximumCalls));
}

std::vector<int> SampleOrder(uint64_t seed, int64_t pairs, int run_length) {
  Random random(seed);
  std::vector<int> order;
  order.reserve(static_cast<size_t>(2 * pairs));
  int first = 0;
  bool mirrored = false;
  for (int64_t done = 0; done < pairs;) {
    const int64_t length = std::min<int64_t>(run_length, pairs - done);
    first = mirrored ? 1 - first : static_cast<int>(random.Below(2));
    mirrored = !mirrored;
    order.insert(order.end(), static_cast<size_t>(length), first);
    order.insert(order.end(), static_cast<size_t>(length), 1 - first);
    done += length;
  }
  return order;
}

absl::StatusOr<std::vector<double>> PairLogRatios(std::span<const int> order, std::span<const int64_t> samples_ns,
                                                  std::span<const int> calls, int run_length) {
  if (samples_ns.size() > order.size()) {
    return absl::InvalidArgumentError(
        fmt::format("there are {} samples, but the order has only {} entries", samples_ns.size(), order.size()));
  }
  if (calls.size() != 2 || calls[0] < 1 || calls[1] < 1) {
    return absl::InvalidArgumentError("the numbers of calls in a sample must be two, each at least 1");
  }
  for (size_t i = 0; i < samples_ns.size(); ++i) {
    if (samples_ns[i] <= 0) {
      return absl::InvalidArgumentError(
          fmt::format("sample {} lasts {} ns: a sample must last at least 1 ns", i, samples_ns[i]));
    }
  }
  const double log_calls_ratio = std::log(static_cast<double>(calls[kCandidateArm]) / calls[kBaselineArm]);
  std::vector<double> ratios;
  ratios.reserve(samples_ns.size() / 2);
  for (size_t begin = 0; begin < order.size();) {
    const size_t length = std::min<size_t>(static_cast<size_t>(run_length), (order.size() - begin) / 2);
    if (length == 0) return absl::InvalidArgumentError("the order has an odd number of samples");
    for (size_t i = 0; i < length; ++i) {
      const size_t one = begin + i;
      const size_t other = begin + length + i;
      if (order[one] < 0 || order[one] > 1 || order[one] != order[begin] || order[other] != 1 - order[begin]) {
        return absl::InvalidArgumentError(
            fmt::format("the order is not made of blocks of {} samples an arm: entries {} and {} are {} and {}",
                        run_length, one, other, order[one], order[other]));
      }
      if (other >= samples_ns.size()) continue;
      const size_t baseline = order[one] == kBaselineArm ? one : other;
      const size_t candidate = order[one] == kBaselineArm ? other : one;
      ratios.push_back(
          std::log(static_cast<double>(samples_ns[baseline]) / static_cast<double>(samples_ns[candidate])) +
          log_calls_ratio);
    }
    begin += 2 * length;
  }
  return ratios;
}

int64_t PilotPairs(const Policy& policy, double pair_seconds) {
  const int64_t wanted = std::max<int64_t>(policy.pilot_pairs, PairsIn(policy.pilot_seconds, pair_seconds));
  const int64_t allowed = std::min<int64_t>(policy.maximum_pairs, PairsIn(policy.budget_seconds, pair_seconds));
  return std::max<int64_t>(1, std::min(wanted, allowed));
}

std::string_view Name(SizeLimit limit) { return kLimitNames[static_cast<size_t>(limit)]; }

SizePlan PlanPairs(const Policy& policy, std::span<const double> pilot_log_ratios, double pair_seconds) {
  const int64_t pilot = static_cast<int64_t>(pilot_log_ratios.size());
  SizePlan plan;
  plan.pairs = policy.maximum_pairs;
  plan.limit = SizeLimit::kMaximumPairs;
  const PairedEstimate estimate = EstimatePaired(pilot_log_ratios);
  if (estimate.HasInterval()) {
    // Where the batches happen to agree, their half-width is too small, and stopping on it would make intervals that
    // are too narrow: it counts only where it is wider than that of independent pairs.
    const double half_width = std::max(estimate.half_width, SignedRankHalfWidth(pilot_log_ratios));
    const double excess = half_width / (kAim * policy.target_half_width);
    const double needed = std::ceil(static_cast<double>(pilot) * excess * excess);
    if (needed <= static_cast<double>(plan.pairs)) {
      plan.pairs = static_cast<int64_t>(needed);
      plan.limit = SizeLimit::kTarget;
    }
  }
  if (const int64_t affordable = PairsIn(policy.budget_seconds, pair_seconds); affordable < plan.pairs) {
    plan.pairs = affordable;
    plan.limit = SizeLimit::kBudget;
  }
  plan.pairs = std::max(plan.pairs, pilot);
  return plan;
}

bool IsUnstable(const Policy& policy, double half_width) { return !(half_width <= policy.target_half_width); }

}  // namespace assay::measure
