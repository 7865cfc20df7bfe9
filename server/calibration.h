// The A/A error of devices: computed from evaluations whose two arms are the same target, stored, and looked up for
// scores, lists, metrics and the queue. Only the newest one of each kind (device, runner, processes, threads) counts.
// Thread safety: SummariseCalibration is pure; all else works in the caller's transaction.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/leaderboard.pb.h"
#include "server/database.h"

namespace assay::server {

inline constexpr double kNoisyError = 0.02;           // a 95th percentile above marks scores
inline constexpr double kLongestCalibratedNs = 20e6;  // a longer call gives too few pairs to say much of the device
inline constexpr int kMinimumCalibrationTrials = 10;

// What one A/A trial gave.
struct CalibrationTrial {
  double log_speedup = 0;
  // Of its 95 % interval; infinite: none.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
// The numbers of a calibration, no other field. Precondition: not empty.
v1::Calibration SummariseCalibration(std::span<const CalibrationTrial> trials);

// One calibration a device that has enough trials. NotFound; FailedPrecondition: the evaluations are no A/A, not
// comparable, not completed, or have too few trials.
absl::StatusOr<std::vector<v1::Calibration>> RecordCalibration(Transaction& transaction,
                                                               const std::vector<std::string>& evaluation_ids);

std::vector<v1::Calibration> NewestCalibrations(Transaction& transaction);

// The largest 95th percentile of each calibrated device, by worker and device.
std::map<std::pair<std::string, std::string>, double> LargestErrors(const std::vector<v1::Calibration>& calibrations);

// Writes down where a finished evaluation was measured.
void StoreEvaluationDevices(Transaction& transaction, int64_t evaluation_id);

// Fills in what calibration says of the entries.
void AddCalibration(Transaction& transaction, v1::GetLeaderboardResponse* leaderboard);

}  // namespace assay::server
