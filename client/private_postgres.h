// The private Postgres of `assay up`: a data folder of its own, a Unix socket inside it, no TCP port. Postgres refuses
// to run as root: started by root it runs as `postgres`, or `nobody` where there is no such user. Only that user and
// the one who started `assay up` may connect (peer authentication).
//
// The data folder is STATE/postgres; where the unprivileged user cannot reach that (root's home is closed to others) it
// is /var/lib/assay/HASH, and STATE/postgres a link to it. Thread safety: one thread.
#pragma once

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "client/process.h"

namespace assay::client {

class PrivatePostgres {
 public:
  // Finds the programs and makes the data folder where there is none yet: whole, or not at all.
  static absl::StatusOr<PrivatePostgres> Prepare(const std::filesystem::path& state_folder,
                                                 const std::filesystem::path& log);

  ProcessSpec Spec() const;
  // Whether the postmaster with this pid accepts connections.
  bool Ready(pid_t pid) const;
  // libpq's connection string.
  std::string ConnectionString() const;

  const std::filesystem::path& data_folder() const { return data_; }

 private:
  std::filesystem::path programs_, data_, socket_folder_, log_;
  std::optional<User> user_;
};

// The folder with initdb and postgres of this major version ("15"); "" takes the newest. Looks at pg_config, then under
// /usr/lib/postgresql.
absl::StatusOr<std::filesystem::path> FindPostgresPrograms(const std::string& version);

}  // namespace assay::client
