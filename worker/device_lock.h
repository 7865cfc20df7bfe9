// The lock of a physical device: a file locked with flock(), so that workers of one host, in containers too where they
// share the folder, never time on one device at once. Runners are given the descriptor and keep it: a device stays
// locked until the last process that may be using it has ended.
// Thread safety: none.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "assay/v1/workers.pb.h"
#include "runner/unique_fd.h"

namespace assay::worker {

// What the lock of a device is called. A host's processors are one device whatever a runner calls them (what it can see
// of the host depends on its sandbox), and what a runner uses that only compiles: the devices it does so for are not
// there. Any other device is known by the UUID that the runner tells, or by its id where it tells none.
std::string LockName(const v1::Device& device, bool compiles_only);

// Waits for the lock; Cancelled where `stop` is triggered first, PermissionDenied where the file cannot be opened.
absl::StatusOr<runner::UniqueFd> LockDevice(const std::filesystem::path& folder, std::string_view name,
                                            std::stop_token stop);

}  // namespace assay::worker
