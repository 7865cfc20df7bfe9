// The lock of a physical device: a file named by the device's UUID, locked with flock(), so that workers of one host,
// in containers too where they share the folder, never time on one device at once. Runners are given the descriptor and
// keep it: a device stays locked until the last process that may be using it has ended.
// Thread safety: none.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string_view>

#include "absl/status/statusor.h"
#include "runner/unique_fd.h"

namespace assay::worker {

// Waits for the lock; Cancelled where `stop` is triggered first, PermissionDenied where the file cannot be opened.
absl::StatusOr<runner::UniqueFd> LockDevice(const std::filesystem::path& folder, std::string_view uuid,
                                            std::stop_token stop);

}  // namespace assay::worker
