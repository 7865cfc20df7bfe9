#include "worker/memory_group.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "fmt/format.h"
#include "runner/unique_fd.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

absl::Status Write(const fs::path& file, const std::string& text) {
  const runner::UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid() || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return absl::FailedPreconditionError(fmt::format("{} cannot be written: {}", file.string(), strerror(errno)));
  }
  return absl::OkStatus();
}

bool HasWord(const fs::path& file, std::string_view word) {
  std::ifstream in(file);
  for (std::string text; in >> text;) {
    if (text == word) return true;
  }
  return false;
}

absl::Status MakeFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) {
    return absl::FailedPreconditionError(fmt::format("{} cannot be made: {}", folder.string(), error.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<MemoryGroups>> MemoryGroups::Prepare(const fs::path& root) {
  std::ifstream in(root / "proc/self/cgroup");
  std::string own;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("0::/")) own = line.substr(4);
  }
  const fs::path folder = own.empty() ? root / "sys/fs/cgroup" : root / "sys/fs/cgroup" / own;
  if (!HasWord(folder / "cgroup.controllers", "memory")) {
    return absl::FailedPreconditionError(
        fmt::format("{} offers no memory controller of control groups version 2", folder.string()));
  }
  // A group that hands controllers on may hold no process itself.
  if (absl::Status made = MakeFolder(folder / "assay-worker"); !made.ok()) return made;
  if (absl::Status moved = Write(folder / "assay-worker/cgroup.procs", "0"); !moved.ok()) return moved;
  if (absl::Status handed = Write(folder / "cgroup.subtree_control", "+memory"); !handed.ok()) return handed;
  return std::unique_ptr<MemoryGroups>(new MemoryGroups(folder));
}

absl::StatusOr<std::unique_ptr<MemoryGroup>> MemoryGroups::Make(int64_t limit_bytes) {
  const fs::path folder = folder_ / fmt::format("assay-runner-{}-{}", ::getpid(), ++last_);
  if (absl::Status made = MakeFolder(folder); !made.ok()) return made;
  std::unique_ptr<MemoryGroup> group(new MemoryGroup(folder));
  if (absl::Status limited = group->SetLimit(limit_bytes); !limited.ok()) return limited;
  // Where there is swap, a runner must not live on it: it would be timed swapping.
  if (fs::exists(folder / "memory.swap.max")) {
    if (absl::Status limited = Write(folder / "memory.swap.max", "0"); !limited.ok()) return limited;
  }
  return group;
}

MemoryGroup::~MemoryGroup() { ::rmdir(folder_.c_str()); }

absl::Status MemoryGroup::SetLimit(int64_t bytes) { return Write(folder_ / "memory.max", std::to_string(bytes)); }

int64_t MemoryGroup::oom_kills() const {
  std::ifstream in(folder_ / "memory.events");
  std::string key;
  int64_t count = 0;
  while (in >> key >> count) {
    if (key == "oom_kill") return count;
  }
  return 0;
}

}  // namespace assay::worker
