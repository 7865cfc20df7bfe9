#include "worker/scheduling.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

// A child in a session of its own that waits to be killed.
class Child {
 public:
  Child() {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setsid();
      ::close(ready[0]);
      ::close(ready[1]);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte;
    EXPECT_EQ(::read(ready[0], &byte, 1), 0);  // the child has closed its end: it has its session
    ::close(ready[0]);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  int nice() const { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(pid_)); }
  std::string autogroup() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/autogroup");
    std::string line;
    std::getline(in, line);
    return line.substr(std::min(line.size(), line.find(' ')));
  }

 private:
  pid_t pid_;
};

class FakeProc : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-proc-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    proc_ = name;
  }
  void TearDown() override { fs::remove_all(proc_); }

  void Add(pid_t pid, pid_t parent, const std::string& command = "runner") {
    const fs::path folder = proc_ / std::to_string(pid);
    fs::create_directories(folder);
    std::ofstream(folder / "stat") << pid << " (" << command << ") S " << parent << " 1 1 0 -1\n";
  }
  void AddThread(pid_t pid, pid_t thread, const std::string& schedstat) {
    const fs::path folder = proc_ / std::to_string(pid) / "task" / std::to_string(thread);
    fs::create_directories(folder);
    std::ofstream(folder / "schedstat") << schedstat;
  }

  fs::path proc_;
};

TEST_F(FakeProc, ATreeHasAllThatDescendAndNothingElse) {
  Add(1, 0);
  Add(10, 1);
  Add(11, 10, "odd) S 1 (name");
  Add(12, 11);
  Add(20, 1);
  fs::create_directories(proc_ / "sys");
  std::vector<pid_t> tree = ProcessTree(10, proc_);
  std::sort(tree.begin(), tree.end());
  EXPECT_EQ(tree, (std::vector<pid_t>{10, 11, 12}));
  EXPECT_TRUE(ProcessTree(99, proc_).empty());
}

TEST_F(FakeProc, TimesAreSummedOverThreads) {
  AddThread(10, 10, "1000 200 5\n");
  AddThread(10, 13, "500 300 2\n");
  AddThread(11, 11, "70 8 1\n");
  AddThread(12, 12, "");
  const CpuTime time = CpuTimeOf({10, 11, 12, 99}, proc_);
  EXPECT_EQ(time.ran_ns, 1570);
  EXPECT_EQ(time.waited_ns, 508);
}

TEST(WaitedShareTest, IsTheShareOfTheTimeInWhichThreadsCouldRun) {
  EXPECT_DOUBLE_EQ(WaitedShare({100, 10}, {175, 35}), 0.25);
  EXPECT_EQ(WaitedShare({100, 10}, {100, 10}), 0);
  EXPECT_EQ(WaitedShare({100, 10}, {50, 5}), 0);  // threads ended
  EXPECT_DOUBLE_EQ(WaitedShare({100, 10}, {175, 135}, 100), 0.25);
  EXPECT_EQ(WaitedShare({100, 10}, {175, 135}, 1000), 0);
}

TEST(WaitingBiasTest, IsWhatWaitingAddsToTheLogSpeedUp) {
  EXPECT_EQ(WaitingBias(0, 0), 0);
  // The baseline ran in a tenth of its time: it seems ten times slower.
  EXPECT_NEAR(WaitingBias(0.9, 0), std::log(10), 1e-12);
  EXPECT_NEAR(WaitingBias(0.1, 0.87), -std::log(0.9 / 0.13), 1e-12);
  EXPECT_TRUE(std::isfinite(WaitingBias(1, 0)));
  EXPECT_LT(std::abs(WaitingBias(0.25, 0.3)), kSeriousBias);
}

TEST(ProcessTreeTest, FindsRealChildren) {
  Child child;
  const std::vector<pid_t> tree = ProcessTree(::getpid());
  EXPECT_NE(std::find(tree.begin(), tree.end(), child.pid()), tree.end());
  EXPECT_EQ(ProcessTree(child.pid()), std::vector<pid_t>{child.pid()});
}

TEST(PriorityTest, IsGivenAndTakenBackWhereTheKernelAllowsIt) {
  Child child;
  {
    const Priority priority({child.pid()}, -10);
    if (::geteuid() != 0) {
      EXPECT_FALSE(priority.given());
      EXPECT_EQ(child.nice(), 0);
      GTEST_SKIP() << "only root may raise priorities";
    }
    EXPECT_TRUE(priority.given());
    EXPECT_EQ(child.nice(), -10);
    if (fs::exists("/proc/self/autogroup")) {
      EXPECT_EQ(child.autogroup(), " nice -10");
    }
  }
  EXPECT_EQ(child.nice(), 0);
  if (fs::exists("/proc/self/autogroup")) {
    EXPECT_EQ(child.autogroup(), " nice 0");
  }
}

std::vector<int> AffinityOf(pid_t pid) {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(pid, sizeof(set), &set), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST(PinningTest, AllProcessesGetTheSameCpusAndThenTheirOwnAgain) {
  Child one, other;
  const std::vector<int> all = AffinityOf(one.pid());
  if (all.size() < 2) GTEST_SKIP() << "there is one CPU only";
  {
    const Pinning pinning({one.pid(), other.pid()}, 1);
    EXPECT_EQ(pinning.cpus(), std::vector<int>{all.back()});
    EXPECT_EQ(AffinityOf(one.pid()), pinning.cpus());
    EXPECT_EQ(AffinityOf(other.pid()), pinning.cpus());
  }
  EXPECT_EQ(AffinityOf(one.pid()), all);
  EXPECT_EQ(AffinityOf(other.pid()), all);
}

TEST(PinningTest, AsManyAsThereAreOrNoneChangesNothing) {
  Child child;
  const std::vector<int> all = AffinityOf(child.pid());
  for (const int cpus : {0, static_cast<int>(all.size()), static_cast<int>(all.size()) + 1}) {
    const Pinning pinning({child.pid()}, cpus);
    EXPECT_TRUE(pinning.cpus().empty());
    EXPECT_EQ(AffinityOf(child.pid()), all);
  }
  EXPECT_TRUE(Pinning({}, 1).cpus().empty());
}

TEST(PriorityTest, ZeroChangesNothing) {
  Child child;
  const Priority priority({child.pid()}, 0);
  EXPECT_FALSE(priority.given());
  EXPECT_EQ(child.nice(), 0);
}

TEST(PriorityTest, WhatHadAnotherPriorityGetsItBack) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may raise priorities";
  Child child;
  const Priority lower({child.pid()}, 7);  // anybody may
  EXPECT_EQ(child.nice(), 7);
  { const Priority priority({child.pid()}, -10); }
  EXPECT_EQ(child.nice(), 7);
  if (fs::exists("/proc/self/autogroup")) {
    EXPECT_EQ(child.autogroup(), " nice 7");
  }
}

TEST(PriorityTest, ProcessesThatAreGoneAreNoMatter) {
  pid_t gone;
  {
    Child child;
    gone = child.pid();
  }
  const Priority priority({gone}, -10);
  EXPECT_FALSE(Priority({}, -10).given());
}

}  // namespace
}  // namespace assay::worker
