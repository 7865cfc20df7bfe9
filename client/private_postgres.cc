#include "client/private_postgres.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "client/state_folder.h"
#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {
namespace fs = std::filesystem;
namespace {

constexpr size_t kLongestSocketFolder = 90;  // a socket's path has at most 107 bytes, "/.s.PGSQL.5432" among them

std::string Output(const char* command) {
  std::string text;
  std::FILE* pipe = ::popen(command, "re");
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  ::pclose(pipe);
  return std::string(Trim(text));
}

bool HasPostgres(const fs::path& folder) {
  return ::access((folder / "postgres").c_str(), X_OK) == 0 && ::access((folder / "initdb").c_str(), X_OK) == 0;
}

std::optional<User> UnprivilegedUser() {
  for (const char* name : {"postgres", "nobody"}) {
    if (const passwd* entry = ::getpwnam(name); entry != nullptr && entry->pw_uid != 0) {
      return User{entry->pw_uid, entry->pw_gid, name};
    }
  }
  return std::nullopt;
}

absl::StatusOr<std::string> OwnName() {
  const passwd* entry = ::getpwuid(::geteuid());
  if (entry == nullptr) {
    return absl::FailedPreconditionError(
        fmt::format("user {} has no name in /etc/passwd, which Postgres needs: add an entry for it", ::geteuid()));
  }
  return std::string(entry->pw_name);
}

// Whether that user may enter the folder: asked of the kernel, by trying.
bool CanEnter(const fs::path& folder, const User& user) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool dropped = ::setgid(user.gid) == 0 && ::setuid(user.uid) == 0;
    ::_exit(dropped && ::chdir(folder.c_str()) == 0 ? 0 : 1);
  }
  int status = 1;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// FNV-1a: a short name for a path, nothing more.
std::string ShortHash(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

// A folder for `user` alone: made, or found to be so.
absl::Status MakeFolderFor(const fs::path& folder, const std::optional<User>& user) {
  const uid_t uid = user.has_value() ? user->uid : ::geteuid();
  if (::mkdir(folder.c_str(), 0700) == 0) {
    if (user.has_value() && ::lchown(folder.c_str(), user->uid, user->gid) != 0) {
      return absl::ErrnoToStatus(errno, fmt::format("cannot give {} to {}", folder.string(), user->name));
    }
    return absl::OkStatus();
  }
  if (errno != EEXIST) return absl::ErrnoToStatus(errno, "cannot make the folder " + folder.string());
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != uid ||
      (info.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        fmt::format("{} exists and is not a folder of user {} alone: take it away", folder.string(), uid));
  }
  return absl::OkStatus();
}

// Where the data folder is to be, for a user who must be able to reach it.
absl::StatusOr<fs::path> DataFolder(const fs::path& state, const std::optional<User>& user) {
  std::error_code error;
  const fs::path own = state / "postgres";
  if (fs::is_symlink(own, error)) return fs::canonical(own, error);
  if (!user.has_value()) return own;
  // The state folder is closed to others; entering it, without listing it, is all that is needed.
  ::chmod(state.c_str(), 0711);
  if (CanEnter(state, *user)) return own;
  const fs::path shared = "/var/lib/assay";
  fs::create_directories(shared, error);
  ::chmod(shared.c_str(), 0711);
  if (!CanEnter(shared, *user)) {
    return absl::FailedPreconditionError(fmt::format(
        "Postgres runs as {}, who can reach neither {} nor {}: set ASSAY_HOME to a folder that others may enter",
        user->name, state.string(), shared.string()));
  }
  const fs::path data = shared / ShortHash(state.string());
  fs::create_symlink(data, own, error);
  if (error) return absl::InternalError(fmt::format("cannot make the link {}: {}", own.string(), error.message()));
  return data;
}

// initdb and the database, in a folder beside the final one that takes its name at the end.
absl::Status Initialise(const fs::path& programs, const fs::path& data, const std::optional<User>& user,
                        const fs::path& log) {
  const absl::StatusOr<std::string> own_name = OwnName();
  if (!own_name.ok()) return own_name.status();
  const fs::path fresh = data.string() + ".new";
  std::error_code error;
  fs::remove_all(fresh, error);
  if (absl::Status status = MakeFolderFor(fresh, user); !status.ok()) return status;
  ProcessSpec initdb{.name = "initdb",
                     .argv = {(programs / "initdb").string(), "-D", fresh.string(), "-U", "assay", "-E", "UTF8",
                              "--locale=C.UTF-8", "--auth-local=peer", "--auth-host=reject", "--no-instructions"},
                     .log = log,
                     .user = user,
                     .folder = "/"};
  if (absl::Status status = RunToEnd(initdb); !status.ok()) return status;
  std::string map = fmt::format("assay {} assay\n", *own_name);
  if (user.has_value()) map += fmt::format("assay {} assay\n", user->name);
  for (const auto& [name, text] :
       {std::pair<const char*, std::string>{"pg_hba.conf", "local all all peer map=assay\n"}, {"pg_ident.conf", map}}) {
    // In place: the file belongs to the unprivileged user and stays so.
    const Fd fd(::open((fresh / name).c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!fd.valid() || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      return absl::ErrnoToStatus(errno, "cannot write " + (fresh / name).string());
    }
  }
  ProcessSpec create{.name = "the making of the database",
                     .argv = {(programs / "postgres").string(), "--single", "-D", fresh.string(), "postgres"},
                     .log = log,
                     .user = user,
                     .folder = "/"};
  if (absl::Status status = RunToEnd(create, "CREATE DATABASE assay\n"); !status.ok()) return status;
  fs::rename(fresh, data, error);
  if (error) return absl::InternalError(fmt::format("cannot rename {}: {}", fresh.string(), error.message()));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<fs::path> FindPostgresPrograms(const std::string& version) {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib/postgresql", error)) {
    const fs::path programs = entry.path() / "bin";
    const int major = ParseNumber<int>(entry.path().filename().string()).value_or(0);
    if (major > 0 && HasPostgres(programs)) found.emplace_back(major, programs);
  }
  const fs::path configured = Output("pg_config --bindir 2>/dev/null");
  if (!configured.empty() && HasPostgres(configured)) {
    // "PostgreSQL 15.8 (Debian …)"
    const std::vector<std::string> words = Split(Output("pg_config --version 2>/dev/null"), ' ');
    const int major = words.size() > 1 ? ParseNumber<int>(Split(words[1], '.')[0]).value_or(0) : 0;
    found.emplace_back(major, configured);
  }
  std::sort(found.rbegin(), found.rend());
  for (const auto& [major, programs] : found) {
    if (version.empty() || version == std::to_string(major)) return programs;
  }
  return absl::NotFoundError(
      fmt::format("Postgres{} is not installed: looked at pg_config and in /usr/lib/postgresql; install postgresql-15",
                  version.empty() ? "" : " " + version));
}

absl::StatusOr<PrivatePostgres> PrivatePostgres::Prepare(const fs::path& state_folder, const fs::path& log) {
  PrivatePostgres postgres;
  postgres.log_ = log;
  if (::geteuid() == 0) {
    postgres.user_ = UnprivilegedUser();
    if (!postgres.user_.has_value()) {
      return absl::FailedPreconditionError("Postgres must not run as root, and there is no user postgres or nobody");
    }
  }
  absl::StatusOr<fs::path> data = DataFolder(state_folder, postgres.user_);
  if (!data.ok()) return data.status();
  postgres.data_ = *std::move(data);

  const absl::StatusOr<std::string> made_by = ReadFile(postgres.data_ / "PG_VERSION", 64);
  if (!made_by.ok() && !absl::IsNotFound(made_by.status())) return made_by.status();
  absl::StatusOr<fs::path> programs = FindPostgresPrograms(made_by.ok() ? std::string(Trim(*made_by)) : "");
  if (!programs.ok()) return programs.status();
  postgres.programs_ = *std::move(programs);
  if (!made_by.ok()) {
    if (absl::Status status = Initialise(postgres.programs_, postgres.data_, postgres.user_, log); !status.ok()) {
      return status;
    }
  }
  postgres.socket_folder_ = postgres.data_;
  if (postgres.data_.string().size() > kLongestSocketFolder) {
    postgres.socket_folder_ = "/tmp/assay-" + ShortHash(postgres.data_.string());
    if (absl::Status status = MakeFolderFor(postgres.socket_folder_, postgres.user_); !status.ok()) return status;
  }
  return postgres;
}

ProcessSpec PrivatePostgres::Spec() const {
  return {.name = "postgres",
          .argv = {(programs_ / "postgres").string(), "-D", data_.string(), "-c", "listen_addresses=", "-c",
                   "unix_socket_directories=" + socket_folder_.string(), "-c", "unix_socket_permissions=0700", "-c",
                   "max_connections=200", "-c", "log_destination=stderr", "-c", "logging_collector=off"},
          .log = log_,
          .end_signal = SIGINT,  // a fast shutdown: does not wait for clients
          .user = user_,
          .folder = "/"};
}

bool PrivatePostgres::Ready(pid_t pid) const {
  const absl::StatusOr<std::string> text = ReadFile(data_ / "postmaster.pid", 4096);
  if (!text.ok()) return false;
  const std::vector<std::string> lines = Split(*text, '\n');
  return lines.size() >= 8 && Trim(lines[0]) == std::to_string(pid) && Trim(lines[7]) == "ready";
}

std::string PrivatePostgres::ConnectionString() const {
  std::string quoted;
  for (const char c : socket_folder_.string()) quoted += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
  return fmt::format("host='{}' user=assay dbname=assay", quoted);
}

}  // namespace assay::client
