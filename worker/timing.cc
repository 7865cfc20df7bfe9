#include "worker/timing.h"

#include <algorithm>
#include <cmath>

#include "measure/quantiles.h"
#include "measure/random.h"

namespace assay::worker {
namespace {

using measure::kBaselineArm;
using measure::kCandidateArm;

double NewestMedian(const std::vector<double>& seconds, int window) {
  const size_t n = std::min<size_t>(seconds.size(), window);
  return measure::Median(std::span<const double>(seconds).last(n));
}

// A sample of the candidate, chosen at random; -1 where there is none.
int ChooseChecked(const std::vector<int>& order, measure::Random& random) {
  std::vector<int> candidates;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] == kCandidateArm) candidates.push_back(static_cast<int>(i));
  }
  return candidates.empty() ? -1 : candidates[random.Below(candidates.size())];
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
    return std::nullopt;
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
      Samples samples;
      if (auto failure = sampler_.Take(chunk, stop_, samples)) return failure;
      phases_.AddRunnerTime(samples.calls_ns);
      for (size_t i = 0; i < samples.ns.size(); ++i) {
        request_.calls[chunk.order[i]].push_back(1e-9 * static_cast<double>(samples.ns[i]));
      }
      result_.warmup_calls += static_cast<int>(samples.ns.size());
    }
  }

  void ChooseBatches() {
    for (const int arm : {kBaselineArm, kCandidateArm}) {
      call_seconds_[arm] = NewestMedian(request_.calls[arm], request_.policy.warm_up.window);
      result_.batch[arm] =
          request_.mutates ? 1 : measure::CallsPerSample(call_seconds_[arm], request_.policy.minimum_sample_seconds);
    }
  }

  // Expected seconds of a sample of each arm: from samples where there are some, else from the warm-up's calls.
  double PairSeconds() const {
    double seconds = 0;
    for (const int arm : {kBaselineArm, kCandidateArm}) {
      const std::vector<int64_t>& ns = result_.samples_ns[arm];
      if (ns.empty()) {
        seconds += call_seconds_[arm] * result_.batch[arm];
      } else {
        seconds += 1e-9 * measure::Median(std::vector<double>(ns.begin(), ns.end()));
      }
    }
    return seconds;
  }

  std::optional<SampleFailure> TakePairs(int64_t pairs) {
    if (pairs <= 0) return std::nullopt;
    const double pair_seconds = PairSeconds();
    const int run_length = sampler_.RunLength(pair_seconds / 2);
    const double expected = pair_seconds * static_cast<double>(pairs);
    Chunk chunk;
    chunk.order = measure::SampleOrder(random_.Bits(), pairs, run_length);
    chunk.batch = result_.batch;
    // Room for a machine that has become slower; without a bound a burst of load would stretch a trial without end.
    chunk.budget_ns = static_cast<int64_t>(1e9 * (3 * expected + 1));
    chunk.limit_seconds = 2 * (3 * expected + 1) + 2 * request_.run_limit_seconds;
    if (request_.check_candidate) chunk.keep = ChooseChecked(chunk.order, random_);
    Samples samples;
    if (auto failure = sampler_.Take(chunk, stop_, samples)) return failure;
    phases_.AddRunnerTime(samples.calls_ns);
    if (result_.contradiction.empty()) result_.contradiction = samples.contradiction;
    result_.recompiles += samples.recompiles;
    if (samples.kept) result_.kept.push_back(std::move(*samples.kept));
    for (size_t i = 0; i < samples.ns.size(); ++i) result_.samples_ns[chunk.order[i]].push_back(samples.ns[i]);
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
  std::vector<double> log_ratios_;
};

}  // namespace

std::optional<SampleFailure> TimeArms(Sampler& sampler, TimingRequest request, std::stop_token stop, PhaseLog& phases,
                                      TimingResult& result) {
  return ArmTimer(sampler, std::move(request), stop, phases, result).Run();
}

}  // namespace assay::worker
