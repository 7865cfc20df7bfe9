#include "worker/trial_policy.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "fmt/format.h"

namespace assay::worker {
namespace {

constexpr char kCompileOnlyPolicy[] = "aot";

absl::Status ResolveTiming(const v1::Policy& asked, TrialPolicy* policy) {
  absl::StatusOr<measure::Policy> timing = measure::PolicyFromName(asked.name().empty() ? "standard" : asked.name());
  if (!timing.ok()) return timing.status();
  policy->timing = *std::move(timing);
  if (asked.budget_seconds() > 0) {
    policy->timing.budget_seconds = asked.budget_seconds();
    policy->timing.pilot_seconds = std::min(policy->timing.pilot_seconds, policy->timing.budget_seconds);
  }
  if (asked.half_width() > 0) policy->timing.target_half_width = asked.half_width();
  if (asked.processes() > 0) policy->timing.processes = asked.processes();
  if (absl::Status valid = measure::Validate(policy->timing); !valid.ok()) return valid;
  const std::string cache = asked.cache().empty() ? "warm" : asked.cache();
  if (cache != "warm" && cache != "cold") {
    return absl::InvalidArgumentError(fmt::format("policy.cache is \"{}\"; known are warm and cold", cache));
  }
  policy->cold = cache == "cold";
  return absl::OkStatus();
}

double OrDefault(double asked, double otherwise) { return asked > 0 ? asked : otherwise; }

}  // namespace

absl::StatusOr<TrialPolicy> ResolvePolicy(const v1::Policy& asked, const Config& config, int64_t memory_limit_bytes) {
  TrialPolicy policy;
  policy.compiles_only = asked.name() == kCompileOnlyPolicy;
  if (!policy.compiles_only) {
    if (absl::Status timing = ResolveTiming(asked, &policy); !timing.ok()) return timing;
  }
  // A coordinator of before there were modes names the one rule there was by its version.
  const std::string replay = asked.replay() == "assay-replay-1" ? "graphnet" : asked.replay();
  const std::optional<graph::ReplayMode> mode =
      replay.empty() ? graph::ReplayMode::kAssay : graph::ReplayModeFromName(replay);
  if (!mode) {
    return absl::InvalidArgumentError(fmt::format("policy.replay is '{}', which this worker does not know", replay));
  }
  policy.replay = *mode;
  policy.memory_limit_bytes = memory_limit_bytes;
  if (asked.memory_limit_bytes() > 0) {
    policy.memory_limit_bytes = std::min(memory_limit_bytes, asked.memory_limit_bytes());
  }
  policy.limits = {.load_seconds = OrDefault(asked.load_timeout_seconds(), config.limits.load_seconds),
                   .compile_seconds = OrDefault(asked.compile_timeout_seconds(), config.limits.compile_seconds),
                   .run_seconds = OrDefault(asked.run_timeout_seconds(), config.limits.run_seconds),
                   .threads = asked.threads() > 0 ? asked.threads() : config.threads,
                   .output_bytes = policy.memory_limit_bytes / 4};
  return policy;
}

void Tell(const TrialPolicy& policy, const v1::Policy& asked, v1::Policy* told) {
  told->set_threads(policy.limits.threads);
  told->set_load_timeout_seconds(policy.limits.load_seconds);
  told->set_compile_timeout_seconds(policy.limits.compile_seconds);
  told->set_name(policy.compiles_only ? kCompileOnlyPolicy : policy.timing.name);
  if (!policy.compiles_only) {
    told->set_budget_seconds(policy.timing.budget_seconds);
    told->set_half_width(policy.timing.target_half_width);
    told->set_processes(policy.timing.processes);
    told->set_two_processes(asked.two_processes());
    told->set_cache(policy.cold ? "cold" : "warm");
    told->set_reference_float64(asked.reference_float64());
    told->set_run_timeout_seconds(policy.limits.run_seconds);
  }
  told->set_memory_limit_bytes(policy.memory_limit_bytes);
  told->set_replay(std::string(graph::Name(policy.replay)));
}

}  // namespace assay::worker
