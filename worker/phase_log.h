// The parts of a trial's wall time, one after another without gaps: what is not named is harness.
// Thread safety: the log belongs to one thread; Current() may be called from any.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "assay/v1/evaluations.pb.h"
#include "worker/runner_process.h"

namespace assay::worker {

class PhaseLog {
 public:
  // `on_phase` hears the name of each phase when it begins.
  explicit PhaseLog(std::function<void(std::string_view)> on_phase)
      : start_(Clock::now()), on_phase_(std::move(on_phase)) {}

  // Begins a phase and ends the one before.
  void Begin(std::string name, bool harness) {
    const int64_t now = phases_.empty() && !open_ ? 0 : Elapsed();
    End(now);
    phase_.Clear();
    phase_.set_name(name);
    phase_.set_start_ns(now);
    phase_.set_harness(harness);
    open_ = true;
    runner_ns_ = 0;
    if (on_phase_) on_phase_(name);
  }
  // Of a phase of runner's work: how much of it so far the runner spent on it by its own clock. The rest of the phase
  // is written as a harness phase of the same name with "+" behind.
  void AddRunnerTime(int64_t ns) { runner_ns_ += ns; }

  // Ends the last phase and fills in phases, wall and harness time.
  void Finish(v1::Measurement& measurement) {
    const int64_t wall = Elapsed();
    End(wall);
    int64_t work = 0;
    for (const v1::Phase& phase : phases_) {
      if (!phase.harness()) work += phase.duration_ns();
    }
    for (v1::Phase& phase : phases_) *measurement.add_phases() = std::move(phase);
    phases_.clear();
    measurement.set_wall_ns(wall);
    measurement.set_harness_ns(wall - work);
  }

  const std::string& name() const { return phase_.name(); }

 private:
  int64_t Elapsed() const { return std::chrono::nanoseconds(Clock::now() - start_).count(); }

  void End(int64_t now) {
    if (!open_) return;
    open_ = false;
    const int64_t duration = now - phase_.start_ns();
    phase_.set_duration_ns(duration);
    if (phase_.harness() || runner_ns_ == 0) {
      phases_.push_back(phase_);
      return;
    }
    const int64_t work = std::min(runner_ns_, duration);
    phase_.set_duration_ns(work);
    phases_.push_back(phase_);
    v1::Phase rest = phase_;
    rest.set_name(phase_.name() + "+");
    rest.set_start_ns(phase_.start_ns() + work);
    rest.set_duration_ns(duration - work);
    rest.set_harness(true);
    phases_.push_back(std::move(rest));
  }

  Clock::time_point start_;
  std::function<void(std::string_view)> on_phase_;
  std::vector<v1::Phase> phases_;
  v1::Phase phase_;
  bool open_ = false;
  int64_t runner_ns_ = 0;
};

}  // namespace assay::worker
