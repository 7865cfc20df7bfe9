#include "worker/device_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <condition_variable>
#include <mutex>
#include <string>

#include "fmt/format.h"

namespace assay::worker {
namespace {

constexpr char kProcessors[] = "cpu";

std::string FileName(std::string_view name) {
  std::string file = "device-";
  for (const char c : name) file += isalnum(static_cast<unsigned char>(c)) || c == '-' ? c : '_';
  return file + ".lock";
}

}  // namespace

std::string LockName(const v1::Device& device, bool compiles_only) {
  if (compiles_only || device.kind() == "cpu") return kProcessors;
  return device.uuid().empty() ? device.id() : device.uuid();
}

absl::StatusOr<runner::UniqueFd> LockDevice(const std::filesystem::path& folder, std::string_view name,
                                            std::stop_token stop) {
  std::error_code error;
  const bool made = std::filesystem::create_directories(folder, error);
  // Workers of several users share the folder, as they share /tmp.
  if (made) ::chmod(folder.c_str(), 01777);
  const std::filesystem::path file = folder / FileName(name);
  runner::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) {
    return absl::PermissionDeniedError(
        fmt::format("the device lock {} cannot be opened: {}: set lock_dir to a folder that every worker of this host "
                    "may write",
                    file.string(), strerror(errno)));
  }
  // flock() cannot be waited for with a limit: asked again until the holder, usually another worker's trial, is done.
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock<std::mutex> lock(mutex);
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return absl::InternalError(fmt::format("flock of {}: {}", file.string(), strerror(errno)));
    }
    wake.wait_for(lock, stop, std::chrono::milliseconds(20), [] { return false; });
    if (stop.stop_requested()) return absl::CancelledError("the trial was ended while it waited for the device");
  }
  return fd;
}

}  // namespace assay::worker
