#include "worker/memory_group.h"

#include <unistd.h>

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A folder that looks like the kernel's. What the kernel would put into a new group is put there beforehand.
class MemoryGroupTest : public testing::Test {
 protected:
  MemoryGroupTest() : root_(fs::path(testing::TempDir()) / ("memory_group_test_" + std::to_string(::getpid()))) {
    Write("proc/self/cgroup", "4:memory:/old\n0::/unit\n");
    Write("sys/fs/cgroup/unit/cgroup.controllers", "cpu memory pids\n");
    Write("sys/fs/cgroup/unit/cgroup.subtree_control", "");
    Write("sys/fs/cgroup/unit/assay-worker/cgroup.procs", "");
  }
  ~MemoryGroupTest() override { fs::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::string Read(const std::string& file) {
    std::ifstream in(root_ / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string Runner() const { return "sys/fs/cgroup/unit/assay-runner-" + std::to_string(::getpid()) + "-1"; }

  fs::path root_;
};

TEST_F(MemoryGroupTest, LimitsARunner) {
  absl::StatusOr<std::unique_ptr<MemoryGroups>> groups = MemoryGroups::Prepare(root_);
  ASSERT_TRUE(groups.ok()) << groups.status();
  EXPECT_EQ(Read("sys/fs/cgroup/unit/cgroup.subtree_control"), "+memory");
  EXPECT_EQ(Read("sys/fs/cgroup/unit/assay-worker/cgroup.procs"), "0");
  for (const char* file : {"memory.max", "memory.swap.max", "cgroup.procs"}) Write(Runner() + "/" + file, "");
  absl::StatusOr<std::unique_ptr<MemoryGroup>> group = (*groups)->Make(1 << 30);
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_EQ(Read(Runner() + "/memory.max"), "1073741824");
  EXPECT_EQ(Read(Runner() + "/memory.swap.max"), "0");
  EXPECT_EQ((*group)->procs(), root_ / Runner() / "cgroup.procs");
  EXPECT_EQ((*group)->oom_kills(), 0);
  Write(Runner() + "/memory.events", "low 0\noom 3\noom_kill 2\n");
  EXPECT_EQ((*group)->oom_kills(), 2);
}

TEST_F(MemoryGroupTest, SaysWhyItCannot) {
  Write("sys/fs/cgroup/unit/cgroup.controllers", "cpu pids\n");
  EXPECT_THAT(std::string(MemoryGroups::Prepare(root_).status().message()), HasSubstr("no memory controller"));
  Write("sys/fs/cgroup/unit/cgroup.controllers", "memory\n");
  fs::remove(root_ / "sys/fs/cgroup/unit/cgroup.subtree_control");
  EXPECT_THAT(std::string(MemoryGroups::Prepare(root_).status().message()), HasSubstr("subtree_control"));
}

}  // namespace
}  // namespace assay::worker
