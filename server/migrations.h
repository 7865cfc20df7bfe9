// Brings a database to this binary's schema. The SQL files of migrations/ are compiled in.
//
// Files are applied in order, each in one transaction under an advisory lock, so any number of servers may start at
// once. Each one's checksum is kept: an applied file that was changed since is an error. A database that is one version
// ahead (a newer server runs beside this one) is accepted, further ahead is not. Thread safety: a function, safe from
// any number of processes.
#pragma once

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "server/database.h"

namespace assay::server {

struct Migration {
  std::string_view name;  // "0001_initial.sql"
  std::string_view sql;
};

// In order; generated at build time.
std::span<const Migration> EmbeddedMigrations();

absl::Status Migrate(Database& database, std::span<const Migration> migrations = EmbeddedMigrations());

}  // namespace assay::server
