// The folder in which `assay up` keeps everything: database, logs, tokens, and the file that tells other commands where
// the service is. $ASSAY_HOME, else $XDG_STATE_HOME/assay, else ~/.local/state/assay.
//
// A lock on its file `lock` says that a service runs here; the kernel frees it with the last process of `assay up`, so
// that nothing stale is ever believed. `up.json` is only read while the lock is held.
// Thread safety: functions are pure but for the files; FileLock belongs to one thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/fd.h"

namespace assay::client {

using GetEnv = std::function<std::string(const char* name)>;  // empty where it is not set
std::string SystemEnv(const char* name);

absl::StatusOr<std::filesystem::path> StateFolder(const GetEnv& env = SystemEnv);

// Makes the folder, its parents included, for this user alone.
absl::Status MakePrivateFolder(const std::filesystem::path& folder);

// An exclusive lock on a file, kept by this process and by children that inherit the descriptor.
class FileLock {
 public:
  // Aborted where someone else has it. The file then holds this process' id.
  static absl::StatusOr<FileLock> Take(const std::filesystem::path& file);
  static bool Held(const std::filesystem::path& file);
  // The process that took it last; 0 where the file says nothing.
  static pid_t Holder(const std::filesystem::path& file);

  int fd() const { return fd_.get(); }

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

// What up.json says.
struct LocalService {
  pid_t pid = 0;
  int grpc_port = 0;
  int http_port = 0;
  std::string token;
  bool operator==(const LocalService&) const = default;
};

absl::Status WriteLocalService(const std::filesystem::path& folder, const LocalService& service);
// NotFound where no service runs, or it is not ready yet.
absl::StatusOr<LocalService> ReadLocalService(const std::filesystem::path& folder);

// Whole files. Written in one step (a new file, then a rename) and readable by this user alone.
absl::StatusOr<std::string> ReadFile(const std::filesystem::path& file, size_t limit = size_t{1} << 30);
absl::Status WriteFile(const std::filesystem::path& file, std::string_view text, mode_t mode = 0600);

}  // namespace assay::client
