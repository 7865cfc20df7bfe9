// Times the arms of a trial where they are equal before the scheduler: on the same CPUs and before their neighbours.
// Two processes are watched as well, for one may be kept waiting where the other is not. Thread safety: none.
#pragma once

#include <array>
#include <boost/json.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "worker/phase_log.h"
#include "worker/timing.h"
#include "worker/trial_arm.h"

namespace assay::worker {

struct ArmPlacement {
  int threads = 1;   // of each arm
  bool pin = true;   // keep them on so many CPUs
  int nice = 0;      // while they are timed; 0: as they are
  bool one = false;  // one process has both arms
};

struct ArmTiming {
  TimingResult result;
  std::optional<SampleFailure> failure;
  boost::json::object conditions;  // pinned_cpus, cpu_waited_share, warm_up, sample_size
  int nice = 0;                    // that they had
};

// Calls are made on the input set named `input_set`.
ArmTiming TimePlaced(const std::array<TrialArm, 2>& arms, const ArmPlacement& placement, TimingRequest request,
                     std::string input_set, std::stop_token stop, PhaseLog& phases);

}  // namespace assay::worker
