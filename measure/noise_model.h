// Simulated trials with a known speed-up, for the tests and the bench of interval coverage: the whole way from samples
// in the schedule's order, through the two-stage size, to the estimate.
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "measure/paired.h"
#include "measure/random.h"
#include "measure/schedule.h"

namespace assay::measure {

enum class NoiseModel { kWhite, kDrift, kBursts, kBimodal, kAutocorrelated };
inline constexpr NoiseModel kNoiseModels[] = {NoiseModel::kWhite, NoiseModel::kDrift, NoiseModel::kBursts,
                                              NoiseModel::kBimodal, NoiseModel::kAutocorrelated};

inline std::string_view Name(NoiseModel model) {
  constexpr std::string_view kNames[] = {"white", "drift", "bursts", "bimodal", "autocorrelated"};
  return kNames[static_cast<size_t>(model)];
}

// The noise of successive samples, as a factor on the time, logarithmic.
class Noise {
 public:
  Noise(NoiseModel model, uint64_t seed) : model_(model), random_(seed) {
    slope_ = 2e-4 * random_.Normal();
    slow_ = 0.05 * random_.Normal();
  }

  double Next() {
    switch (model_) {
      case NoiseModel::kWhite:
        return 0.05 * random_.Normal();
      case NoiseModel::kDrift:  // up to tens of percent within a trial
        drift_ += slope_;
        return drift_ + 0.03 * random_.Normal();
      case NoiseModel::kBursts:  // a neighbour wakes for about 20 samples in each 120
        if (left_ == 0 && random_.Uniform() < 0.01) {
          left_ = 1 + static_cast<int>(random_.Below(40));
          height_ = std::log(1.5 + 1.5 * random_.Uniform());
        }
        if (left_ > 0) {
          --left_;
          return height_ * random_.Uniform() + 0.02 * random_.Normal();
        }
        return 0.02 * random_.Normal();
      case NoiseModel::kBimodal:  // two clock rates
        return (random_.Uniform() < 0.3 ? 0.2 : 0.0) + 0.02 * random_.Normal();
      case NoiseModel::kAutocorrelated:  // AR(1) with a memory of 20 samples
        slow_ = 0.95 * slow_ + 0.05 * std::sqrt(1 - 0.95 * 0.95) * random_.Normal();
        return slow_ + 0.02 * random_.Normal();
    }
    return 0;
  }

 private:
  NoiseModel model_;
  Random random_;
  double slope_ = 0, drift_ = 0;
  double slow_ = 0;
  int left_ = 0;
  double height_ = 0;
};

// One trial of the policy with calls of `call_seconds` and this log speed-up.
inline PairedEstimate SimulateTrial(const Policy& policy, NoiseModel model, double log_speedup, double call_seconds,
                                    uint64_t seed) {
  Noise noise(model, seed);
  const double pair_seconds = call_seconds * (1 + std::exp(-log_speedup));
  std::vector<double> ratios;
  const auto take = [&](int64_t pairs, uint64_t order_seed) {
    const std::vector<int> order = SampleOrder(order_seed, pairs);
    std::vector<int64_t> samples;
    samples.reserve(order.size());
    for (int arm : order) {
      const double seconds = call_seconds * std::exp(noise.Next() - (arm == kCandidateArm ? log_speedup : 0));
      samples.push_back(std::max<int64_t>(1, std::llround(seconds * 1e9)));
    }
    const int calls[] = {1, 1};
    const std::vector<double> more = PairLogRatios(order, samples, calls).value();
    ratios.insert(ratios.end(), more.begin(), more.end());
  };
  take(PilotPairs(policy, pair_seconds), 2 * seed);
  const SizePlan plan = PlanPairs(policy, ratios, pair_seconds);
  take(plan.pairs - static_cast<int64_t>(ratios.size()), 2 * seed + 1);
  return EstimatePaired(ratios);
}

}  // namespace assay::measure
