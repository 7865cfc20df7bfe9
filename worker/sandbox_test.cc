// What a process in the sandbox can and cannot do.

#include "worker/sandbox.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/process.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (absl::Status works = ProbeSandbox(SandboxLevel::kFull); !works.ok()) GTEST_SKIP() << works;
    folder_ = fs::path(testing::TempDir()) / fmt::format("sandbox_test_{}", ::getpid());
    fs::create_directories(folder_ / "shown");
    std::ofstream(folder_ / "shown/secret") << "s3cret";
    std::ofstream(folder_ / "shown/public") << "open";
    ::chmod((folder_ / "shown/secret").c_str(), 0600);
    runner_.name = "probe";
    runner_.command = {"/bin/sh", "-c", ""};
    runner_.paths = {(folder_ / "shown").string()};
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Runs a shell script in the sandbox; what it wrote.
  std::string Shell(const std::string& script) {
    runner_.command[2] = script;
    absl::StatusOr<Launch> launch = PlanLaunch(runner_, SandboxLevel::kFull);
    EXPECT_TRUE(launch.ok()) << launch.status();
    absl::StatusOr<std::unique_ptr<Process>> process = Process::Start(*launch, {});
    EXPECT_TRUE(process.ok()) << process.status();
    while ((*process)->Drain()) {
      pollfd polled{(*process)->output(), POLLIN, 0};
      ::poll(&polled, 1, 10'000);
    }
    (*process)->Reap();
    return (*process)->tail().Text();
  }

  fs::path folder_;
  RunnerConfig runner_;
};

TEST_F(SandboxTest, ReadsOnlyWhatItMay) {
  const std::string shown = (folder_ / "shown").string();
  EXPECT_EQ(Shell("cat " + shown + "/public"), "open");
  if (::geteuid() == 0) {  // else the file is the runner's own user's, who was told to show it
    EXPECT_THAT(Shell("cat " + shown + "/secret"), HasSubstr("Permission denied"));
  }
  std::ofstream(folder_ / "hidden") << "hidden";
  EXPECT_THAT(Shell("cat " + (folder_ / "hidden").string()), HasSubstr("No such file"));
  EXPECT_THAT(Shell("ls /root /home /var /etc/shadow /etc/passwd 2>&1 | grep -v 'No such file'; echo end"), "end\n");
}

TEST_F(SandboxTest, SeesTheProcessors) {
  // As far as this machine tells of them.
  if (!fs::exists("/sys/devices/system/cpu/possible")) GTEST_SKIP() << "no /sys/devices/system/cpu here";
  std::string possible;
  std::getline(std::ifstream("/sys/devices/system/cpu/possible"), possible);
  EXPECT_EQ(Shell("cat /sys/devices/system/cpu/possible"), possible + "\n");
}

TEST_F(SandboxTest, WritesOnlyToItsOwnTmp) {
  const std::string own = fmt::format("/tmp/sandbox_test_own_{}", ::getpid());
  EXPECT_EQ(Shell(fmt::format("echo hello > {0} && cat {0}", own)), "hello\n");
  EXPECT_FALSE(fs::exists(own));
  const std::string shown = (folder_ / "shown").string();
  for (const std::string& target :
       {shown + "/new", std::string("/usr/new"), std::string("/new"), std::string("/etc/new")}) {
    EXPECT_EQ(Shell("(echo x > " + target + ") 2>/dev/null || echo refused"), "refused\n") << target;
  }
}

TEST_F(SandboxTest, HasNoPrivilegesAndNoEnvironment) {
  ::setenv("ASSAY_TOKEN", "token-of-the-worker", 1);
  const std::string text = Shell("id -u; grep -E 'Cap(Eff|Bnd|Prm)|NoNewPrivs' /proc/self/status; env");
  ::unsetenv("ASSAY_TOKEN");
  if (::geteuid() == 0) {
    EXPECT_THAT(text, HasSubstr("65534\n"));
    EXPECT_THAT(text, HasSubstr("CapBnd:\t0000000000000000"));
    EXPECT_THAT(text, HasSubstr("NoNewPrivs:\t1"));
  }
  EXPECT_THAT(text, HasSubstr("CapEff:\t0000000000000000"));
  EXPECT_THAT(text, Not(HasSubstr("token-of-the-worker")));
}

TEST_F(SandboxTest, SeesNoOtherProcess) {
  EXPECT_THAT(Shell(fmt::format("kill -0 {} || echo none; ls /proc | grep -c '^[0-9]'", ::getpid())),
              HasSubstr("none"));
  const int seen = atoi(Shell("ls /proc | grep -c '^[0-9]'").c_str());
  EXPECT_LT(seen, 8);
}

TEST_F(SandboxTest, HasNoNetwork) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  socklen_t length = sizeof(address);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  // The network namespace holds a loopback interface of its own only.
  EXPECT_EQ(Shell("tail -n +3 /proc/net/dev | grep -v ' lo:' | grep -v '^ *lo:' | wc -l"), "0\n");
  const std::string connect =
      fmt::format("exec 2>/dev/null; /bin/bash -c '</dev/tcp/127.0.0.1/{}' && echo connected || echo refused",
                  ntohs(address.sin_port));
  EXPECT_EQ(Shell(connect), "refused\n");
  ::close(listener);
}

TEST_F(SandboxTest, AllOfItEndsWithItsGroup) {
  runner_.command[2] = "setsid sleep 1000 & echo started; sleep 1000";
  absl::StatusOr<Launch> launch = PlanLaunch(runner_, SandboxLevel::kFull);
  ASSERT_TRUE(launch.ok());
  absl::StatusOr<std::unique_ptr<Process>> process = Process::Start(*launch, {});
  ASSERT_TRUE(process.ok());
  while ((*process)->tail().Text().empty()) {
    pollfd polled{(*process)->output(), POLLIN, 0};
    ::poll(&polled, 1, 10'000);
    ASSERT_TRUE((*process)->Drain());
  }
  (*process)->Kill();
  // End of the output: nobody is left who could write to it, the process that left the session included.
  pollfd polled{(*process)->output(), POLLIN, 0};
  while ((*process)->Drain()) ASSERT_GT(::poll(&polled, 1, 10'000), 0);
}

TEST(SandboxPlanTest, NamesWhatDoesNotExist) {
  RunnerConfig runner;
  runner.name = "x";
  runner.command = {"/bin/sh"};
  runner.paths = {"/no/such/folder"};
  EXPECT_THAT(std::string(PlanLaunch(runner, SandboxLevel::kFull).status().message()), HasSubstr("/no/such/folder"));
}

TEST(ByteTailTest, KeepsTheEndAsText) {
  ByteTail tail(10);
  tail.Add("0123456789");
  tail.Add("abc");
  EXPECT_EQ(tail.Text(), "3456789abc");
  tail.Clear();
  tail.Add(std::string("x\xff\0y", 4));
  EXPECT_EQ(tail.Text(), "x??y");
  ByteTail cut(3);
  cut.Add("a\xc3\xa9\xc3\xa9");  // the first é is cut in two
  EXPECT_EQ(cut.Text(), "\xc3\xa9");
}

}  // namespace
}  // namespace assay::worker
