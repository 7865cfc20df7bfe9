#include "runner/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "graph/text.h"

namespace assay::runner {
namespace {

constexpr size_t kReceiveBytes = 64 << 10;

absl::Status ErrnoStatus(std::string_view call, int error) {
  return absl::InternalError(graph::Cat(call, " on the runner's channel: ", strerror(error)));
}

// The number of descriptors that a message names, or an error where "fds" is not a list of strings.
absl::StatusOr<size_t> NamedDescriptors(const boost::json::object& json) {
  const boost::json::value* names = json.if_contains("fds");
  if (names == nullptr) return 0;
  if (!names->is_array()) return absl::InvalidArgumentError("\"fds\" of a message must be a list of names");
  for (const boost::json::value& name : names->get_array()) {
    if (!name.is_string()) return absl::InvalidArgumentError("\"fds\" of a message must be a list of names");
  }
  if (names->get_array().size() > kMaxDescriptors) {
    return absl::InvalidArgumentError(graph::Cat("a message names ", names->get_array().size(),
                                                 " descriptors; at most ", kMaxDescriptors, " may come with one"));
  }
  return names->get_array().size();
}

void WaitFor(int socket, short events) {
  pollfd p{socket, events, 0};
  ::poll(&p, 1, -1);
}

}  // namespace

UniqueFd Message::TakeFd(std::string_view name) {
  const boost::json::value* names = json.if_contains("fds");
  if (names == nullptr || !names->is_array()) return UniqueFd();
  const boost::json::array& list = names->get_array();
  for (size_t i = 0; i < list.size() && i < fds.size(); ++i) {
    if (list[i].is_string() && std::string_view(list[i].get_string()) == name) return std::move(fds[i]);
  }
  return UniqueFd();
}

absl::Status Framing::Add(std::string_view bytes, std::vector<UniqueFd> fds) {
  buffer_.append(bytes);
  for (UniqueFd& fd : fds) fds_.push_back(std::move(fd));
  // A peer that has one message outstanding never has more than two messages' descriptors here.
  if (fds_.size() > 2 * kMaxDescriptors) {
    return absl::InvalidArgumentError(graph::Cat(fds_.size(), " descriptors arrived that no message names"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Message>> Framing::Next() {
  const size_t end = buffer_.find('\n', scanned_);
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    if (buffer_.size() > kMaxMessageBytes) {
      return absl::InvalidArgumentError(graph::Cat("a message is longer than ", kMaxMessageBytes, " bytes"));
    }
    return std::optional<Message>();
  }
  if (end > kMaxMessageBytes) {
    return absl::InvalidArgumentError(graph::Cat("a message is longer than ", kMaxMessageBytes, " bytes"));
  }
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(boost::json::string_view(buffer_.data(), end), error);
  const std::string start = buffer_.substr(0, std::min<size_t>(end, 80));
  buffer_.erase(0, end + 1);
  scanned_ = 0;
  if (error) {
    return absl::InvalidArgumentError(
        graph::Cat("a line that is not JSON (", error.message(), "); it starts with: ", start));
  }
  if (!value.is_object()) {
    return absl::InvalidArgumentError(graph::Cat("a message must be a JSON object; it starts with: ", start));
  }
  Message message;
  message.json = std::move(value.get_object());
  absl::StatusOr<size_t> count = NamedDescriptors(message.json);
  if (!count.ok()) return count.status();
  if (*count > fds_.size()) {
    return absl::InvalidArgumentError(
        graph::Cat("a message names ", *count, " descriptors and ", fds_.size(), " came with it"));
  }
  message.fds.assign(std::make_move_iterator(fds_.begin()), std::make_move_iterator(fds_.begin() + *count));
  fds_.erase(fds_.begin(), fds_.begin() + *count);
  if (buffer_.empty() && !fds_.empty()) {
    return absl::InvalidArgumentError(graph::Cat(fds_.size(), " descriptors came with a message that names ", *count));
  }
  return std::optional<Message>(std::move(message));
}

absl::StatusOr<size_t> Receive(int socket, std::string& bytes, std::vector<UniqueFd>& fds) {
  const size_t before = bytes.size();
  bytes.resize(before + kReceiveBytes);
  iovec part{bytes.data() + before, kReceiveBytes};
  // Room for the most that the kernel passes with one message, so that none is ever cut off and lost.
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 253)];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t count;
  do {
    count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  const int error = errno;
  bytes.resize(before + std::max<ssize_t>(count, 0));
  if (count < 0) {
    if (error == EAGAIN || error == EWOULDBLOCK) return absl::UnavailableError("nothing to receive");
    if (error == ECONNRESET) return size_t{0};
    return ErrnoStatus("recvmsg", error);
  }
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n; ++i) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      fds.emplace_back(fd);
    }
  }
  return static_cast<size_t>(count);
}

absl::StatusOr<size_t> Send(int socket, std::string_view bytes, const std::vector<int>& fds) {
  if (bytes.empty()) return absl::InvalidArgumentError("nothing to send");
  if (fds.size() > kMaxDescriptors) {
    return absl::InvalidArgumentError(
        graph::Cat(fds.size(), " descriptors; at most ", kMaxDescriptors, " go with a message"));
  }
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    memcpy(CMSG_DATA(c), fds.data(), sizeof(int) * fds.size());
  }
  ssize_t count;
  do {
    count = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return absl::UnavailableError("the socket's buffer is full");
    return ErrnoStatus("sendmsg", errno);
  }
  return static_cast<size_t>(count);
}

absl::StatusOr<Message> Channel::Read() {
  while (true) {
    absl::StatusOr<std::optional<Message>> message = framing_.Next();
    if (!message.ok()) return message.status();
    if (message->has_value()) return std::move(**message);
    std::string bytes;
    std::vector<UniqueFd> fds;
    absl::StatusOr<size_t> count = Receive(in_.get(), bytes, fds);
    if (absl::IsUnavailable(count.status())) {
      WaitFor(in_.get(), POLLIN);
      continue;
    }
    if (!count.ok()) return count.status();
    if (*count == 0) return absl::OutOfRangeError("the other side closed the channel");
    if (absl::Status added = framing_.Add(bytes, std::move(fds)); !added.ok()) return added;
  }
}

absl::Status Channel::Write(const boost::json::object& json, const std::vector<int>& fds) {
  absl::StatusOr<size_t> named = NamedDescriptors(json);
  if (!named.ok()) return named.status();
  if (*named != fds.size()) {
    return absl::InvalidArgumentError(graph::Cat("a message names ", *named, " descriptors and has ", fds.size()));
  }
  const std::string line = boost::json::serialize(json) + '\n';
  if (line.size() > kMaxMessageBytes) {
    return absl::ResourceExhaustedError(
        graph::Cat("a message of ", line.size(), " bytes is longer than ", kMaxMessageBytes));
  }
  std::string_view rest = line;
  while (!rest.empty()) {
    absl::StatusOr<size_t> count = Send(out_.get(), rest, rest.size() == line.size() ? fds : std::vector<int>{});
    if (absl::IsUnavailable(count.status())) {
      WaitFor(out_.get(), POLLOUT);
      continue;
    }
    if (!count.ok()) return count.status();
    rest.remove_prefix(*count);
  }
  return absl::OkStatus();
}

}  // namespace assay::runner
