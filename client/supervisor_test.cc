#include "client/supervisor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "client/state_folder.h"
#include "client/text.h"

namespace assay::client {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-supervisor-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    const absl::StatusOr<FileLock> lock = FileLock::Take(folder_ / "lock");
    ASSERT_TRUE(lock.ok());
    lock_fd_ = ::dup(lock->fd());
  }
  void TearDown() override {
    ::close(lock_fd_);
    fs::remove_all(folder_);
  }

  std::unique_ptr<Supervisor> Make() {
    auto supervisor = Supervisor::Make(lock_fd_, {.first_backoff = milliseconds(1),
                                                  .longest_backoff = milliseconds(4),
                                                  .patience = milliseconds(500),
                                                  .say = [this](const std::string& text) { said_ += text + "\n"; }});
    EXPECT_TRUE(supervisor.ok()) << supervisor.status();
    return *std::move(supervisor);
  }
  ProcessSpec Shell(const std::string& name, const std::string& script) {
    return {.name = name, .argv = {"/bin/sh", "-c", script}, .log = folder_ / (name + ".log")};
  }
  std::string Log(const std::string& name) { return ReadFile(folder_ / (name + ".log")).value_or(""); }

  // Whether the process ends within the time.
  static bool Ends(pid_t pid, milliseconds limit) {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process.valid()) return true;
    pollfd poll = {.fd = process.get(), .events = POLLIN, .revents = 0};
    return ::poll(&poll, 1, static_cast<int>(limit.count())) > 0;
  }

  fs::path folder_;
  int lock_fd_ = -1;
  std::string said_;
};

TEST_F(SupervisorTest, AChildThatDiesIsStartedAgainAndThatIsSaid) {
  const auto supervisor = Make();
  const std::string count = (folder_ / "count").string();
  // Dies twice, then stays.
  ASSERT_TRUE(supervisor
                  ->Start(Shell("worker", "echo x >> " + count + "; [ $(wc -l < " + count +
                                              ") -ge 3 ] || exit 3; exec sleep 1000"))
                  .ok());
  const absl::Status status = supervisor->WaitUntil(
      [&] { return ReadFile(count).value_or("").size() == 6 && supervisor->PidOf("worker") != 0; }, "", seconds(30));
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(supervisor->RestartsOf("worker"), 2);
  EXPECT_NE(said_.find("worker ended with exit code 3; it is started again in"), std::string::npos) << said_;
}

TEST_F(SupervisorTest, WhatIsRunTheNextTimeMayChange) {
  const auto supervisor = Make();
  ASSERT_TRUE(supervisor
                  ->Start(Shell("server", "exit 1"),
                          [&](ProcessSpec& spec) { spec = Shell("server", "echo again; exec sleep 1000"); })
                  .ok());
  EXPECT_TRUE(supervisor->WaitUntil([&] { return Log("server") == "again\n"; }, "", seconds(30)).ok());
}

TEST_F(SupervisorTest, AChildThatKeepsDyingEndsTheWaitingWithItsLog) {
  const auto supervisor = Make();
  ASSERT_TRUE(supervisor->Start(Shell("server", "echo no database >&2; exit 1")).ok());
  const absl::Status status = supervisor->WaitUntil([] { return false; }, "server", seconds(60));
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_NE(MessageOf(status).find("no database"), std::string::npos) << status;
}

TEST_F(SupervisorTest, AProgramThatIsNotThereIsAnErrorAtOnce) {
  const auto supervisor = Make();
  const absl::Status status = supervisor->Start({.name = "server", .argv = {"/nonexistent"}, .log = folder_ / "x.log"});
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_NE(MessageOf(status).find("/nonexistent"), std::string::npos);
}

TEST_F(SupervisorTest, EndsChildrenNewestFirstAndKillsTheStubborn) {
  auto supervisor = Make();
  const std::string order = (folder_ / "order").string();
  const auto script = [&](const std::string& name, bool stubborn) {
    return "trap 'echo " + name + " >> " + order + (stubborn ? "'" : "; exit 0'") +
           " TERM; echo ready; while :; do sleep 0.01; done";
  };
  for (const auto& [name, stubborn] : {std::pair{"postgres", false}, {"server", true}, {"worker", false}}) {
    ASSERT_TRUE(supervisor->Start(Shell(name, script(name, stubborn))).ok());
    ASSERT_TRUE(supervisor->WaitUntil([&, name = name] { return Log(name) == "ready\n"; }, name, seconds(30)).ok());
  }
  const pid_t stubborn = supervisor->PidOf("server");
  supervisor->Stop();
  EXPECT_EQ(*ReadFile(order), "worker\nserver\npostgres\n");
  EXPECT_TRUE(Ends(stubborn, milliseconds(0)));
  EXPECT_NE(said_.find("server does not end; it is killed"), std::string::npos) << said_;
}

TEST_F(SupervisorTest, ASignalToEndIsNoticed) {
  const auto supervisor = Make();
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(absl::IsCancelled(supervisor->WaitUntil([] { return false; }, "", seconds(30))));
  EXPECT_EQ(supervisor->stop_signal(), SIGTERM);
}

// kill -9 of the whole thing: a child that listens ends by the kernel's signal, a stubborn one and what it has started
// by the guard, and the lock is free only then.
TEST_F(SupervisorTest, NothingIsLeftAfterAKill) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t up = ::fork();
  if (up == 0) {
    const auto supervisor = Make();
    const bool started =
        supervisor->Start(Shell("soft", "echo ready; exec sleep 1000")).ok() &&
        supervisor->Start(Shell("stubborn", "trap '' TERM; sleep 1000 & echo $!; while :; do sleep 0.01; done")).ok() &&
        supervisor
            ->WaitUntil([&] { return Log("soft") == "ready\n" && Log("stubborn").ends_with("\n"); }, "", seconds(30))
            .ok();
    const pid_t pids[2] = {started ? supervisor->PidOf("soft") : 0, started ? supervisor->PidOf("stubborn") : 0};
    [[maybe_unused]] const ssize_t n = ::write(ends[1], pids, sizeof(pids));
    while (true) supervisor->Poll(seconds(60));
  }
  ::close(ends[1]);
  pid_t pids[2] = {};
  ASSERT_EQ(::read(ends[0], pids, sizeof(pids)), static_cast<ssize_t>(sizeof(pids)));
  ASSERT_GT(pids[0], 0);
  const pid_t grandchild = ParseNumber<pid_t>(Trim(Log("stubborn"))).value_or(0);
  ASSERT_GT(grandchild, 0);
  ::close(lock_fd_);  // the lock is now held by what the child process has
  lock_fd_ = -1;
  ASSERT_TRUE(FileLock::Held(folder_ / "lock"));

  ::kill(up, SIGKILL);
  ASSERT_EQ(::waitpid(up, nullptr, 0), up);
  EXPECT_TRUE(Ends(pids[0], seconds(30)));
  EXPECT_TRUE(Ends(pids[1], seconds(30)));
  EXPECT_TRUE(Ends(grandchild, seconds(30)));
  const auto deadline = std::chrono::steady_clock::now() + seconds(30);
  while (FileLock::Held(folder_ / "lock") && std::chrono::steady_clock::now() < deadline) ::poll(nullptr, 0, 5);
  EXPECT_FALSE(FileLock::Held(folder_ / "lock"));
  ::close(ends[0]);
}

TEST_F(SupervisorTest, AGuardThatIsKilledIsReplaced) {
  auto supervisor = Make();
  ASSERT_TRUE(supervisor->Start(Shell("child", "exec sleep 1000")).ok());
  const auto guards = [] {
    const std::string path = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
    std::vector<pid_t> found;
    for (const std::string& word : Split(ReadFile(path).value_or(""), ' ')) {
      const pid_t pid = ParseNumber<pid_t>(Trim(word)).value_or(0);
      if (pid != 0 && ReadFile("/proc/" + std::to_string(pid) + "/comm").value_or("") == "assay-guard\n")
        found.push_back(pid);
    }
    return found;
  };
  ASSERT_TRUE(supervisor->WaitUntil([&] { return guards().size() == 1; }, "", seconds(30)).ok());
  const pid_t first = guards()[0];
  ::kill(first, SIGKILL);
  EXPECT_TRUE(
      supervisor->WaitUntil([&] { return guards().size() == 1 && guards()[0] != first; }, "", seconds(30)).ok());
}

TEST_F(SupervisorTest, RunToEndTellsTheEndOfTheLog) {
  EXPECT_TRUE(RunToEnd(Shell("good", "cat"), "hello\n").ok());
  EXPECT_EQ(Log("good"), "hello\n");
  const absl::Status status = RunToEnd(Shell("bad", "seq 1 100; exit 4"));
  EXPECT_NE(MessageOf(status).find("exit code 4"), std::string::npos) << status;
  EXPECT_NE(MessageOf(status).find("\n89\n"), std::string::npos) << status;
  EXPECT_EQ(MessageOf(status).find("\n88\n"), std::string::npos) << status;
}

}  // namespace
}  // namespace assay::client
