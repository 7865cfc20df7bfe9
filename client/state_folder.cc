#include "client/state_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstdlib>

#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {
namespace fs = std::filesystem;
namespace {

absl::Status FileError(std::string_view what, const fs::path& file) {
  const int error = errno;
  return absl::ErrnoToStatus(error, fmt::format("cannot {} {}", what, file.string()));
}

absl::Status WriteAll(int fd, std::string_view text, const fs::path& file) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno != EINTR) return FileError("write", file);
    if (n > 0) text.remove_prefix(n);
  }
  return absl::OkStatus();
}

}  // namespace

std::string SystemEnv(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<fs::path> StateFolder(const GetEnv& env) {
  fs::path folder;
  if (const std::string home = env("ASSAY_HOME"); !home.empty()) {
    folder = home;
  } else if (const std::string state = env("XDG_STATE_HOME"); !state.empty()) {
    folder = fs::path(state) / "assay";
  } else if (const std::string user_home = env("HOME"); !user_home.empty()) {
    folder = fs::path(user_home) / ".local/state/assay";
  } else {
    return absl::FailedPreconditionError("no folder for Assay's state: set HOME, XDG_STATE_HOME or ASSAY_HOME");
  }
  std::error_code error;
  folder = fs::absolute(folder, error).lexically_normal();
  if (error) return absl::FailedPreconditionError("no current folder: " + error.message());
  return folder;
}

absl::Status MakePrivateFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return FileError("make the folder", folder);
  if (!fs::is_directory(folder, error)) return absl::FailedPreconditionError(folder.string() + " is not a folder");
  return absl::OkStatus();
}

absl::StatusOr<FileLock> FileLock::Take(const fs::path& file) {
  Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return FileError("open", file);
  // A lock of the open file, not of the process: closing another descriptor of this file does not free it.
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
  if (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) return absl::AbortedError(file.string() + " is locked");
    return FileError("lock", file);
  }
  if (::ftruncate(fd.get(), 0) != 0) return FileError("write", file);
  if (absl::Status status = WriteAll(fd.get(), fmt::format("{}\n", ::getpid()), file); !status.ok()) return status;
  return FileLock(std::move(fd));
}

bool FileLock::Held(const fs::path& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return false;
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
  return ::fcntl(fd.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

pid_t FileLock::Holder(const fs::path& file) {
  const absl::StatusOr<std::string> text = ReadFile(file);
  return text.ok() ? ParseNumber<pid_t>(Trim(*text)).value_or(0) : 0;
}

absl::Status WriteLocalService(const fs::path& folder, const LocalService& service) {
  const boost::json::object json = {
      {"pid", service.pid}, {"grpc", service.grpc_port}, {"http", service.http_port}, {"token", service.token}};
  return WriteFile(folder / "up.json", boost::json::serialize(json) + "\n");
}

absl::StatusOr<LocalService> ReadLocalService(const fs::path& folder) {
  if (!FileLock::Held(folder / "lock")) {
    return absl::NotFoundError("no 'assay up' runs in " + folder.string());
  }
  const absl::StatusOr<std::string> text = ReadFile(folder / "up.json", 1 << 16);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(fmt::format("the 'assay up' in {} is starting or stopping", folder.string()));
  }
  if (!text.ok()) return text.status();
  try {
    const boost::json::object json = boost::json::parse(*text).as_object();
    return LocalService{.pid = static_cast<pid_t>(json.at("pid").to_number<int>()),
                        .grpc_port = json.at("grpc").to_number<int>(),
                        .http_port = json.at("http").to_number<int>(),
                        .token = std::string(json.at("token").as_string())};
  } catch (const std::exception& e) {
    return absl::DataLossError(fmt::format("{} is damaged ({}): stop the service with 'assay down' and start it again",
                                           (folder / "up.json").string(), e.what()));
  }
}

absl::StatusOr<std::string> ReadFile(const fs::path& file, size_t limit) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return FileError("open", file);
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("read", file);
    if (n == 0) return text;
    if (text.size() + n > limit) {
      return absl::ResourceExhaustedError(fmt::format("{} is larger than {} bytes", file.string(), limit));
    }
    text.append(buffer, n);
  }
}

absl::Status WriteFile(const fs::path& file, std::string_view text, mode_t mode) {
  const fs::path fresh = fmt::format("{}.{}.new", file.string(), ::getpid());
  {
    const Fd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!fd.valid()) return FileError("write", fresh);
    if (absl::Status status = WriteAll(fd.get(), text, fresh); !status.ok()) {
      ::unlink(fresh.c_str());
      return status;
    }
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) return FileError("write", file);
  return absl::OkStatus();
}

}  // namespace assay::client
