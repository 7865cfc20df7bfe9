// Memory files (memfd) in which tensors pass between the worker and runners, and private mappings of them.
// Thread safety: none; the mapped bytes may be shared between threads as usual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/safetensors.h"
#include "runner/unique_fd.h"

namespace assay::runner {

// A mapping that is undone when its owner goes.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&&) noexcept;
  Mapping& operator=(Mapping&&) noexcept;
  ~Mapping();
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  friend class MemoryFile;
  friend absl::StatusOr<Mapping> MapPrivate(int fd);
  std::span<std::byte> bytes_;
};

class MemoryFile {
 public:
  // An empty file that may be grown and sealed.
  static absl::StatusOr<MemoryFile> Create(std::string_view name);

  // One of so many bytes, which `fill` writes; sealed.
  static absl::StatusOr<MemoryFile> Filled(std::string_view name, int64_t bytes,
                                           const std::function<void(std::span<std::byte>)>& fill);

  absl::Status Resize(int64_t bytes);
  // A shared, writable mapping of the whole file; must be gone before Seal().
  absl::StatusOr<Mapping> MapShared();
  // Forbids writing, growing, shrinking and further sealing.
  absl::Status Seal();
  int fd() const { return fd_.get(); }

 private:
  explicit MemoryFile(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// Maps all of `fd` copy-on-write: what is written stays in this process. Refuses a file without the write and shrink
// seals (FailedPrecondition), which its owner could truncate under the reader.
absl::StatusOr<Mapping> MapPrivate(int fd);

// All of a file that somebody else wrote and may still hold. ResourceExhausted where it is longer than `max_bytes`;
// InvalidArgument where it shrinks meanwhile.
absl::StatusOr<std::string> ReadBytes(int fd, int64_t max_bytes);

// A file of tensors that somebody else wrote and may still hold: read with pread() into memory of one's own.
// ResourceExhausted where more than `max_bytes` were written; InvalidArgument where it is not a file of tensors or only
// claims to be that long.
struct TensorBytes {
  graph::TensorLayout layout;
  std::string bytes;  // the whole file
  std::span<const std::byte> Data(const graph::TensorLayout::Entry& entry) const {
    return {reinterpret_cast<const std::byte*>(bytes.data()) + entry.offset, static_cast<size_t>(entry.bytes)};
  }
};
absl::StatusOr<TensorBytes> ReadTensors(int fd, int64_t max_bytes);

// Writes header and tensors of `layout` to `fd`, `data[i]` being the bytes of entry i.
absl::Status WriteTensors(int fd, const graph::TensorLayout& layout,
                          const std::vector<std::span<const std::byte>>& data);

}  // namespace assay::runner
