#include "worker/arm_timing.h"

#include <memory>
#include <utility>
#include <vector>

#include "worker/sampler.h"
#include "worker/scheduling.h"

namespace assay::worker {

namespace json = boost::json;
using measure::kBaselineArm;
using measure::kCandidateArm;

ArmTiming TimePlaced(const std::array<TrialArm, 2>& arms, const ArmPlacement& placement, TimingRequest request,
                     std::string input_set, std::stop_token stop, PhaseLog& phases) {
  ArmTiming timing;
  std::vector<std::vector<pid_t>> processes = {arms[kBaselineArm].process->Processes()};
  if (!placement.one) processes.push_back(arms[kCandidateArm].process->Processes());
  std::vector<double> waited, waited_in_calls;  // shares, one a process
  {
    std::vector<pid_t> all;
    for (const std::vector<pid_t>& one : processes) all.insert(all.end(), one.begin(), one.end());
    const Pinning pinning(all, placement.pin ? placement.threads : 0);
    if (!pinning.cpus().empty()) timing.conditions["pinned_cpus"] = json::value_from(pinning.cpus());
    const Priority priority(std::move(all), placement.nice);
    if (priority.given()) timing.nice = placement.nice;
    std::vector<CpuTime> before;
    for (const std::vector<pid_t>& one : processes) before.push_back(CpuTimeOf(one));
    std::unique_ptr<Sampler> sampler =
        MakeSampler({SamplerArm{arms[0].process, arms[0].handle, arms[0].worker_timed()},
                     SamplerArm{arms[1].process, arms[1].handle, arms[1].worker_timed()}},
                    std::move(input_set));
    timing.failure = TimeArms(*sampler, std::move(request), stop, phases, timing.result);
    for (size_t i = 0; i < processes.size(); ++i) {
      const CpuTime after = CpuTimeOf(processes[i]);
      waited.push_back(WaitedShare(before[i], after));
      // Each of its threads may have waited all that time.
      waited_in_calls.push_back(WaitedShare(before[i], after, placement.threads * timing.result.unshown_ns[i]));
    }
  }
  timing.conditions["cpu_waited_share"] = json::array({waited.front(), waited.back()});
  timing.conditions["warm_up"] = timing.result.settled ? "settled" : "gave up";
  timing.conditions["sample_size"] = std::string(measure::Name(timing.result.limit));
  if (!placement.one) {
    timing.result.waiting_bias = WaitingBias(waited_in_calls[kBaselineArm], waited_in_calls[kCandidateArm]);
  }
  return timing;
}

}  // namespace assay::worker
