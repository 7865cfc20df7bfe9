// A private Postgres for tests: its own data folder and a Unix socket in a temporary folder, no TCP port, started once
// a process and taken down with it; each test gets a database of its own with the schema applied. Started as an
// unprivileged user where the tests run as root, because Postgres refuses root.
// Thread safety: none; use from the test's thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "server/database.h"

namespace assay::server {

// A new empty database: its connection string.
std::string MakeEmptyDatabase();

class PostgresTest : public testing::Test {
 protected:
  // Fails the test where Postgres cannot be started.
  void SetUp() override;

  Database& database() { return *database_; }
  // First column of the first row, as text; the statement must give a row.
  std::string Get(const std::string& sql);
  void Execute(const std::string& sql);

 private:
  std::unique_ptr<Database> database_;
};

}  // namespace assay::server
