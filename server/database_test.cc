#include "server/database.h"

#include <pqxx/pqxx>

#include "gmock/gmock.h"
#include "server/compression.h"
#include "server/postgres_fixture.h"

namespace assay::server {
namespace {

using DatabaseTest = PostgresTest;

TEST_F(DatabaseTest, RollsBackWhereTheBodyFails) {
  const absl::Status status = database().Run([](Transaction& transaction) {
    transaction.exec("INSERT INTO tokens (name, role, secret_hash) VALUES ('a', 'admin', 'x')");
    return absl::AbortedError("no");
  });
  EXPECT_EQ(status, absl::AbortedError("no"));
  EXPECT_EQ(Get("SELECT count(*) FROM tokens"), "0");
}

TEST_F(DatabaseTest, ExceptionsBecomeStatuses) {
  EXPECT_TRUE(absl::IsInternal(database().Run([](Transaction& transaction) {
    transaction.exec("SELECT nonsense");
    return absl::OkStatus();
  })));
  EXPECT_TRUE(absl::IsInternal(
      database().Run([](Transaction&) -> absl::Status { throw std::runtime_error("out of the blue"); })));
}

TEST_F(DatabaseTest, SurvivesADeadConnection) {
  Execute("SELECT 1");
  EXPECT_FALSE(database()
                   .Run([](Transaction& transaction) {
                     transaction.exec("SELECT pg_terminate_backend(pg_backend_pid())");
                     return absl::OkStatus();
                   })
                   .ok());
  EXPECT_EQ(Get("SELECT 1"), "1");
}

TEST_F(DatabaseTest, ReconnectsBeforeAnythingWasDone) {
  Execute("SELECT 1");  // leaves an idle connection
  Database other(database().conninfo(), 1);
  ASSERT_TRUE(other
                  .Run([](Transaction& transaction) {
                    transaction.exec(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND pid <> pg_backend_pid()");
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(Get("SELECT 7"), "7");
}

TEST(DatabaseNoServer, SaysThatItIsUnavailable) {
  Database database("host=/nonexistent dbname=none", 1);
  for (int i = 0; i < 3; ++i) {  // a failed connection must give its place back
    EXPECT_TRUE(absl::IsUnavailable(database.Run([](Transaction&) { return absl::OkStatus(); })));
  }
}

TEST_F(DatabaseTest, ArraysKeepTheirItems) {
  ArrayParameter texts;
  texts.Add("a\"b\\c,{}");
  texts.AddNull();
  texts.Add("NULL");
  ArrayParameter doubles;
  doubles.Add(-INFINITY);
  doubles.Add(0.1);
  ArrayParameter bytes;
  bytes.AddBytes(std::string("\0\xff", 2));
  ASSERT_TRUE(database()
                  .Run([&](Transaction& transaction) {
                    const pqxx::row row = transaction.exec_params1(
                        "SELECT ($1::text[])[1], ($1::text[])[2] IS NULL, ($1::text[])[3], ($2::float8[])[1], "
                        "($2::float8[])[2] = 0.1, ($3::bytea[])[1]",
                        texts.str(), doubles.str(), bytes.str());
                    EXPECT_EQ(row[0].as<std::string>(), "a\"b\\c,{}");
                    EXPECT_EQ(row[1].as<std::string>(), "t");
                    EXPECT_EQ(row[2].as<std::string>(), "NULL");
                    EXPECT_EQ(row[3].as<std::string>(), "-Infinity");
                    EXPECT_EQ(row[4].as<std::string>(), "t");
                    EXPECT_EQ(BytesFromText(row[5].c_str()), std::string("\0\xff", 2));
                    return absl::OkStatus();
                  })
                  .ok());
}

TEST(CleanText, KeepsOnlyWhatPostgresTakes) {
  EXPECT_EQ(CleanText("größe → 😀"), "größe → 😀");
  EXPECT_EQ(CleanText(std::string_view("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(CleanText("\xff\xc0\xaf"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(CleanText("\xed\xa0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Compression, RoundTripAndRefusal) {
  const std::string text(100000, 'x');
  const std::string packed = Compress(text);
  EXPECT_LT(packed.size(), 1000u);
  EXPECT_EQ(*Decompress(packed), text);
  EXPECT_FALSE(Decompress(packed.substr(0, packed.size() - 3)).ok());
  EXPECT_FALSE(Decompress("nonsense").ok());
  EXPECT_FALSE(Decompress(packed, 99999).ok());
}

}  // namespace
}  // namespace assay::server
