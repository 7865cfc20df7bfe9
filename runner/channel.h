// The runner protocol's channel: JSON objects, one a line, over Unix stream sockets, with descriptors as SCM_RIGHTS
// (runner/protocol.md). Blocking; used by runners and by tests. The worker has an asynchronous one
// (worker/runner_process.h) that shares Framing. Thread safety: none; one thread a Channel.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runner/unique_fd.h"

namespace assay::runner {

inline constexpr size_t kMaxMessageBytes = 64u << 20;
inline constexpr size_t kMaxDescriptors = 16;  // with one message
inline constexpr int kRequestFd = 3;
inline constexpr int kReplyFd = 4;

struct Message {
  boost::json::object json;
  std::vector<UniqueFd> fds;  // in the order of json["fds"]
  // The descriptor named so in json["fds"]; an invalid one where there is none.
  UniqueFd TakeFd(std::string_view name);
};

// Collects bytes and descriptors into messages.
class Framing {
 public:
  // Adds what one recvmsg() gave.
  absl::Status Add(std::string_view bytes, std::vector<UniqueFd> fds);
  // The next whole message, or nothing yet. An error means that the peer broke the protocol.
  absl::StatusOr<std::optional<Message>> Next();

 private:
  std::string buffer_;
  size_t scanned_ = 0;
  std::vector<UniqueFd> fds_;
};

// One recvmsg(): bytes appended to `bytes`, descriptors to `fds` (close-on-exec). Returns the number of bytes, 0 at end
// of file; Unavailable where the socket would block.
absl::StatusOr<size_t> Receive(int socket, std::string& bytes, std::vector<UniqueFd>& fds);
// One sendmsg() of at least a byte of `bytes`, with `fds` attached to its first byte. Returns the number of bytes sent;
// Unavailable where the socket would block.
absl::StatusOr<size_t> Send(int socket, std::string_view bytes, const std::vector<int>& fds);

class Channel {
 public:
  Channel(UniqueFd in, UniqueFd out) : in_(std::move(in)), out_(std::move(out)) {}
  // Blocks. OutOfRange at end of file.
  absl::StatusOr<Message> Read();
  // Borrows `fds`; json["fds"] must name them.
  absl::Status Write(const boost::json::object& json, const std::vector<int>& fds = {});

  int in() const { return in_.get(); }
  int out() const { return out_.get(); }

 private:
  UniqueFd in_, out_;
  Framing framing_;
};

}  // namespace assay::runner
