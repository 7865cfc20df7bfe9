// How often the 95 % interval of a simulated trial holds the true speed-up, for each noise model, with how wide an
// interval, and how often a planted effect gets which verdict. `measure_coverage_bench [TRIALS]`, 2,000 by default.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "measure/noise_model.h"
#include "measure/quantiles.h"

int main(int argc, char** argv) {
  using namespace assay::measure;
  const int trials = argc > 1 ? std::atoi(argv[1]) : 2000;
  if (trials < 1) {
    std::fprintf(stderr, "usage: measure_coverage_bench [TRIALS], TRIALS at least 1\n");
    return 2;
  }
  std::printf("%-9s %-15s %8s %8s %9s %9s %9s %9s %8s %8s\n", "policy", "noise", "call ms", "pairs", "coverage",
              "half p50", "error p50", "error p95", "3%:slow", "0%:not");
  for (const char* name : {"sweep", "standard"}) {
    const Policy policy = PolicyFromName(name).value();
    for (double call_seconds : {0.001, 0.02}) {
      for (NoiseModel model : kNoiseModels) {
        int covered = 0, slower = 0, wrong = 0;
        std::vector<double> errors, halves, pairs;
        for (int trial = 0; trial < trials; ++trial) {
          const auto seed = static_cast<uint64_t>(trial) * 7919 + 17;
          const PairedEstimate none = SimulateTrial(policy, model, 0, call_seconds, seed);
          covered += none.low <= 0 && 0 <= none.high;
          errors.push_back(std::abs(none.log_ratio));
          halves.push_back(none.half_width);
          pairs.push_back(static_cast<double>(none.pairs));
          const Verdict verdict = Judge(none);
          wrong += verdict == Verdict::kSlower || verdict == Verdict::kFaster;
          slower += Judge(SimulateTrial(policy, model, std::log(1 / 1.03), call_seconds, ~seed)) == Verdict::kSlower;
        }
        std::printf("%-9s %-15.*s %8.1f %8.0f %8.1f%% %8.2f%% %8.2f%% %8.2f%% %7.1f%% %7.1f%%\n", name,
                    static_cast<int>(Name(model).size()), Name(model).data(), call_seconds * 1e3, Median(pairs),
                    100.0 * covered / trials, 100 * Median(halves), 100 * Median(errors), 100 * Quantile(errors, 0.95),
                    100.0 * slower / trials, 100.0 * wrong / trials);
      }
    }
  }
  return 0;
}
