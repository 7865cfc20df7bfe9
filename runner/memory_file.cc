#include "runner/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "graph/text.h"

namespace assay::runner {
namespace {

absl::Status ErrnoStatus(std::string_view what, int error) {
  const std::string message = graph::Cat(what, ": ", strerror(error));
  if (error == ENOMEM || error == ENOSPC || error == EMFILE || error == ENFILE || error == EFBIG) {
    return absl::ResourceExhaustedError(message);
  }
  return absl::InternalError(message);
}

absl::StatusOr<int64_t> SizeOf(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0) return ErrnoStatus("fstat of a memory file", errno);
  return static_cast<int64_t>(status.st_size);
}

// What takes room: a file may be made longer without anything being written to it.
absl::StatusOr<int64_t> WrittenBytes(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0) return ErrnoStatus("fstat of a memory file", errno);
  return static_cast<int64_t>(status.st_blocks) * 512;
}

// Reads up to `bytes` bytes; fewer where the file ends.
absl::StatusOr<size_t> ReadFully(int fd, char* to, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pread(fd, to + done, bytes - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus("reading a memory file", errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

absl::Status WriteFully(int fd, std::string_view bytes, int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus("writing a file of tensors", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += n;
  }
  return absl::OkStatus();
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

absl::StatusOr<MemoryFile> MemoryFile::Create(std::string_view name) {
  const int fd = ::memfd_create(std::string(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return ErrnoStatus(graph::Cat("making the memory file ", name), errno);
  return MemoryFile(UniqueFd(fd));
}

absl::StatusOr<MemoryFile> MemoryFile::Filled(std::string_view name, int64_t bytes,
                                              const std::function<void(std::span<std::byte>)>& fill) {
  absl::StatusOr<MemoryFile> file = Create(name);
  if (!file.ok()) return file;
  if (absl::Status resized = file->Resize(bytes); !resized.ok()) return resized;
  {
    absl::StatusOr<Mapping> mapping = file->MapShared();
    if (!mapping.ok()) return mapping.status();
    fill(mapping->bytes());
  }
  if (absl::Status sealed = file->Seal(); !sealed.ok()) return sealed;
  return file;
}

absl::Status MemoryFile::Resize(int64_t bytes) {
  if (::ftruncate(fd_.get(), bytes) != 0) {
    return ErrnoStatus(graph::Cat("making a memory file ", bytes, " bytes long"), errno);
  }
  return absl::OkStatus();
}

absl::StatusOr<Mapping> MemoryFile::MapShared() {
  absl::StatusOr<int64_t> size = SizeOf(fd_.get());
  if (!size.ok()) return size.status();
  Mapping mapping;
  if (*size == 0) return mapping;
  void* start = ::mmap(nullptr, static_cast<size_t>(*size), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (start == MAP_FAILED) return ErrnoStatus(graph::Cat("mapping a memory file of ", *size, " bytes"), errno);
  mapping.bytes_ = {static_cast<std::byte*>(start), static_cast<size_t>(*size)};
  return mapping;
}

absl::Status MemoryFile::Seal() {
  if (::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    if (errno == EBUSY) {
      return absl::FailedPreconditionError("a memory file cannot be sealed while it is mapped for writing");
    }
    return ErrnoStatus("sealing a memory file", errno);
  }
  return absl::OkStatus();
}

absl::StatusOr<Mapping> MapPrivate(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_WRITE) == 0 || (seals & F_SEAL_SHRINK) == 0) {
    return absl::FailedPreconditionError(
        "a file of tensors to be mapped must be a memory file sealed against writing and shrinking");
  }
  absl::StatusOr<int64_t> size = SizeOf(fd);
  if (!size.ok()) return size.status();
  Mapping mapping;
  if (*size == 0) return mapping;
  void* start = ::mmap(nullptr, static_cast<size_t>(*size), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (start == MAP_FAILED) return ErrnoStatus(graph::Cat("mapping a file of ", *size, " bytes"), errno);
  mapping.bytes_ = {static_cast<std::byte*>(start), static_cast<size_t>(*size)};
  return mapping;
}

absl::StatusOr<std::string> ReadBytes(int fd, int64_t max_bytes) {
  absl::StatusOr<int64_t> size = SizeOf(fd);
  if (!size.ok()) return size.status();
  if (*size > max_bytes) {
    return absl::ResourceExhaustedError(graph::Cat("a file of ", *size, " bytes; at most ", max_bytes, " may be"));
  }
  std::string bytes(static_cast<size_t>(*size), '\0');
  absl::StatusOr<size_t> count = ReadFully(fd, bytes.data(), bytes.size());
  if (!count.ok()) return count.status();
  if (*count != bytes.size()) {
    return absl::InvalidArgumentError(
        graph::Cat("a file shrank from ", *size, " to ", *count, " bytes while it was read"));
  }
  return bytes;
}

absl::StatusOr<TensorBytes> ReadTensors(int fd, int64_t max_bytes) {
  absl::StatusOr<int64_t> size = SizeOf(fd);
  if (!size.ok()) return size.status();
  if (*size > max_bytes) {
    absl::StatusOr<int64_t> written = WrittenBytes(fd);
    if (!written.ok()) return written.status();
    if (*written <= max_bytes) {
      return absl::InvalidArgumentError(graph::Cat("a file of tensors that claims ", *size, " bytes, of which ",
                                                   *written, " were written; at most ", max_bytes, " may be"));
    }
    return absl::ResourceExhaustedError(
        graph::Cat("a file of tensors of ", *size, " bytes; at most ", max_bytes, " were expected"));
  }
  absl::StatusOr<std::string> bytes = ReadBytes(fd, max_bytes);
  if (!bytes.ok()) return bytes.status();
  TensorBytes tensors;
  tensors.bytes = *std::move(bytes);
  absl::StatusOr<graph::TensorLayout> layout =
      graph::ReadTensorHeader(tensors.bytes, static_cast<int64_t>(tensors.bytes.size()));
  if (!layout.ok()) return layout.status();
  tensors.layout = *std::move(layout);
  return tensors;
}

absl::Status WriteTensors(int fd, const graph::TensorLayout& layout,
                          const std::vector<std::span<const std::byte>>& data) {
  if (data.size() != layout.entries.size()) {
    return absl::InvalidArgumentError(
        graph::Cat("a layout of ", layout.entries.size(), " tensors and the data of ", data.size()));
  }
  for (size_t i = 0; i < data.size(); ++i) {
    if (static_cast<int64_t>(data[i].size()) != layout.entries[i].bytes) {
      return absl::InvalidArgumentError(graph::Cat("tensor \"", layout.entries[i].spec.name, "\" takes ",
                                                   layout.entries[i].bytes, " bytes and ", data[i].size(),
                                                   " were given"));
    }
  }
  // Emptied first, so that the padding, which is not written, reads as zeros.
  if (::ftruncate(fd, 0) != 0 || ::ftruncate(fd, layout.file_bytes) != 0) {
    return ErrnoStatus(graph::Cat("making a file of tensors ", layout.file_bytes, " bytes long"), errno);
  }
  if (absl::Status written = WriteFully(fd, layout.header, 0); !written.ok()) return written;
  for (size_t i = 0; i < data.size(); ++i) {
    const std::string_view bytes(reinterpret_cast<const char*>(data[i].data()), data[i].size());
    if (absl::Status written = WriteFully(fd, bytes, layout.entries[i].offset); !written.ok()) return written;
  }
  return absl::OkStatus();
}

}  // namespace assay::runner
