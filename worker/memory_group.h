// Memory limits of runners: a control group (version 2) for each, below the worker's own, where that was delegated to
// the worker. Address-space limits would break accelerators' drivers.
// Thread safety: Prepare() once before threads start; groups from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace assay::worker {

class MemoryGroup {
 public:
  ~MemoryGroup();  // removes it; its processes must have ended
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  // The file that a process writes its number to, to enter.
  std::filesystem::path procs() const { return folder_ / "cgroup.procs"; }
  absl::Status SetLimit(int64_t bytes);
  // How many processes the kernel has killed here for want of memory.
  int64_t oom_kills() const;

 private:
  friend class MemoryGroups;
  explicit MemoryGroup(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

class MemoryGroups {
 public:
  // Moves the worker into a group of its own below the present one and hands the memory controller on.
  // FailedPrecondition says why that is not possible here.
  static absl::StatusOr<std::unique_ptr<MemoryGroups>> Prepare(const std::filesystem::path& root = "/");

  absl::StatusOr<std::unique_ptr<MemoryGroup>> Make(int64_t limit_bytes);

 private:
  explicit MemoryGroups(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
  std::atomic<int> last_ = 0;
};

}  // namespace assay::worker
