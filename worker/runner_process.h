// The worker's side of a runner (runner/protocol.md): requests with a time limit, and how a runner ended. Asio watches
// its sockets, its pidfd, its output and the clock.
// Thread safety: none; one thread a runner, the one that runs `io`. The stop token may be triggered from anywhere.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runner/channel.h"
#include "worker/memory_group.h"
#include "worker/process.h"

namespace assay::worker {

using Clock = std::chrono::steady_clock;

inline Clock::time_point After(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Why a request gave no result.
struct CallFailure {
  enum class Kind {
    kError,        // an error reply: the runner goes on serving
    kTimeout,      // the time limit: killed
    kExit,         // it exited
    kSignal,       // it was ended by a signal that was not the worker's
    kProtocol,     // it wrote what is not the protocol: killed
    kCancelled,    // the stop token: killed
    kParentEnded,  // the warm parent that it was forked from ended, and it with it: not the doing of what it ran
  };
  Kind kind = Kind::kError;
  std::string error_class;  // of an error reply: "compile_fail", …; "out_of_memory" of a process killed for it too
  std::string message;      // one line
  int exit_code = 0;
  int signal = 0;
};

struct Reply {
  boost::json::object result;
  runner::Message message;  // whose descriptors can be taken; its "result" was moved to `result`
  int64_t wall_ns = 0;      // from the first byte sent to the last byte received
};

// A value or a CallFailure.
template <typename T>
class Outcome {
 public:
  Outcome(T value) : value_(std::move(value)) {}
  Outcome(CallFailure failure) : failure_(std::move(failure)) {}
  bool ok() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  T* operator->() { return &*value_; }
  const CallFailure& failure() const { return failure_; }

 private:
  std::optional<T> value_;
  CallFailure failure_;
};

struct NamedFd {
  std::string name;
  int fd;
};

class RunnerProcess : public std::enable_shared_from_this<RunnerProcess> {
 public:
  // Starts the command. Its first request shows whether it serves.
  // `group`, where there is one, limits the memory of it and its children.
  static absl::StatusOr<std::shared_ptr<RunnerProcess>> Start(boost::asio::io_context& io, const Launch& launch,
                                                              std::shared_ptr<MemoryGroup> group = nullptr);

  ~RunnerProcess();

  // Sends one request and waits for its reply.
  Outcome<Reply> Call(std::string_view method, boost::json::object params, const std::vector<NamedFd>& fds,
                      Clock::time_point deadline, std::stop_token stop = {});
  // A child of this parent that serves a trial (`fork`).
  Outcome<std::shared_ptr<RunnerProcess>> Fork(Clock::time_point deadline, std::stop_token stop = {});

  // What runs now: itself, what it started, and what stands between it and the worker.
  std::vector<pid_t> Processes() const;
  // Stops and continues all of its processes.
  void Stop();
  void Continue();
  void Kill();
  // Asks it to close, and kills it where it does not in time.
  void Close(Clock::duration limit);

  bool alive() const { return alive_; }
  MemoryGroup* memory_group() { return group_.get(); }
  // Ran in namespaces of its own: forked ones as the parent said, others as `sandboxed` says.
  bool isolated() const { return isolated_; }
  // The last of what it, or the parent that it shares them with, wrote to standard output and standard error.
  std::string Output();
  // Forgets what was written so far.
  void ClearOutput();

 private:
  struct Exchange;
  struct Handlers;
  using Descriptor = boost::asio::posix::stream_descriptor;

  RunnerProcess(boost::asio::io_context& io, runner::UniqueFd requests, runner::UniqueFd replies);
  // Runs `io` until a message has come; CallFailure otherwise. Sends `line` first.
  Outcome<runner::Message> Transact(std::string line, std::vector<int> fds, Clock::time_point deadline,
                                    std::stop_token stop);
  Outcome<runner::Message> NextReply(int64_t id, std::string line, std::vector<int> fds, Clock::time_point deadline,
                                     std::stop_token stop);
  void Watch(const std::shared_ptr<Exchange>& exchange);
  // Kills it and says how it ended.
  CallFailure Ended(CallFailure::Kind kind, std::string message);
  std::optional<ProcessEnd> EndOf();
  // Nothing where the parent has gone, and its children with it.
  std::optional<ProcessEnd> EndOfChild(int number);
  void NoteEvent(const boost::json::object& event);
  void SignalAll(int signal);

  boost::asio::io_context& io_;
  Descriptor requests_, replies_;
  std::unique_ptr<Descriptor> exit_, output_;
  runner::Framing framing_;
  std::shared_ptr<MemoryGroup> group_;     // outlives the process below
  std::shared_ptr<Process> process_;       // its own, or its parent's
  std::shared_ptr<RunnerProcess> parent_;  // of a forked one
  runner::UniqueFd child_pidfd_;
  int child_number_ = 0;
  std::set<int> children_;                // of a parent: forked and not yet told to have ended
  std::map<int, ProcessEnd> child_ends_;  // of a parent: told and not yet asked for
  int64_t oom_kills_ = 0;                 // of the group, when the process started
  int64_t last_id_ = 0;
  bool alive_ = true;
  bool isolated_ = false;
};

}  // namespace assay::worker
