#include "client/endpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <optional>

#include "client/text.h"

namespace assay::client {
namespace {

namespace fs = std::filesystem;

class EndpointTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-endpoint-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    env_["ASSAY_HOME"] = (folder_ / "state").string();
    env_["XDG_CONFIG_HOME"] = (folder_ / "config").string();
    fs::create_directories(folder_ / "state");
    fs::create_directories(folder_ / "config/assay");
  }
  void TearDown() override { fs::remove_all(folder_); }

  absl::StatusOr<Endpoint> Find(const EndpointFlags& flags = {}) {
    return FindEndpoint(flags, [this](const char* name) { return env_.contains(name) ? env_[name] : ""; });
  }
  void WriteConfig(const std::string& text) { ASSERT_TRUE(WriteFile(folder_ / "config/assay/config.toml", text).ok()); }
  void RunLocalService() {
    absl::StatusOr<FileLock> lock = FileLock::Take(folder_ / "state/lock");
    ASSERT_TRUE(lock.ok()) << lock.status();
    lock_.emplace(*std::move(lock));
    ASSERT_TRUE(
        WriteLocalService(folder_ / "state", {.pid = 1, .grpc_port = 4321, .http_port = 4322, .token = "local"}).ok());
  }

  fs::path folder_;
  std::map<std::string, std::string> env_;
  std::optional<FileLock> lock_;
};

TEST_F(EndpointTest, WithoutAnythingItSaysWhatToDo) {
  const auto endpoint = Find();
  EXPECT_TRUE(absl::IsUnavailable(endpoint.status()));
  EXPECT_NE(MessageOf(endpoint.status()).find("assay up"), std::string::npos);
}

TEST_F(EndpointTest, FindsALocalService) {
  RunLocalService();
  const auto endpoint = Find();
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  EXPECT_EQ(endpoint->address, "127.0.0.1:4321");
  EXPECT_EQ(endpoint->token, "local");
  EXPECT_FALSE(endpoint->tls);
}

TEST_F(EndpointTest, AFileWithoutALockIsStale) {
  RunLocalService();
  lock_.reset();
  EXPECT_TRUE(absl::IsUnavailable(Find().status()));
}

TEST_F(EndpointTest, FlagsThenEnvironmentThenLocalThenConfig) {
  WriteConfig("server = \"config.example:5\"\ntoken = \"c\"\n");
  EXPECT_EQ(Find()->address, "config.example:5");
  EXPECT_EQ(Find()->token, "c");
  RunLocalService();
  EXPECT_EQ(Find()->address, "127.0.0.1:4321");
  EXPECT_EQ(Find()->token, "local");
  env_["ASSAY_SERVER"] = "env.example:6";
  EXPECT_EQ(Find()->address, "env.example:6");
  EXPECT_EQ(Find()->token, "") << "a token must not go to another server than its own";
  env_["ASSAY_TOKEN"] = "e";
  EXPECT_EQ(Find()->token, "e");
  EXPECT_EQ(Find({.server = "flag.example:7"})->address, "flag.example:7");
  EXPECT_EQ(Find({.server = "flag.example:7", .token = "f"})->token, "f");
}

TEST_F(EndpointTest, OtherMachinesAreSpokenToByTls) {
  EXPECT_TRUE(Find({.server = "assay.example:443"})->tls);
  EXPECT_TRUE(Find({.server = "https://127.0.0.1:443"})->tls);
  EXPECT_FALSE(Find({.server = "localhost:80"})->tls);
  EXPECT_FALSE(Find({.server = "[::1]:80"})->tls);
  EXPECT_FALSE(Find({.server = "http://127.0.0.1:80/"})->tls);
  EXPECT_TRUE(Find({.server = "127.example.com:80"})->tls) << "a name that only begins like a loopback address";
  EXPECT_TRUE(absl::IsInvalidArgument(Find({.server = "http://assay.example:80"}).status()));
  EXPECT_FALSE(Find({.server = "http://assay.example:80", .insecure = true})->tls);
}

TEST_F(EndpointTest, RefusesWhatIsNoAddress) {
  for (const char* server : {"host", "host:", ":80", "host:0", "host:99999", "http://host:80/path", "host:x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Find({.server = server}).status())) << server;
  }
}

TEST_F(EndpointTest, ConfigErrorsNameFileAndLine) {
  WriteConfig("server = \"a:1\"\nserver = 2\n");
  EXPECT_NE(MessageOf(Find().status()).find("config.toml: line 2"), std::string::npos) << Find().status();
  WriteConfig("sever = \"a:1\"\n");
  EXPECT_NE(MessageOf(Find().status()).find("unknown key 'sever'"), std::string::npos) << Find().status();
  WriteConfig("token = 7\n");
  EXPECT_NE(MessageOf(Find().status()).find("'token' must be a text"), std::string::npos) << Find().status();
}

TEST(StateFolderTest, FollowsTheEnvironment) {
  std::map<std::string, std::string> env = {{"HOME", "/home/a"}};
  const GetEnv get = [&](const char* name) { return env.contains(name) ? env[name] : ""; };
  EXPECT_EQ(*StateFolder(get), "/home/a/.local/state/assay");
  env["XDG_STATE_HOME"] = "/state";
  EXPECT_EQ(*StateFolder(get), "/state/assay");
  env["ASSAY_HOME"] = "/x/../y";
  EXPECT_EQ(*StateFolder(get), "/y");
  env.clear();
  EXPECT_FALSE(StateFolder(get).ok());
}

TEST(FileLockTest, OneHolderAtATime) {
  std::string name = (fs::temp_directory_path() / "assay-lock-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path file = fs::path(name) / "lock";
  EXPECT_FALSE(FileLock::Held(file));
  {
    const auto lock = FileLock::Take(file);
    ASSERT_TRUE(lock.ok()) << lock.status();
    EXPECT_TRUE(FileLock::Held(file));
    EXPECT_EQ(FileLock::Holder(file), ::getpid());
    EXPECT_TRUE(absl::IsAborted(FileLock::Take(file).status()));
    EXPECT_TRUE(FileLock::Held(file)) << "looking must not free it";
  }
  EXPECT_FALSE(FileLock::Held(file));
  fs::remove_all(name);
}

}  // namespace
}  // namespace assay::client
