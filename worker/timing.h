// Times the two arms of a trial in one process or pair of processes: warm-up, the size of a sample, a pilot, the
// planned rest (measure/schedule.h). Samples come from a Sampler, so that this is tested without processes. Thread
// safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "assay/v1/evaluations.pb.h"
#include "measure/paired.h"
#include "measure/schedule.h"
#include "worker/phase_log.h"
#include "worker/sampler.h"

namespace assay::worker {

struct TimingRequest {
  measure::Policy policy;
  uint64_t seed = 0;                         // of orders and of the calls that are checked
  bool mutates = false;                      // one call a sample: tensors are restored before each
  bool cold = false;                         // one call a sample, with empty caches
  std::array<std::vector<double>, 2> calls;  // seconds of the calls made so far, by arm
  double run_limit_seconds = 300;            // of one call
  bool check_candidate = true;               // keep outputs of a random timed call
  bool check_clock = true;                   // hold the runner's times against the worker's; for calls above 1 s rarely
};

struct TimingResult {
  measure::PairedEstimate estimate;
  std::array<int, 2> batch = {1, 1};
  std::array<std::vector<int64_t>, 2> samples_ns;  // by arm, in order
  std::array<std::vector<int64_t>, 2> device_ns;   // … by the device's clock; 0: not told
  int warmup_calls = 0;                            // both arms
  bool settled = true;                             // warm-up ended because times had settled
  int recompiles = 0;
  measure::SizeLimit limit = measure::SizeLimit::kTarget;
  std::vector<runner::MemoryFile> kept;  // outputs of the candidate's checked calls
  std::string contradiction;             // as Samples::contradiction
  // Of the time of an arm's requests, as far as it has a process of its own, what its median sample does not show:
  // calls that were not counted, and what single samples took longer.
  std::array<int64_t, 2> unshown_ns = {0, 0};
  double waiting_bias = 0;  // of arms that have a process each (scheduling.h); told by the caller
};

// Logs the phases "warm-up" and "timing".
std::optional<SampleFailure> TimeArms(Sampler& sampler, TimingRequest request, std::stop_token stop, PhaseLog& phases,
                                      TimingResult& result);

// What a measurement tells of the timing, of which there is one for each process or pair of processes, or none.
void TellTiming(const measure::Policy& policy, const std::vector<TimingResult>& timings, bool one_process,
                v1::Timing& told);

}  // namespace assay::worker
