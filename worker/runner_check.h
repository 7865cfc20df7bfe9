// The conformance test of runner/protocol.md: goes through the protocol with a small graph, wrong requests included.
// Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "worker/config.h"

namespace assay::worker {

struct CheckResult {
  std::string what;  // "run: the outputs of the secret set"
  bool passed = false;
  std::string message;  // of a failure: what was seen and what the protocol wants
};

// Checks the runner as `config` would start it. Ends early where the runner cannot be gone on with.
std::vector<CheckResult> CheckRunner(const RunnerConfig& runner, const Config& config);

}  // namespace assay::worker
