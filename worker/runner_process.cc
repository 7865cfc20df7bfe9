#include "worker/runner_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fstream>
#include <limits>

#include "fmt/format.h"
#include "worker/scheduling.h"

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1UL << 2)
#endif

namespace assay::worker {
namespace {

namespace json = boost::json;

// How long a runner that has closed its channel may take to end, and a parent to say how a child ended.
constexpr auto kEndGrace = std::chrono::seconds(3);

struct SocketPair {
  runner::UniqueFd here, there;
};

absl::StatusOr<SocketPair> MakeSocketPair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return absl::InternalError(fmt::format("socketpair: {}", strerror(errno)));
  }
  ::fcntl(fds[0], F_SETFL, O_NONBLOCK);
  return SocketPair{runner::UniqueFd(fds[0]), runner::UniqueFd(fds[1])};
}

int Duplicate(int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); }

std::string Text(const absl::Status& status) { return std::string(status.message()); }

std::string OneLine(std::string_view text) {
  std::string line(text.substr(0, 2000));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

// One run of `io`: what is to be sent, and what came of it.
struct RunnerProcess::Exchange {
  std::string line;
  std::vector<int> fds;
  size_t sent = 0;
  bool done = false;
  bool closed = false;  // the runner closed its side of the replies
  std::optional<runner::Message> message;
  CallFailure::Kind failure = CallFailure::Kind::kExit;
  std::string text;
  std::optional<boost::asio::steady_timer> timer;

  void Fail(CallFailure::Kind kind, std::string why) {
    if (done) return;
    done = true;
    failure = kind;
    text = std::move(why);
  }
};

RunnerProcess::RunnerProcess(boost::asio::io_context& io, runner::UniqueFd requests, runner::UniqueFd replies)
    : io_(io), requests_(io, requests.release()), replies_(io, replies.release()) {}

RunnerProcess::~RunnerProcess() { Kill(); }

absl::StatusOr<std::shared_ptr<RunnerProcess>> RunnerProcess::Start(boost::asio::io_context& io, const Launch& launch,
                                                                    std::shared_ptr<MemoryGroup> group) {
  absl::StatusOr<SocketPair> requests = MakeSocketPair();
  if (!requests.ok()) return requests.status();
  absl::StatusOr<SocketPair> replies = MakeSocketPair();
  if (!replies.ok()) return replies.status();
  Launch limited = launch;
  if (group) {
    // Enters the group before anything else, so that nothing of the runner is outside.
    const std::vector<std::string> enter = {"/bin/sh", "-c", "echo 0 > \"$0\" && exec \"$@\"", group->procs().string()};
    limited.arguments.insert(limited.arguments.begin(), enter.begin(), enter.end());
  }
  absl::StatusOr<std::unique_ptr<Process>> process =
      Process::Start(limited, {{requests->there.get(), runner::kRequestFd}, {replies->there.get(), runner::kReplyFd}});
  if (!process.ok()) return process.status();
  std::shared_ptr<RunnerProcess> started(new RunnerProcess(io, std::move(requests->here), std::move(replies->here)));
  started->group_ = std::move(group);
  started->process_ = *std::move(process);
  started->exit_ = std::make_unique<Descriptor>(io, Duplicate(started->process_->pidfd()));
  started->output_ = std::make_unique<Descriptor>(io, Duplicate(started->process_->output()));
  return started;
}

// Each handler arms itself again until the exchange is done; all are cancelled then.
struct RunnerProcess::Handlers {
  static void Write(RunnerProcess* self, std::shared_ptr<Exchange> x) {
    if (x->done || x->sent == x->line.size()) return;
    self->requests_.async_wait(Descriptor::wait_write, [self, x](boost::system::error_code error) {
      if (error || x->done) return;
      const std::string_view rest = std::string_view(x->line).substr(x->sent);
      absl::StatusOr<size_t> count =
          runner::Send(self->requests_.native_handle(), rest, x->sent == 0 ? x->fds : std::vector<int>{});
      if (count.ok()) x->sent += *count;
      // Where the runner has gone, its end is told by its pidfd.
      if (count.ok() || absl::IsUnavailable(count.status())) Write(self, x);
    });
  }
  static void Read(RunnerProcess* self, std::shared_ptr<Exchange> x) {
    if (x->done || x->closed) return;
    self->replies_.async_wait(Descriptor::wait_read, [self, x](boost::system::error_code error) {
      if (error || x->done) return;
      Take(self, x);
      Read(self, x);
    });
  }
  // Reads what is there; completes the exchange where that makes a message.
  static void Take(RunnerProcess* self, std::shared_ptr<Exchange> x) {
    std::string bytes;
    std::vector<runner::UniqueFd> fds;
    absl::StatusOr<size_t> count = runner::Receive(self->replies_.native_handle(), bytes, fds);
    if (absl::IsUnavailable(count.status())) return;
    if (!count.ok()) return x->Fail(CallFailure::Kind::kProtocol, Text(count.status()));
    if (*count == 0) {
      x->closed = true;
      x->timer->expires_after(kEndGrace);
      x->timer->async_wait([x](boost::system::error_code error) {
        if (!error) x->Fail(CallFailure::Kind::kProtocol, "the runner closed its channel and went on running");
      });
      return;
    }
    absl::Status added = self->framing_.Add(bytes, std::move(fds));
    if (!added.ok()) return x->Fail(CallFailure::Kind::kProtocol, Text(added));
    absl::StatusOr<std::optional<runner::Message>> message = self->framing_.Next();
    if (!message.ok()) return x->Fail(CallFailure::Kind::kProtocol, Text(message.status()));
    if (message->has_value()) {
      x->message = std::move(**message);
      x->done = true;
    }
  }
  static void Output(RunnerProcess* owner, std::shared_ptr<Exchange> x) {
    if (x->done || owner->output_ == nullptr) return;
    owner->output_->async_wait(Descriptor::wait_read, [owner, x](boost::system::error_code error) {
      if (error || x->done) return;
      if (owner->process_->Drain()) Output(owner, x);
    });
  }
  static void End(RunnerProcess* self, std::shared_ptr<Exchange> x) {
    self->exit_->async_wait(Descriptor::wait_read, [self, x](boost::system::error_code error) {
      if (error || x->done) return;
      // Asio may say so of a descriptor that took another one's place: believed, it would be waited for without end.
      if (!ProcessEnded(self->exit_->native_handle())) return End(self, x);
      while (!x->done && !x->closed) {  // a last reply may lie in the socket
        char byte;
        if (::recv(self->replies_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0) break;
        Take(self, x);
      }
      x->Fail(CallFailure::Kind::kExit, "");
    });
  }
};

void RunnerProcess::Watch(const std::shared_ptr<Exchange>& exchange) {
  Handlers::Write(this, exchange);
  Handlers::Read(this, exchange);
  Handlers::Output(parent_ ? parent_.get() : this, exchange);
  Handlers::End(this, exchange);
}

Outcome<runner::Message> RunnerProcess::Transact(std::string line, std::vector<int> fds, Clock::time_point deadline,
                                                 std::stop_token stop) {
  if (!alive_) return CallFailure{CallFailure::Kind::kExit, "", "the runner has ended already"};
  // A message that came with the one before it.
  if (absl::StatusOr<std::optional<runner::Message>> next = framing_.Next(); !next.ok()) {
    return Ended(CallFailure::Kind::kProtocol, Text(next.status()));
  } else if (next->has_value() && line.empty()) {
    return std::move(**next);
  } else if (next->has_value()) {
    if ((*next)->json.if_contains("event") == nullptr) {
      return Ended(CallFailure::Kind::kProtocol, "the runner sent a message that nothing asked for");
    }
    NoteEvent((*next)->json);
    return Transact(std::move(line), std::move(fds), deadline, stop);
  }
  auto exchange = std::make_shared<Exchange>();
  exchange->line = std::move(line);
  exchange->fds = std::move(fds);
  exchange->timer.emplace(io_, deadline);
  exchange->timer->async_wait([exchange](boost::system::error_code error) {
    if (!error) exchange->Fail(CallFailure::Kind::kTimeout, "");
  });
  Watch(exchange);
  std::stop_callback stopped(stop, [this, exchange] {
    boost::asio::post(io_, [exchange] { exchange->Fail(CallFailure::Kind::kCancelled, "the trial was ended"); });
  });
  io_.restart();
  while (!exchange->done) io_.run_one();
  requests_.cancel();
  replies_.cancel();
  exit_->cancel();
  RunnerProcess* owner = parent_ ? parent_.get() : this;
  if (owner->output_) owner->output_->cancel();
  exchange->timer->cancel();
  io_.restart();
  io_.poll();  // the cancelled handlers
  if (exchange->message) return std::move(*exchange->message);
  return Ended(exchange->failure, std::move(exchange->text));
}

Outcome<runner::Message> RunnerProcess::NextReply(int64_t id, std::string line, std::vector<int> fds,
                                                  Clock::time_point deadline, std::stop_token stop) {
  while (true) {
    Outcome<runner::Message> message = Transact(std::move(line), std::move(fds), deadline, stop);
    if (!message.ok()) return message;
    line.clear();
    fds.clear();
    if (message->json.if_contains("event") != nullptr) {
      NoteEvent(message->json);
      continue;
    }
    const json::value* reply_id = message->json.if_contains("id");
    if (reply_id == nullptr || !reply_id->is_int64() || reply_id->get_int64() != id) {
      return Ended(CallFailure::Kind::kProtocol,
                   fmt::format("a reply must have the id of its request, {}; it has {}", id,
                               reply_id ? json::serialize(*reply_id).substr(0, 40) : "none"));
    }
    return message;
  }
}

Outcome<Reply> RunnerProcess::Call(std::string_view method, json::object params, const std::vector<NamedFd>& fds,
                                   Clock::time_point deadline, std::stop_token stop) {
  const int64_t id = ++last_id_;
  json::object request = {{"id", id}, {"method", method}, {"params", std::move(params)}};
  std::vector<int> numbers;
  if (!fds.empty()) {
    json::array names;
    for (const NamedFd& fd : fds) {
      names.emplace_back(fd.name);
      numbers.push_back(fd.fd);
    }
    request["fds"] = std::move(names);
  }
  std::string line = json::serialize(request) + '\n';
  const Clock::time_point start = Clock::now();
  Outcome<runner::Message> message = NextReply(id, std::move(line), std::move(numbers), deadline, stop);
  if (!message.ok()) {
    CallFailure failure = message.failure();
    failure.message = OneLine(fmt::format("{} {}", method, failure.message));
    return failure;
  }
  Reply reply;
  reply.wall_ns = std::chrono::nanoseconds(Clock::now() - start).count();
  if (json::value* error = message->json.if_contains("error")) {
    const json::value* error_class = error->is_object() ? error->get_object().if_contains("class") : nullptr;
    const json::value* text = error->is_object() ? error->get_object().if_contains("message") : nullptr;
    if (error_class == nullptr || !error_class->is_string() || text == nullptr || !text->is_string()) {
      return Ended(CallFailure::Kind::kProtocol,
                   fmt::format("{}: an error must be {{\"class\": TEXT, \"message\": TEXT}}", method));
    }
    return CallFailure{CallFailure::Kind::kError, std::string(error_class->get_string()),
                       OneLine(fmt::format("{}: {}", method, std::string_view(text->get_string())))};
  }
  json::value* result = message->json.if_contains("result");
  if (result == nullptr || !result->is_object()) {
    return Ended(CallFailure::Kind::kProtocol,
                 fmt::format("{}: a reply must have a result or an error object", method));
  }
  reply.result = std::move(result->get_object());
  reply.message = std::move(*message);
  return reply;
}

Outcome<std::shared_ptr<RunnerProcess>> RunnerProcess::Fork(Clock::time_point deadline, std::stop_token stop) {
  absl::StatusOr<SocketPair> requests = MakeSocketPair(), replies = MakeSocketPair();
  if (!requests.ok() || !replies.ok()) {
    return CallFailure{CallFailure::Kind::kError, "internal", "fork: no sockets: too many open descriptors"};
  }
  Outcome<Reply> reply =
      Call("fork", {}, {{"requests", requests->there.get()}, {"replies", replies->there.get()}}, deadline, stop);
  if (!reply.ok()) return reply.failure();
  const json::value* number = reply->result.if_contains("child");
  const json::value* isolated = reply->result.if_contains("isolated");
  runner::UniqueFd pidfd = reply->message.TakeFd("pidfd");
  if (number == nullptr || !number->is_int64() || isolated == nullptr || !isolated->is_bool() || !pidfd.valid()) {
    return Ended(CallFailure::Kind::kProtocol, "fork must give child, isolated and the descriptor pidfd");
  }
  std::shared_ptr<RunnerProcess> child(new RunnerProcess(io_, std::move(requests->here), std::move(replies->here)));
  child->exit_ = std::make_unique<Descriptor>(io_, Duplicate(pidfd.get()));
  child->group_ = group_;
  if (group_) child->oom_kills_ = group_->oom_kills();
  child->process_ = process_;
  child->parent_ = shared_from_this();
  child->child_pidfd_ = std::move(pidfd);
  child->child_number_ = static_cast<int>(number->get_int64());
  child->isolated_ = isolated->get_bool();
  children_.insert(child->child_number_);
  return child;
}

void RunnerProcess::NoteEvent(const json::object& event) {
  const json::value* number = event.if_contains("child");
  // Of other children nothing is kept: a runner may say what it likes, as often as it likes.
  if (number == nullptr || !number->is_int64() || children_.erase(static_cast<int>(number->get_int64())) == 0) return;
  ProcessEnd end;
  if (const json::value* code = event.if_contains("code"); code && code->is_int64()) end.exit_code = code->get_int64();
  if (const json::value* s = event.if_contains("signal"); s && s->is_int64()) end.signal = s->get_int64();
  child_ends_[static_cast<int>(number->get_int64())] = end;
}

std::optional<ProcessEnd> RunnerProcess::EndOfChild(int number) {
  const Clock::time_point deadline = Clock::now() + kEndGrace;
  while (alive_) {
    if (auto found = child_ends_.find(number); found != child_ends_.end()) {
      const ProcessEnd end = found->second;
      child_ends_.erase(found);
      return end;
    }
    Outcome<runner::Message> message = Transact("", {}, deadline, {});
    if (!message.ok()) break;
    NoteEvent(message->json);
  }
  return std::nullopt;
}

std::optional<ProcessEnd> RunnerProcess::EndOf() {
  return parent_ ? parent_->EndOfChild(child_number_) : process_->Reap();
}

CallFailure RunnerProcess::Ended(CallFailure::Kind kind, std::string message) {
  CallFailure failure{kind, "", std::move(message)};
  // One that has exited by itself keeps its own end.
  SignalAll(SIGKILL);
  alive_ = false;
  const std::optional<ProcessEnd> told = EndOf();
  if (kind == CallFailure::Kind::kTimeout) failure.message = "took longer than its time limit";
  if (kind != CallFailure::Kind::kExit) return failure;
  const bool out_of_memory = group_ && group_->oom_kills() > oom_kills_;
  if (!told && !out_of_memory) {
    failure.kind = CallFailure::Kind::kParentEnded;
    failure.message = "ended with the warm parent of its runner";
    return failure;
  }
  const ProcessEnd end = told.value_or(ProcessEnd{0, SIGKILL});
  failure.exit_code = end.exit_code;
  failure.signal = end.signal;
  if (end.signal != 0) {
    failure.kind = CallFailure::Kind::kSignal;
    failure.message = fmt::format("ended by signal {} ({})", end.signal, strsignal(end.signal));
    if (out_of_memory) {
      failure.error_class = "out_of_memory";
      failure.message = "was killed by the kernel: it passed its memory limit";
    }
  } else {
    failure.message = fmt::format("exited with code {}", end.exit_code);
  }
  return failure;
}

void RunnerProcess::SignalAll(int signal) {
  if (!parent_) return process_->Signal(signal);
  // The group where the kernel can (6.9), else the process that serves.
  const int pidfd = child_pidfd_.get();
  if (::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, PIDFD_SIGNAL_PROCESS_GROUP) != 0) {
    ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0);
  }
}

std::vector<pid_t> RunnerProcess::Processes() const {
  if (!parent_) return ProcessTree(process_->pid());
  std::ifstream in(fmt::format("/proc/self/fdinfo/{}", child_pidfd_.get()));
  std::string key;
  pid_t pid = -1;
  for (; in >> key; in.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (key == "Pid:" && in >> pid) break;
  }
  return pid > 0 ? ProcessTree(pid) : std::vector<pid_t>();
}

void RunnerProcess::Stop() { SignalAll(SIGSTOP); }
void RunnerProcess::Continue() { SignalAll(SIGCONT); }

void RunnerProcess::Kill() {
  if (!alive_) return;
  SignalAll(SIGKILL);
  alive_ = false;
  EndOf();
}

void RunnerProcess::Close(Clock::duration limit) {
  if (!alive_) return;
  if (Call("close", {}, {}, Clock::now() + limit).ok()) {
    // Exit is part of closing; what lingers is killed.
    Transact("", {}, Clock::now() + limit, {});
  }
  Kill();
}

std::string RunnerProcess::Output() {
  process_->Drain();
  return process_->tail().Text();
}

void RunnerProcess::ClearOutput() {
  process_->Drain();
  process_->tail().Clear();
}

}  // namespace assay::worker
