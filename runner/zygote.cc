#include "runner/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/text.h"
#include "runner/isolation.h"

// One child is three processes, each undumpable but the last:
//   the forker, which unshares the namespaces (only a process forked after that is in the new PID namespace);
//   the init, process 1 of the new PID namespace: takes in orphans, and when it ends the kernel kills the namespace;
//   the server, which leads a session and runs the trial. Its pidfd is what the worker gets: a stop or a kill of it
//   and its process group hits what runs, and its end ends the init and with it all others. (Were the server process 1
//   itself, the kernel would drop signals that it raises, abort() among them.)
// Each is killed when the one above it ends. How the server ended goes up a pipe that the server does not hold.

namespace assay::runner {
namespace {

struct Child {
  pid_t forker = -1;
  UniqueFd pidfd;   // of the server
  UniqueFd status;  // gives the server's wait status, then end of file
  bool isolated = false;
};

int PidfdOpen(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

void PidfdKill(int pidfd) { ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0); }

// Waits for `pid` alone. -1 where it cannot be waited for.
int WaitStatus(pid_t pid) {
  int status = -1;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

// Ends what a server without a PID namespace left behind: its group first, then what moved away and was taken in.
void KillOrphans(pid_t server) {
  ::kill(-server, SIGKILL);
  const std::string path = graph::Cat("/proc/self/task/", ::getpid(), "/children");
  while (true) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    char text[4096] = {};
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const ssize_t n = ::read(fd, text, sizeof(text) - 1);
    ::close(fd);
    if (n <= 0) return;
    for (char* p = text; *p != '\0';) {
      char* end;
      const long pid = strtol(p, &end, 10);
      if (end == p) break;
      ::kill(static_cast<pid_t>(pid), SIGKILL);
      p = end + (*end == ' ');
    }
    ::waitpid(-1, nullptr, 0);
  }
}

[[noreturn]] void RunServer(Zygote& zygote, UniqueFd requests, UniqueFd replies) {
  ::setsid();
  DieWithParent();
  ::prctl(PR_SET_DUMPABLE, 1);
  if (absl::Status dropped = DropCapabilities(); !dropped.ok()) {
    fprintf(stderr, "%s\n", std::string(dropped.message()).c_str());
    ::_exit(125);
  }
  const int code = zygote.serve_child(Channel(std::move(requests), std::move(replies)));
  fflush(nullptr);
  ::_exit(code);
}

[[noreturn]] void RunInit(Zygote& zygote, bool isolated, int hello, int status, UniqueFd requests, UniqueFd replies) {
  DieWithParent();
  if (isolated) {
    MountProc();
  } else {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  const pid_t server = ::fork();
  if (server < 0) ::_exit(1);
  if (server == 0) {
    ::close(hello);
    ::close(status);
    RunServer(zygote, std::move(requests), std::move(replies));
  }
  requests.reset();
  replies.reset();
  const UniqueFd pidfd(PidfdOpen(server));
  if (!pidfd.valid() || !Send(hello, isolated ? "i" : "n", {pidfd.get()}).ok()) {
    ::kill(server, SIGKILL);
    ::_exit(1);
  }
  ::close(hello);
  int ended = 0;
  while (true) {  // orphans that this process took in are reaped on the way
    const pid_t pid = ::waitpid(-1, &ended, 0);
    if (pid == server) break;
    if (pid < 0 && errno != EINTR) ::_exit(1);
  }
  if (!isolated) KillOrphans(server);
  const bool told = ::write(status, &ended, sizeof(ended)) == sizeof(ended);
  ::_exit(told ? 0 : 1);
}

[[noreturn]] void RunForker(Zygote& zygote, pid_t parent, UniqueFd hello, UniqueFd status, UniqueFd requests,
                            UniqueFd replies) {
  DieWithParent();
  if (::getppid() != parent) ::_exit(1);
  const bool isolated = UnshareNamespaces();
  const pid_t init = ::fork();
  if (init < 0) ::_exit(1);
  if (init == 0) {
    RunInit(zygote, isolated, hello.get(), status.get(), std::move(requests), std::move(replies));
  }
  hello.reset();
  status.reset();
  requests.reset();
  replies.reset();
  WaitStatus(init);
  ::_exit(0);
}

class Parent {
 public:
  Parent(Zygote zygote, Channel channel) : zygote_(std::move(zygote)), channel_(std::move(channel)) {}

  absl::Status Run() {
    while (true) {
      std::vector<pollfd> polled = {{channel_.in(), POLLIN, 0}};
      std::vector<int> numbers = {0};
      for (const auto& [number, child] : children_) {
        polled.push_back({child.status.get(), POLLIN, 0});
        numbers.push_back(number);
      }
      if (::poll(polled.data(), polled.size(), -1) < 0) {
        if (errno == EINTR) continue;
        return absl::InternalError(graph::Cat("poll: ", strerror(errno)));
      }
      for (size_t i = 1; i < polled.size(); ++i) {
        if (polled[i].revents == 0) continue;
        if (absl::Status told = Ended(numbers[i]); !told.ok()) return told;
      }
      if (polled[0].revents == 0) continue;
      absl::StatusOr<bool> more = ReceiveRequests();
      if (!more.ok()) return more.status();
      if (!*more) return absl::OkStatus();
    }
  }

  void EndChildren() {
    for (auto& [number, child] : children_) {
      PidfdKill(child.pidfd.get());
      WaitStatus(child.forker);
    }
    children_.clear();
  }

 private:
  // Serves what has arrived. False at the end.
  absl::StatusOr<bool> ReceiveRequests() {
    std::string bytes;
    std::vector<UniqueFd> fds;
    absl::StatusOr<size_t> count = Receive(channel_.in(), bytes, fds);
    if (absl::IsUnavailable(count.status())) return true;
    if (!count.ok()) return count.status();
    if (*count == 0) return false;
    if (absl::Status added = framing_.Add(bytes, std::move(fds)); !added.ok()) return added;
    while (true) {
      absl::StatusOr<std::optional<Message>> message = framing_.Next();
      if (!message.ok()) return message.status();
      if (!message->has_value()) return true;
      absl::StatusOr<bool> more = Answer(**message);
      if (!more.ok() || !*more) return more;
    }
  }

  absl::StatusOr<bool> Answer(Message& request) {
    boost::json::object reply;
    if (const boost::json::value* id = request.json.if_contains("id")) reply["id"] = *id;
    const boost::json::value* method = request.json.if_contains("method");
    const std::string name = method != nullptr && method->is_string() ? std::string(method->get_string()) : "";
    std::vector<int> fds;
    if (name == "describe") {
      reply["result"] = zygote_.describe();
    } else if (name == "close") {
      reply["result"] = boost::json::object();
    } else if (name == "fork") {
      absl::StatusOr<int> number = Fork(request.TakeFd("requests"), request.TakeFd("replies"));
      if (number.ok()) {
        const Child& child = children_[*number];
        reply["result"] = boost::json::object({{"child", *number}, {"isolated", child.isolated}});
        reply["fds"] = boost::json::array({"pidfd"});
        fds = {child.pidfd.get()};
      } else {
        const bool bad = absl::IsInvalidArgument(number.status());
        reply["error"] = boost::json::object(
            {{"class", bad ? "bad_request" : "internal"}, {"message", std::string(number.status().message())}});
      }
    } else {
      reply["error"] =
          boost::json::object({{"class", "bad_request"},
                               {"message", graph::Cat("method \"", name,
                                                      "\" is not served here; this process serves describe, fork and "
                                                      "close, its children the rest")}});
    }
    if (absl::Status written = channel_.Write(reply, fds); !written.ok()) return written;
    return name != "close";
  }

  absl::StatusOr<int> Fork(UniqueFd requests, UniqueFd replies) {
    if (!requests.valid() || !replies.valid()) {
      return absl::InvalidArgumentError("fork needs the descriptors \"requests\" and \"replies\"");
    }
    const int threads = ThreadCount();
    if (threads != 1) {
      return absl::FailedPreconditionError(
          graph::Cat("the process has ", threads, " threads; it may only fork while it has one"));
    }
    int hello[2], status[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, hello) != 0) {
      return absl::InternalError(graph::Cat("socketpair: ", strerror(errno)));
    }
    UniqueFd hello_here(hello[0]), hello_there(hello[1]);
    if (::pipe2(status, O_CLOEXEC) != 0) return absl::InternalError(graph::Cat("pipe: ", strerror(errno)));
    UniqueFd status_here(status[0]), status_there(status[1]);
    fflush(nullptr);  // else a child would write the buffered text again
    const pid_t parent = ::getpid();
    const pid_t forker = ::fork();
    if (forker < 0) return absl::InternalError(graph::Cat("fork: ", strerror(errno)));
    if (forker == 0) {
      hello_here.reset();
      status_here.reset();
      children_.clear();                           // closes other trials' descriptors
      channel_ = Channel(UniqueFd(), UniqueFd());  // and the parent's own channel
      RunForker(zygote_, parent, std::move(hello_there), std::move(status_there), std::move(requests),
                std::move(replies));
    }
    hello_there.reset();
    status_there.reset();
    std::string isolated;
    std::vector<UniqueFd> fds;
    absl::StatusOr<size_t> count = Receive(hello_here.get(), isolated, fds);
    if (!count.ok() || *count == 0 || fds.size() != 1) {
      ::kill(forker, SIGKILL);
      WaitStatus(forker);
      return absl::InternalError("a forked child ended before it could serve");
    }
    const int number = ++last_number_;
    children_[number] = Child{forker, std::move(fds[0]), std::move(status_here), isolated == "i"};
    return number;
  }

  absl::Status Ended(int number) {
    Child child = std::move(children_[number]);
    children_.erase(number);
    int status = 0;
    if (::read(child.status.get(), &status, sizeof(status)) != sizeof(status)) status = SIGKILL;  // the init was killed
    WaitStatus(child.forker);
    boost::json::object event = {{"event", "exit"}, {"child", number}};
    if (WIFSIGNALED(status)) {
      event["signal"] = WTERMSIG(status);
    } else {
      event["code"] = WEXITSTATUS(status);
    }
    return channel_.Write(event);
  }

  Zygote zygote_;
  Channel channel_;
  Framing framing_;
  std::map<int, Child> children_;
  int last_number_ = 0;
};

}  // namespace

absl::Status Serve(Zygote zygote, Channel channel) {
  if (absl::Status status = MakeUndumpable(); !status.ok()) return status;
  if (const int threads = ThreadCount(); threads != 1) {
    return absl::FailedPreconditionError(
        graph::Cat("the process has ", threads, " threads; a runner that forks must have one"));
  }
  Parent parent(std::move(zygote), std::move(channel));
  absl::Status status = parent.Run();
  parent.EndChildren();
  return status;
}

}  // namespace assay::runner
