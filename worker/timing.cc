#include "worker/timing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fmt/format.h"
#include "measure/quantiles.h"
#include "measure/random.h"
#include "worker/scheduling.h"

namespace assay::worker {
namespace {

using measure::kBaselineArm;
using measure::kCandidateArm;

// The runner's times are held against the worker's over so long a request of each arm alone. On a crowded machine one
// such request may mislead: the runner is accused only where the best of so many tries contradicts the samples.
constexpr double kAloneSeconds = 0.05;
constexpr int kClockTries = 10;
constexpr double kClockFactor = 2;
// A call this long is dear: one trial in so many is checked.
constexpr double kDearSeconds = 1;
constexpr int kDearShare = 8;
// What a request takes besides its calls.
constexpr double kRequestSeconds = 0.02;

double NewestMedian(const std::vector<double>& seconds, int window) {
  const size_t n = std::min<size_t>(seconds.size(), window);
  return measure::Median(std::span<const double>(seconds).last(n));
}

// What samples took longer than their median, in sum.
int64_t ExcessNs(const std::vector<int64_t>& ns) {
  const double median = measure::Median(std::vector<double>(ns.begin(), ns.end()));
  double sum = 0;
  for (const int64_t one : ns) sum += std::max(0.0, static_cast<double>(one) - median);
  return static_cast<int64_t>(sum);
}

// A sample of the candidate, chosen at random; -1 where there is none.
int ChooseChecked(const std::vector<int>& order, measure::Random& random) {
  std::vector<int> candidates;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] == kCandidateArm) candidates.push_back(static_cast<int>(i));
  }
  return candidates.empty() ? -1 : candidates[random.Below(candidates.size())];
}

// Minimum, lower quartile, median, upper quartile, maximum.
void TellQuantiles(const std::vector<double>& calls, google::protobuf::RepeatedField<double>& quantiles) {
  const measure::SampleSummary summary = measure::Summarise(calls);
  for (const double value :
       {summary.minimum, summary.lower_quartile, summary.median, summary.upper_quartile, summary.maximum}) {
    quantiles.Add(value);
  }
}

class ArmTimer {
 public:
  ArmTimer(Sampler& sampler, TimingRequest request, std::stop_token stop, PhaseLog& phases, TimingResult& result)
      : sampler_(sampler),
        request_(std::move(request)),
        stop_(stop),
        phases_(phases),
        result_(result),
        random_(request_.seed) {}

  std::optional<SampleFailure> Run() {
    phases_.Begin("warm-up", /*harness=*/false);
    if (auto failure = WarmUp()) return failure;
    ChooseBatches();
    phases_.Begin("timing", /*harness=*/false);
    const measure::Policy& policy = request_.policy;
    const double pair_seconds = PairSeconds();
    const int64_t pilot = measure::PilotPairs(policy, pair_seconds);
    if (auto failure = TakePairs(pilot)) return failure;
    if (!result_.contradiction.empty()) return std::nullopt;
    const measure::SizePlan plan = measure::PlanPairs(policy, log_ratios_, PairSeconds());
    result_.limit = plan.limit;
    if (auto failure = TakePairs(plan.pairs - pilot)) return failure;
    result_.estimate = measure::EstimatePaired(log_ratios_);
    for (const int arm : {kBaselineArm, kCandidateArm}) result_.unshown_ns[arm] += ExcessNs(result_.samples_ns[arm]);
    return CheckClock();
  }

 private:
  // Alternating calls until both arms have settled, in requests that grow as calls turn out to be short.
  std::optional<SampleFailure> WarmUp() {
    const measure::WarmUpPolicy& policy = request_.policy.warm_up;
    for (int count = 1;; count = std::min(2 * count, policy.window)) {
      const measure::WarmUp baseline = measure::JudgeWarmUp(policy, request_.calls[kBaselineArm]);
      const measure::WarmUp candidate = measure::JudgeWarmUp(policy, request_.calls[kCandidateArm]);
      if (baseline != measure::WarmUp::kContinue && candidate != measure::WarmUp::kContinue) {
        result_.settled = baseline == measure::WarmUp::kSettled && candidate == measure::WarmUp::kSettled;
        return std::nullopt;
      }
      Chunk chunk;
      const int run_length = sampler_.RunLength(0) > 1 ? count : 1;
      chunk.order = measure::SampleOrder(random_.Bits(), count, run_length);
      chunk.limit_seconds = 2 * count * request_.run_limit_seconds;
      chunk.cold = request_.cold;
      Samples samples;
      if (auto failure = sampler_.Take(chunk, stop_, samples)) return failure;
      NoteSweeps(samples);
      phases_.AddRunnerTime(samples.calls_ns);
      NoteUncounted(samples);
      for (size_t i = 0; i < samples.ns.size(); ++i) {
        request_.calls[chunk.order[i]].push_back(1e-9 * static_cast<double>(samples.ns[i]));
        result_.unshown_ns[chunk.order[i]] += samples.ns[i];
      }
      result_.warmup_calls += static_cast<int>(samples.ns.size());
    }
  }

  void ChooseBatches() {
    for (const int arm : {kBaselineArm, kCandidateArm}) {
      call_seconds_[arm] = NewestMedian(request_.calls[arm], request_.policy.warm_up.window);
      result_.batch[arm] = request_.mutates || request_.cold
                               ? 1
                               : measure::CallsPerSample(call_seconds_[arm], request_.policy.minimum_sample_seconds);
    }
  }

  // What emptying the caches takes, a sample: it is no part of the times, and the budget is spent on it.
  void NoteSweeps(const Samples& samples) {
    if (!request_.cold || samples.ns.empty()) return;
    sweep_seconds_ = 1e-9 * static_cast<double>(std::max<int64_t>(samples.request_ns - samples.calls_ns, 0)) /
                     static_cast<double>(samples.ns.size());
  }

  void NoteUncounted(const Samples& samples) {
    for (const int arm : {kBaselineArm, kCandidateArm}) result_.unshown_ns[arm] += samples.uncounted_ns[arm];
  }

  // Seconds of a sample of an arm, on average: on a crowded machine that is far more than the median, and it is what
  // the budget is spent on.
  double MeanSampleSeconds(int arm) const {
    const std::vector<int64_t>& ns = result_.samples_ns[arm];
    return 1e-9 * std::accumulate(ns.begin(), ns.end(), 0.0) / static_cast<double>(ns.size());
  }

  // Expected seconds of a sample of each arm: from samples where there are some, else from the warm-up's calls.
  double PairSeconds() const {
    double seconds = 2 * sweep_seconds_;
    for (const int arm : {kBaselineArm, kCandidateArm}) {
      seconds += result_.samples_ns[arm].empty() ? call_seconds_[arm] * result_.batch[arm] : MeanSampleSeconds(arm);
    }
    return seconds;
  }

  // A runner that moves time from one arm to the other, or has a clock of its own, says less of an arm than the arm
  // takes when it alone is asked for and the worker holds the watch. Alternating arms may well be slower than one alone
  // (caches), never so much faster.
  std::optional<SampleFailure> CheckClock() {
    if (!request_.check_clock || request_.mutates) return std::nullopt;  // restoring tensors is in the request's time
    std::array<double, 2> call_seconds;
    for (const int arm : {kBaselineArm, kCandidateArm}) {
      call_seconds[arm] = MeanSampleSeconds(arm) / result_.batch[arm];
    }
    if (std::max(call_seconds[0], call_seconds[1]) > kDearSeconds && random_.Below(kDearShare) != 0)
      return std::nullopt;
    std::array<double, 2> excess;     // of a call alone over a timed one, the smallest of the tries
    std::array<std::string, 2> slow;  // says how the runner's clock is behind, where it was at every try
    excess.fill(std::numeric_limits<double>::infinity());
    slow.fill("-");
    for (int attempt = 0; attempt < kClockTries; ++attempt) {
      // Who comes first has slept and is rarely interrupted: each in turn.
      for (const int arm : {attempt % 2, 1 - attempt % 2}) {
        const int calls = measure::CallsPerSample(call_seconds[arm], kAloneSeconds);
        AloneCalls alone;
        if (auto failure = sampler_.TakeAlone(arm, calls, 2 * request_.run_limit_seconds + 60, stop_, alone)) {
          return failure;
        }
        phases_.AddRunnerTime(alone.told_ns);
        result_.unshown_ns[arm] += alone.wall_ns;
        const double wall = 1e-9 * static_cast<double>(alone.wall_ns), told = 1e-9 * static_cast<double>(alone.told_ns);
        if (wall <= 2 * told + kRequestSeconds) {
          slow[arm].clear();
        } else if (!slow[arm].empty()) {
          slow[arm] = fmt::format("{} calls are told to take {:.6f} s and took {:.6f} s by the worker's clock", calls,
                                  told, wall);
        }
        // On a crowded machine so long a request is interrupted at every try, as the short samples are not. (Both
        // clocks go on meanwhile.)
        const double used = std::max(0.0, wall - 1e-9 * static_cast<double>(alone.waited_ns));
        excess[arm] = std::min(excess[arm], used / calls / call_seconds[arm]);
      }
      if (slow[0].empty() && slow[1].empty() && excess[0] <= kClockFactor * std::max(1.0, excess[1]) &&
          excess[1] <= kClockFactor * std::max(1.0, excess[0])) {
        return std::nullopt;
      }
    }
    const int arm = excess[kCandidateArm] > excess[kBaselineArm] ? kCandidateArm : kBaselineArm;
    std::string found = slow[kCandidateArm].empty() ? slow[kBaselineArm] : slow[kCandidateArm];
    if (found.empty()) {
      found = fmt::format(
          "a call of the {} alone takes at least {:.2f} times what was told of its timed calls, one of "
          "the {} {:.2f} times: time was moved between them",
          arm == kBaselineArm ? "baseline" : "candidate", excess[arm], arm == kBaselineArm ? "candidate" : "baseline",
          excess[1 - arm]);
    }
    result_.contradiction = found;
    return std::nullopt;
  }

  std::optional<SampleFailure> TakePairs(int64_t pairs) {
    if (pairs <= 0) return std::nullopt;
    const double pair_seconds = PairSeconds();
    const int run_length = sampler_.RunLength(pair_seconds / 2);
    const double expected = pair_seconds * static_cast<double>(pairs);
    Chunk chunk;
    chunk.order = measure::SampleOrder(random_.Bits(), pairs, run_length);
    chunk.batch = result_.batch;
    chunk.cold = request_.cold;
    // Room for a machine that has become slower; without a bound a burst of load would stretch a trial without end.
    const double most = std::min(3 * expected, std::max(expected, 1.5 * request_.policy.budget_seconds)) + 1;
    chunk.budget_ns = static_cast<int64_t>(1e9 * most);
    chunk.limit_seconds = 2 * most + 2 * request_.run_limit_seconds;
    if (request_.check_candidate) chunk.keep = ChooseChecked(chunk.order, random_);
    Samples samples;
    if (auto failure = sampler_.Take(chunk, stop_, samples)) return failure;
    NoteSweeps(samples);
    NoteUncounted(samples);
    phases_.AddRunnerTime(samples.calls_ns);
    if (result_.contradiction.empty()) result_.contradiction = samples.contradiction;
    result_.recompiles += samples.recompiles;
    if (samples.kept) result_.kept.push_back(std::move(*samples.kept));
    for (size_t i = 0; i < samples.ns.size(); ++i) {
      result_.samples_ns[chunk.order[i]].push_back(samples.ns[i]);
      result_.device_ns[chunk.order[i]].push_back(samples.device_ns[i]);
    }
    const absl::StatusOr<std::vector<double>> ratios =
        measure::PairLogRatios(chunk.order, samples.ns, chunk.batch, run_length);
    if (!ratios.ok()) {
      return SampleFailure{-1, CallFailure{CallFailure::Kind::kProtocol, "", std::string(ratios.status().message())}};
    }
    log_ratios_.insert(log_ratios_.end(), ratios->begin(), ratios->end());
    return std::nullopt;
  }

  Sampler& sampler_;
  TimingRequest request_;
  std::stop_token stop_;
  PhaseLog& phases_;
  TimingResult& result_;
  measure::Random random_;
  std::array<double, 2> call_seconds_ = {0, 0};
  double sweep_seconds_ = 0;
  std::vector<double> log_ratios_;
};

}  // namespace

std::optional<SampleFailure> TimeArms(Sampler& sampler, TimingRequest request, std::stop_token stop, PhaseLog& phases,
                                      TimingResult& result) {
  return ArmTimer(sampler, std::move(request), stop, phases, result).Run();
}

void TellTiming(const measure::Policy& policy, const std::vector<TimingResult>& timings, bool one_process,
                v1::Timing& told) {
  if (timings.empty()) return;
  std::vector<measure::PairedEstimate> estimates;
  std::array<std::vector<double>, 2> calls, device_calls;
  int64_t pairs = 0;
  double bias = 0;
  for (const TimingResult& timing : timings) {
    estimates.push_back(timing.estimate);
    pairs += timing.estimate.pairs;
    bias += timing.waiting_bias / static_cast<double>(timings.size());
    told.set_warmup_calls(told.warmup_calls() + timing.warmup_calls);
    told.set_recompiles(told.recompiles() + timing.recompiles);
    for (const int arm : {kBaselineArm, kCandidateArm}) {
      auto& samples = arm == kBaselineArm ? *told.mutable_baseline_samples_ns() : *told.mutable_candidate_samples_ns();
      for (const int64_t ns : timing.samples_ns[arm]) {
        samples.Add(ns);
        calls[arm].push_back(static_cast<double>(ns) / timing.batch[arm]);
      }
      for (const int64_t ns : timing.device_ns[arm]) {
        if (ns > 0) device_calls[arm].push_back(static_cast<double>(ns) / timing.batch[arm]);
      }
    }
  }
  const bool single = estimates.size() == 1;
  double hidden = single && !one_process ? measure::kProcessLuck : 0;
  if (std::abs(bias) >= kSeriousBias) hidden += std::abs(bias);
  const measure::PairedEstimate estimate =
      measure::Widened(single ? estimates[0] : measure::CombineProcesses(estimates), hidden);
  told.set_pairs(static_cast<int>(pairs));
  told.set_batches(estimate.batches);
  told.set_calls_per_sample_baseline(timings[0].batch[kBaselineArm]);
  told.set_calls_per_sample_candidate(timings[0].batch[kCandidateArm]);
  told.set_log_speedup(estimate.log_ratio);
  told.set_has_interval(estimate.HasInterval());
  if (estimate.HasInterval()) {
    told.set_low(estimate.low);
    told.set_high(estimate.high);
  }
  const double bar = !one_process && policy.processes == 1 ? measure::kSpreadTarget : 1;
  told.set_unstable(measure::IsUnstable(policy, estimate.half_width / bar));
  told.set_one_process(one_process);
  told.set_processes(static_cast<int>(timings.size()));
  TellQuantiles(calls[kBaselineArm], *told.mutable_baseline_quantiles_ns());
  TellQuantiles(calls[kCandidateArm], *told.mutable_candidate_quantiles_ns());
  const auto all = [&](int arm) { return !calls[arm].empty() && device_calls[arm].size() == calls[arm].size(); };
  if (all(kBaselineArm)) TellQuantiles(device_calls[kBaselineArm], *told.mutable_baseline_device_quantiles_ns());
  if (all(kCandidateArm)) TellQuantiles(device_calls[kCandidateArm], *told.mutable_candidate_device_quantiles_ns());
}

}  // namespace assay::worker
