#include "server/migrations.h"

#include <thread>

#include "gmock/gmock.h"
#include "server/postgres_fixture.h"

namespace assay::server {
namespace {

constexpr Migration kOne[] = {{"0001_a.sql", "CREATE TABLE a (x int);"}};
constexpr Migration kTwo[] = {{"0001_a.sql", "CREATE TABLE a (x int);"}, {"0002_b.sql", "CREATE TABLE b (x int);"}};
constexpr Migration kChanged[] = {{"0001_a.sql", "CREATE TABLE a (x bigint);"}};
constexpr Migration kBroken[] = {{"0001_a.sql", "CREATE TABLE a (x int);"},
                                 {"0002_b.sql", "CREATE TABLE b (x int); SELECT nonsense;"}};

TEST(Migrations, ApplyOnceAndInOrder) {
  Database database(MakeEmptyDatabase(), 2);
  ASSERT_TRUE(Migrate(database, kOne).ok());
  ASSERT_TRUE(Migrate(database, kTwo).ok());
  ASSERT_TRUE(Migrate(database, kTwo).ok());
}

TEST(Migrations, AnEditedFileIsRefused) {
  Database database(MakeEmptyDatabase(), 2);
  ASSERT_TRUE(Migrate(database, kOne).ok());
  const absl::Status status = Migrate(database, kChanged);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("0001_a.sql was changed"));
}

TEST(Migrations, AFailingFileLeavesNothing) {
  Database database(MakeEmptyDatabase(), 2);
  EXPECT_FALSE(Migrate(database, kBroken).ok());
  EXPECT_TRUE(Migrate(database, kTwo).ok());  // the table b of the broken file is not there
}

TEST(Migrations, OneVersionAheadIsAccepted) {
  Database database(MakeEmptyDatabase(), 2);
  ASSERT_TRUE(Migrate(database, kTwo).ok());
  EXPECT_TRUE(Migrate(database, kOne).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Migrate(database, {})));
}

TEST(Migrations, ServersMayStartTogether) {
  const std::string conninfo = MakeEmptyDatabase();
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Database database(conninfo, 1);
      good += Migrate(database).ok() ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 4);
}

}  // namespace
}  // namespace assay::server
