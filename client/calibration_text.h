// Calibrations as people read them.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "assay/v1/common.pb.h"

namespace assay::client {

// One line each; empty where there are none.
std::string CalibrationText(const std::vector<v1::Calibration>& calibrations);

// The 95th percentile of a device's A/A error beside a score: "1.2 %", "3.4 % !", "–" where it is not calibrated (0).
std::string CalibrationWord(double p95, bool noisy);

}  // namespace assay::client
