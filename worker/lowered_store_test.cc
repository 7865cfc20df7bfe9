#include "worker/lowered_store.h"

#include <unistd.h>

#include <fstream>

#include "gtest/gtest.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

class LoweredStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("lowered_store_test_" + std::to_string(::getpid()));
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(LoweredStoreTest, KeepsBytes) {
  const LoweredStore store(folder_);
  EXPECT_FALSE(store.Read("a"));
  std::string bytes(100'000, 'x');
  bytes[500] = '\0';
  store.Write("a", bytes);
  EXPECT_EQ(store.Read("a"), bytes);
  store.Write("a", "newer");
  EXPECT_EQ(store.Read("a"), "newer");
  EXPECT_LT(fs::file_size(folder_ / "a"), 100u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(LoweredStoreTest, DamagedEntriesAreNone) {
  const LoweredStore store(folder_);
  store.Write("a", std::string(1000, 'x'));
  fs::resize_file(folder_ / "a", fs::file_size(folder_ / "a") - 3);
  EXPECT_FALSE(store.Read("a"));
  std::ofstream(folder_ / "b") << "no frame";
  EXPECT_FALSE(store.Read("b"));
}

TEST_F(LoweredStoreTest, TheLeastRecentlyUsedGoFirst) {
  const LoweredStore unbounded(folder_);
  int hours = 10;
  for (const char* key : {"a", "b", "c"}) {
    unbounded.Write(key, key);
    fs::last_write_time(folder_ / key, fs::file_time_type::clock::now() - std::chrono::hours(hours--));
  }
  const auto size = static_cast<int64_t>(fs::file_size(folder_ / "a"));
  const LoweredStore bounded(folder_, 3 * size);
  EXPECT_TRUE(bounded.Read("a"));  // used just now
  bounded.Write("d", "d");
  EXPECT_TRUE(bounded.Read("a"));
  EXPECT_FALSE(bounded.Read("b"));
  EXPECT_TRUE(bounded.Read("c"));
  EXPECT_TRUE(bounded.Read("d"));
}

TEST_F(LoweredStoreTest, KeysTellRunnersDevicesAndGraphsApart) {
  v1::Runner runner;
  runner.set_name("pjrt");
  const std::string key = LoweredStore::KeyOf(runner, "cpu", "graph");
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(LoweredStore::KeyOf(runner, "cpu", "graph"), key);
  EXPECT_NE(LoweredStore::KeyOf(runner, "cuda", "graph"), key);
  EXPECT_NE(LoweredStore::KeyOf(runner, "cpu", "another"), key);
  runner.set_environment_hash("e");
  EXPECT_NE(LoweredStore::KeyOf(runner, "cpu", "graph"), key);
}

}  // namespace
}  // namespace assay::worker
