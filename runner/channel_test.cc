#include "runner/channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::runner {
namespace {

struct Pair {
  UniqueFd a, b;
};

Pair Sockets() {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Channel ChannelOf(UniqueFd fd) {
  UniqueFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  return Channel(std::move(fd), std::move(copy));
}

UniqueFd PipeWith(std::string_view text) {
  int fds[2];
  EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  EXPECT_EQ(::write(fds[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(fds[1]);
  return UniqueFd(fds[0]);
}

std::string TextOf(int fd) {
  char text[64];
  const ssize_t n = ::read(fd, text, sizeof(text));
  return n > 0 ? std::string(text, n) : "";
}

TEST(ChannelTest, PassesMessagesWithDescriptors) {
  Pair sockets = Sockets();
  Channel a = ChannelOf(std::move(sockets.a)), b = ChannelOf(std::move(sockets.b));
  const UniqueFd one = PipeWith("one"), two = PipeWith("two"), three = PipeWith("three");
  ASSERT_TRUE(a.Write({{"id", 1}}).ok());
  ASSERT_TRUE(a.Write({{"id", 2}, {"fds", boost::json::array{"x", "y"}}}, {one.get(), two.get()}).ok());
  ASSERT_TRUE(a.Write({{"id", 3}, {"fds", boost::json::array{"z"}}}, {three.get()}).ok());
  ASSERT_TRUE(a.Write({{"id", 4}}).ok());

  for (int id = 1; id <= 4; ++id) {
    absl::StatusOr<Message> message = b.Read();
    ASSERT_TRUE(message.ok()) << message.status();
    EXPECT_EQ(message->json.at("id").as_int64(), id);
    EXPECT_EQ(message->fds.size(), id == 2 ? 2u : id == 3 ? 1u : 0u);
    if (id == 2) {
      EXPECT_EQ(TextOf(message->TakeFd("y").get()), "two");
      EXPECT_EQ(TextOf(message->TakeFd("x").get()), "one");
      EXPECT_FALSE(message->TakeFd("x").valid()) << "taken once";
      EXPECT_FALSE(message->TakeFd("w").valid());
    }
    if (id == 3) {
      const UniqueFd z = message->TakeFd("z");
      EXPECT_EQ(TextOf(z.get()), "three");
      EXPECT_TRUE(::fcntl(z.get(), F_GETFD) & FD_CLOEXEC);
    }
  }
}

TEST(ChannelTest, PassesLongMessages) {
  Pair sockets = Sockets();
  Channel a = ChannelOf(std::move(sockets.a)), b = ChannelOf(std::move(sockets.b));
  const std::string text(3 << 20, 'x');
  const UniqueFd one = PipeWith("one");
  std::thread writer([&] {
    EXPECT_TRUE(a.Write({{"text", text}, {"fds", boost::json::array{"x"}}}, {one.get()}).ok());
  });
  absl::StatusOr<Message> message = b.Read();
  writer.join();
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(message->json.at("text").as_string(), text);
  EXPECT_EQ(TextOf(message->TakeFd("x").get()), "one");
}

TEST(ChannelTest, EndOfFileIsOutOfRange) {
  Pair sockets = Sockets();
  Channel b = ChannelOf(std::move(sockets.b));
  sockets.a.reset();
  EXPECT_TRUE(absl::IsOutOfRange(b.Read().status()));
}

TEST(ChannelTest, RefusesToWriteWhatItDoesNotName) {
  Pair sockets = Sockets();
  Channel a = ChannelOf(std::move(sockets.a));
  const UniqueFd one = PipeWith("one");
  EXPECT_TRUE(absl::IsInvalidArgument(a.Write({{"id", 1}}, {one.get()})));
  EXPECT_TRUE(absl::IsInvalidArgument(a.Write({{"id", 1}, {"fds", boost::json::array{"x"}}})));
  EXPECT_TRUE(absl::IsInvalidArgument(a.Write({{"id", 1}, {"fds", 3}})));
}

TEST(FramingTest, TakesPieces) {
  Framing framing;
  const std::string line = "{\"id\": 7}\n{\"id\": 8}\n";
  int seen = 0;
  for (char c : line) {
    ASSERT_TRUE(framing.Add(std::string_view(&c, 1), {}).ok());
    absl::StatusOr<std::optional<Message>> message = framing.Next();
    ASSERT_TRUE(message.ok()) << message.status();
    if (message->has_value()) {
      EXPECT_EQ((*message)->json.at("id").as_int64(), 7 + seen++);
    }
  }
  EXPECT_EQ(seen, 2);
}

TEST(FramingTest, RefusesWhatIsNoMessage) {
  const std::string invalid[] = {"hello\n",
                                 "[1]\n",
                                 "\n",
                                 "{\"id\": 1} trailing\n",
                                 "{\"fds\": [\"x\"]}\n",
                                 "{\"fds\": [1]}\n",
                                 "{\"fds\": \"x\"}\n",
                                 std::string("{\"a\": \"\xff\xfe\"}\n"),
                                 std::string(10000, '[') + "\n"};
  for (const std::string& text : invalid) {
    Framing framing;
    ASSERT_TRUE(framing.Add(text, {}).ok());
    EXPECT_TRUE(absl::IsInvalidArgument(framing.Next().status())) << text;
  }
}

TEST(FramingTest, RefusesAnEndlessLine) {
  Framing framing;
  const std::string piece(8 << 20, 'x');
  absl::Status status;
  for (int i = 0; i < 9 && status.ok(); ++i) {
    ASSERT_TRUE(framing.Add(piece, {}).ok());
    status = framing.Next().status();
  }
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST(FramingTest, RefusesDescriptorsThatNoMessageNames) {
  Framing framing;
  std::vector<UniqueFd> fds;
  fds.push_back(PipeWith("x"));
  ASSERT_TRUE(framing.Add("{\"id\": 1}\n", std::move(fds)).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(framing.Next().status()));

  Framing flooded;
  std::vector<UniqueFd> many;
  for (size_t i = 0; i <= 2 * kMaxDescriptors; ++i) many.push_back(PipeWith("x"));
  EXPECT_TRUE(absl::IsInvalidArgument(flooded.Add("", std::move(many))));
}

}  // namespace
}  // namespace assay::runner
