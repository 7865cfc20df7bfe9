#include "server/migrations.h"

#include <pqxx/pqxx>

#include "server/digest.h"
#include "server/text.h"

namespace assay::server {

namespace {

constexpr int64_t kLock = 0x6173736179;  // "assay"

absl::Status MigrateOne(Transaction& transaction, std::span<const Migration> migrations, bool& more) {
  more = false;
  transaction.exec_params("SELECT pg_advisory_xact_lock($1)", kLock);
  transaction.exec(
      "CREATE TABLE IF NOT EXISTS schema_migrations ("
      "version int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied timestamptz NOT NULL DEFAULT "
      "now())");
  const pqxx::result rows = transaction.exec("SELECT version, name, checksum FROM schema_migrations ORDER BY version");
  const int known = static_cast<int>(migrations.size());
  int applied = 0;
  for (const auto& row : rows) {
    const int version = row[0].as<int>();
    if (version > known + 1) {
      return absl::FailedPreconditionError(Cat("the database is at schema version ", version, ", this server knows ",
                                               known, ": start a newer server, at most one version apart"));
    }
    if (version <= known && row[2].as<std::string>() != Sha256Hex(migrations[version - 1].sql)) {
      return absl::FailedPreconditionError(Cat("migration ", row[1].c_str(),
                                               " was changed after it was applied to this database: restore the file, "
                                               "and put the change into a new one"));
    }
    applied = version;
  }
  if (applied >= known) return absl::OkStatus();
  const Migration& next = migrations[applied];
  transaction.exec(std::string(next.sql));
  transaction.exec_params("INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)", applied + 1,
                          std::string(next.name), Sha256Hex(next.sql));
  more = applied + 1 < known;
  return absl::OkStatus();
}

}  // namespace

absl::Status Migrate(Database& database, std::span<const Migration> migrations) {
  for (bool more = true; more;) {
    const absl::Status status =
        database.Run([&](Transaction& transaction) { return MigrateOne(transaction, migrations, more); });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace assay::server
