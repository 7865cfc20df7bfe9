// What a machine is, as far as it decides times: captured once when the worker starts, hashed; and the conditions that
// move, captured around each timing.
// Thread safety: pure functions, apart from the system's files.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/config.h"
#include "worker/runner_pool.h"

namespace assay::worker {

struct Environment {
  boost::json::object json;        // keys sorted
  std::string hash;                // of json; a reboot does not change it
  int64_t memory_limit_bytes = 0;  // of one runner
};

// The memory that a runner may use where a policy says nothing: as configured, else 80 % of what the worker may use.
int64_t MemoryLimitOf(const Config& config, const std::filesystem::path& root = "/");

// `memory_enforced` says whether runners are held to it. `root` is "/" but in tests: where /proc and /sys are found.
Environment CaptureEnvironment(const Config& config, bool memory_enforced, const std::filesystem::path& root = "/");

// The machine's environment with the device and the runners that one trial uses: other runners of the worker change
// nothing in it. `cohort` in it is the device's model and the runners' versions: what may be ranked together.
Environment ForTrial(const Environment& machine, const v1::Device& device,
                     const std::vector<const KnownRunner*>& runners);

// What moves, as far as the system tells.
struct Conditions {
  boost::json::object json;               // load average, clocks of the CPUs, temperatures
  std::optional<int64_t> throttle_count;  // how often the CPUs were slowed down for their heat since the system started
};
Conditions CaptureConditions(const std::filesystem::path& root = "/");

// Around what was timed in one process or pair of processes: `before`, `after` and, where it is known, how often the
// CPUs were `throttled` meanwhile.
boost::json::object TellConditions(const Conditions& before, const Conditions& after);

// Sorted keys at every depth: equal values give equal texts.
std::string StableText(const boost::json::value& value);

}  // namespace assay::worker
