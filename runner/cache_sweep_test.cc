#include "runner/cache_sweep.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace assay::runner {
namespace {

namespace fs = std::filesystem;

class CacheSweepTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("cache_sweep_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void Add(const std::string& name, const std::string& level, const std::string& type, const std::string& size) {
    fs::create_directories(folder_ / name);
    std::ofstream(folder_ / name / "level") << level << "\n";
    std::ofstream(folder_ / name / "type") << type << "\n";
    std::ofstream(folder_ / name / "size") << size << "\n";
  }
  fs::path folder_;
};

TEST_F(CacheSweepTest, ReadsTheSizesThatTheSystemTells) {
  Add("index0", "1", "Data", "48K");
  Add("index1", "1", "Instruction", "64M");
  Add("index2", "2", "Unified", "2048K");
  Add("index3", "3", "Unified", "96M");
  const CacheSizes sizes = ReadCacheSizes(folder_.string());
  EXPECT_EQ(sizes.last_level, 96 << 20);
  EXPECT_EQ(sizes.own, 2 << 20);
  const CacheSizes unknown = ReadCacheSizes((folder_ / "nowhere").string());
  EXPECT_EQ(unknown.last_level, 32 << 20);
  EXPECT_EQ(unknown.own, 1 << 20);
}

TEST_F(CacheSweepTest, SweepsTwiceTheLastLevelAndLeavesNoThread) {
  CacheSweep sweep({.last_level = 4 << 20, .own = 64 << 10});
  EXPECT_EQ(sweep.bytes(), 8 << 20);
  const auto threads = [] {
    return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
  };
  const auto before = threads();
  sweep.Sweep();
  sweep.Sweep();
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace assay::runner
