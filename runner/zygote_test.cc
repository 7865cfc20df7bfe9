#include "runner/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "gmock/gmock.h"
#include "graph/text.h"
#include "gtest/gtest.h"

namespace assay::runner {
namespace {

volatile uint64_t g_secret = 42;  // what a child must not change in its parent

std::pair<UniqueFd, UniqueFd> Sockets() {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Tries to write `address` of process `pid`; whether that worked.
bool WriteMemory(int pid, uint64_t address) {
  const UniqueFd memory(::open(graph::Cat("/proc/", pid, "/mem").c_str(), O_RDWR));
  const uint64_t value = 666;
  return memory.valid() && ::pwrite(memory.get(), &value, sizeof(value), static_cast<off_t>(address)) == sizeof(value);
}

// A child that does what it is told, the hostile things too.
int Hostile(Channel channel) {
  while (true) {
    absl::StatusOr<Message> request = channel.Read();
    if (!request.ok()) return 0;
    const std::string what(request->json.at("do").as_string());
    boost::json::object result;
    if (what == "identify") {
      result = {{"pid", ::getpid()}, {"session", ::getsid(0) == ::getpid()}, {"secret", uint64_t{g_secret}}};
    } else if (what == "attack") {
      const int pid = static_cast<int>(request->json.at("pid").as_int64());
      // In an old /proc the process has another number than getpid() says.
      const std::string self = std::filesystem::read_symlink("/proc/self").string();
      int written = 0;
      for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const int other = atoi(entry.path().filename().c_str());  // 0 for what is no process
        if (other == 0 || entry.path().filename() == self) continue;
        written += WriteMemory(other, reinterpret_cast<uint64_t>(&g_secret));
      }
      result["written"] = written + WriteMemory(pid, reinterpret_cast<uint64_t>(&g_secret));
      result["kill"] = ::kill(pid, SIGKILL) == 0 ? 0 : errno;
      result["ptrace"] = ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 ? 0 : errno;
      if (::getpid() == 2) ::kill(1, SIGKILL);  // the init of the child's own namespace: dropped by the kernel
      result["no_new_privs"] = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    } else if (what == "leave") {  // a process that leaves the session and stays, holding `socket`
      const UniqueFd socket = request->TakeFd("socket");
      if (::fork() == 0) {
        ::setsid();
        if (::fork() != 0) ::_exit(0);
        ::close(channel.in());
        ::close(channel.out());
        while (true) ::pause();
      }
    } else if (what == "exit") {
      return static_cast<int>(request->json.at("code").as_int64());
    } else if (what == "abort") {
      abort();
    }
    if (!channel.Write({{"id", request->json.at("id")}, {"result", result}}).ok()) return 1;
  }
}

class ZygoteTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the thread sanitizer starts a thread of its own, and a zygote must have one thread";
#endif
    auto [request_here, request_there] = Sockets();
    auto [reply_here, reply_there] = Sockets();
    pid_ = ::fork();
    if (pid_ == 0) {
      request_here.reset();
      reply_here.reset();
      Zygote zygote{[] { return boost::json::object({{"name", "test"}, {"secret", uint64_t{g_secret}}}); }, Hostile};
      ::_exit(Serve(std::move(zygote), Channel(std::move(request_there), std::move(reply_there))).ok() ? 0 : 1);
    }
    channel_.emplace(std::move(reply_here), std::move(request_here));
  }

  void TearDown() override {
    channel_.reset();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  struct Child {
    int64_t number = 0;
    bool isolated = false;
    UniqueFd pidfd;
    std::optional<Channel> channel;
  };

  boost::json::object Ask(Channel& channel, boost::json::object request, const std::vector<int>& fds = {}) {
    request["id"] = ++id_;
    EXPECT_TRUE(channel.Write(request, fds).ok());
    absl::StatusOr<Message> reply = channel.Read();
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? reply->json : boost::json::object();
  }

  Child Fork() {
    auto [request_here, request_there] = Sockets();
    auto [reply_here, reply_there] = Sockets();
    EXPECT_TRUE(channel_
                    ->Write({{"id", ++id_}, {"method", "fork"}, {"fds", boost::json::array{"requests", "replies"}}},
                            {request_there.get(), reply_there.get()})
                    .ok());
    absl::StatusOr<Message> reply = channel_->Read();
    EXPECT_TRUE(reply.ok()) << reply.status();
    Child child;
    const boost::json::object* result = reply->json.at("result").if_object();
    child.number = result->at("child").as_int64();
    child.isolated = result->at("isolated").as_bool();
    child.pidfd = reply->TakeFd("pidfd");
    child.channel.emplace(std::move(reply_here), std::move(request_here));
    return child;
  }

  boost::json::object NextEvent() {
    absl::StatusOr<Message> event = channel_->Read();
    EXPECT_TRUE(event.ok()) << event.status();
    return event->json;
  }

  static void Signal(const Child& child, int signal) {
    EXPECT_EQ(::syscall(SYS_pidfd_send_signal, child.pidfd.get(), signal, nullptr, 0), 0) << strerror(errno);
  }

  pid_t pid_ = -1;
  std::optional<Channel> channel_;
  int64_t id_ = 0;
};

TEST_F(ZygoteTest, DescribesAndRefusesTheRest) {
  EXPECT_EQ(Ask(*channel_, {{"method", "describe"}}).at("result").at("name").as_string(), "test");
  const boost::json::object reply = Ask(*channel_, {{"method", "load"}});
  EXPECT_EQ(reply.at("error").at("class").as_string(), "bad_request");
  EXPECT_EQ(Ask(*channel_, {{"method", "fork"}}).at("error").at("class").as_string(), "bad_request");
  EXPECT_TRUE(Ask(*channel_, {{"method", "close"}}).at("result").is_object());
}

TEST_F(ZygoteTest, ChildServesAndItsExitIsTold) {
  Child child = Fork();
  const boost::json::value result = Ask(*child.channel, {{"do", "identify"}}).at("result");
  EXPECT_TRUE(result.at("session").as_bool());
  EXPECT_EQ(result.at("secret").to_number<int>(), 42);
  Ask(*channel_, {{"method", "describe"}});  // the parent answers while a child lives
  child.channel.reset();
  EXPECT_EQ(NextEvent(), boost::json::object({{"event", "exit"}, {"child", child.number}, {"code", 0}}));
}

TEST_F(ZygoteTest, EveryEndIsTold) {
  Child exits = Fork();
  ASSERT_TRUE(exits.channel->Write({{"id", 1}, {"do", "exit"}, {"code", 7}}).ok());
  EXPECT_EQ(NextEvent(), boost::json::object({{"event", "exit"}, {"child", exits.number}, {"code", 7}}));
  Child aborts = Fork();
  ASSERT_TRUE(aborts.channel->Write({{"id", 1}, {"do", "abort"}}).ok());
  EXPECT_EQ(NextEvent(), boost::json::object({{"event", "exit"}, {"child", aborts.number}, {"signal", SIGABRT}}));
  Child killed = Fork();
  Signal(killed, SIGKILL);
  EXPECT_EQ(NextEvent(), boost::json::object({{"event", "exit"}, {"child", killed.number}, {"signal", SIGKILL}}));
}

TEST_F(ZygoteTest, PidfdStopsWhatRuns) {
  Child child = Fork();
  Ask(*child.channel, {{"do", "identify"}});
  Signal(child, SIGSTOP);
  ASSERT_TRUE(child.channel->Write({{"id", 99}, {"do", "identify"}}).ok());
  pollfd polled{child.channel->in(), POLLIN, 0};
  EXPECT_EQ(::poll(&polled, 1, 100), 0) << "a stopped child answered";
  Signal(child, SIGCONT);
  absl::StatusOr<Message> reply = child.channel->Read();
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->json.at("id").as_int64(), 99);
}

TEST_F(ZygoteTest, ChildCannotReachItsParent) {
  Child sibling = Fork(), child = Fork();
  if (!child.isolated) GTEST_SKIP() << "the kernel does not allow namespaces here";
  const boost::json::value result = Ask(*child.channel, {{"do", "attack"}, {"pid", pid_}}).at("result");
  EXPECT_EQ(result.at("written").as_int64(), 0);
  EXPECT_EQ(result.at("kill").as_int64(), ESRCH);
  EXPECT_EQ(result.at("ptrace").as_int64(), ESRCH);
  EXPECT_EQ(result.at("no_new_privs").as_int64(), 1);
  EXPECT_EQ(Ask(*channel_, {{"method", "describe"}}).at("result").at("secret").to_number<int>(), 42);
  EXPECT_EQ(Ask(*sibling.channel, {{"do", "identify"}}).at("result").at("secret").to_number<int>(), 42);
  EXPECT_TRUE(Ask(*child.channel, {{"do", "identify"}}).at("result").is_object());
}

TEST_F(ZygoteTest, NothingOutlivesAChild) {
  for (const bool kill : {true, false}) {
    Child child = Fork();
    auto [here, there] = Sockets();
    Ask(*child.channel, {{"do", "leave"}, {"fds", boost::json::array{"socket"}}}, {there.get()});
    there.reset();
    if (kill) {
      Signal(child, SIGKILL);
    } else {
      child.channel.reset();
    }
    NextEvent();
    char byte;
    EXPECT_EQ(::read(here.get(), &byte, 1), 0);  // the last holder of the other end is gone
  }
}

TEST_F(ZygoteTest, ChildrenDieWithAKilledParent) {
  Child child = Fork();
  auto [here, there] = Sockets();
  Ask(*child.channel, {{"do", "leave"}, {"fds", boost::json::array{"socket"}}}, {there.get()});
  there.reset();
  ::kill(pid_, SIGKILL);
  char byte;
  EXPECT_EQ(::read(here.get(), &byte, 1), 0);
  EXPECT_TRUE(absl::IsOutOfRange(child.channel->Read().status()));
}

TEST_F(ZygoteTest, ChildrenEndWithAClosedParent) {
  Child child = Fork();
  channel_.reset();
  EXPECT_TRUE(absl::IsOutOfRange(child.channel->Read().status()));
  int status;
  ASSERT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(ZygoteThreadsTest, RefusesAProcessWithThreads) {
  auto [request_here, request_there] = Sockets();
  auto [reply_here, reply_there] = Sockets();
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::thread other([] {
      while (true) ::pause();
    });
    Zygote zygote{[] { return boost::json::object(); }, Hostile};
    const absl::Status status = Serve(std::move(zygote), Channel(std::move(request_there), std::move(reply_there)));
    ::_exit(absl::IsFailedPrecondition(status) ? 3 : 4);
  }
  int status;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

}  // namespace
}  // namespace assay::runner
