// The whole server in process, over real sockets.
#include "server/server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "boost/json.hpp"
#include "gmock/gmock.h"
#include "server/postgres_fixture.h"
#include "server/text.h"

namespace assay::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-server-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    options_.database = MakeEmptyDatabase();
    options_.listen_grpc = "127.0.0.1:0";
    options_.listen_http = "127.0.0.1:0";
    options_.port_file = folder_ + "/ports";
    options_.bootstrap_token_file = folder_ + "/token";
    Start();
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Start() {
    auto server = Server::Start(options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  std::string Token() {
    std::string out;
    std::ifstream(options_.bootstrap_token_file) >> out;
    return out;
  }

  // Sends bytes to the HTTP port and returns all that comes until the server closes.
  std::string Send(const std::string& bytes) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_->http_port()));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    std::string out;
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
      send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      char buffer[4096];
      for (ssize_t n; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;) out.append(buffer, n);
    }
    close(fd);
    return out;
  }
  std::string Call(const std::string& verb, const std::string& path, const std::string& body = "",
                   const std::string& host = "localhost") {
    return Send(Cat(verb, " ", path, " HTTP/1.1\r\nHost: ", host, "\r\nConnection: close\r\nAuthorization: Bearer ",
                    Token(), "\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
  }

  ServerOptions options_;
  std::string folder_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, ServesTheApi) {
  EXPECT_THAT(Call("GET", "/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Call("GET", "/v1/suites"), HasSubstr(R"({"suites":[]})"));
  EXPECT_THAT(Call("GET", "/openapi.json"), HasSubstr("Evaluations_CreateEvaluation"));
  EXPECT_THAT(Call("GET", "/metrics"), HasSubstr("assay_calls_total"));
  const std::string made = Call("POST", "/v1/tokens", R"({"name": "x", "role": "VIEWER"})");
  EXPECT_THAT(made, HasSubstr(R"("secret":"assay_)"));
  EXPECT_THAT(Call("GET", "/v1/evaluations/1"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Call("GET", "/"), StartsWith("HTTP/1.1 404"));
}

TEST_F(ServerTest, OnlyTheApiNeedsAToken) {
  const auto without = [this](const std::string& path) {
    return Send(Cat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
  };
  for (const char* path : {"/healthz", "/metrics", "/openapi.json"}) {
    EXPECT_THAT(without(path), StartsWith("HTTP/1.1 200")) << path;
  }
  for (const char* path : {"/v1/suites", "/v1/workers", "/v1/leaderboard"}) {
    EXPECT_THAT(without(path), StartsWith("HTTP/1.1 401")) << path;
  }
}

TEST_F(ServerTest, RefusesWhatIsWrong) {
  EXPECT_THAT(Send("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Send("GET /v1/suites HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(Call("GET", "/v1/suites", "", "attacker.example"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Call("GET", "/v1/suites", "", "localhost.attacker.example:80"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Call("DELETE", "/v1/suites"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Call("POST", "/v1/suites", "{"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Call("POST", "/v1/suites", R"({"name": "A b"})"), HasSubstr("is not a suite's name"));
  EXPECT_THAT(Send("POST /v1/suites HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Send(Cat("GET / HTTP/1.1\r\nHost: localhost\r\nX: ", std::string(40000, 'x'), "\r\n\r\n")),
              StartsWith("HTTP/1.1 431"));
}

TEST_F(ServerTest, UploadsAreParsedAndCompared) {
  const std::string bad =
      Call("POST", "/v1/graphs:upload", R"({"graphs": [{"model": "import os", "weightMeta": "", "info": "{}"}]})");
  EXPECT_THAT(bad, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(bad, HasSubstr("graphs[0]: "));
  const std::string model =
      "import torch\\n\\n\\nclass GraphModule(torch.nn.Module):\\n    def forward(self, x: torch.Tensor):\\n        y "
      "= x + 1\\n"
      "        return (y,)\\n";
  const std::string meta =
      "class Program_weight_tensor_meta_x:\\n    name = \\\"x\\\"\\n    shape = [2]\\n    dtype = "
      "\\\"torch.float32\\\"\\n    device = "
      "\\\"cpu\\\"\\n    mean = 0.0\\n    std = 1.0\\n";
  const std::string info =
      "{\\\"framework\\\": \\\"torch\\\", \\\"num_devices_required\\\": 1, \\\"num_nodes_required\\\": 1}";
  const auto upload = [&](const std::string& hash) {
    return Call("POST", "/v1/graphs:upload",
                Cat(R"({"graphs": [{"hash": ")", hash, R"(", "model": ")", model, R"(", "weightMeta": ")", meta,
                    R"(", "info": ")", info, R"("}]})"));
  };
  EXPECT_THAT(upload(std::string(64, '0')), HasSubstr("the canonical form's is"));
  EXPECT_THAT(upload(""), HasSubstr(R"({"stored":1})"));
  EXPECT_THAT(upload(""), HasSubstr(R"({"stored":0})"));
}

TEST_F(ServerTest, FilesOfTheStart) {
  struct stat status = {};
  ASSERT_EQ(stat(options_.bootstrap_token_file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  std::ifstream file(options_.port_file);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const boost::json::value ports = boost::json::parse(text);
  EXPECT_EQ(ports.at("http").as_int64(), server_->http_port());
  EXPECT_EQ(ports.at("grpc").as_int64(), server_->grpc_port());
  const std::string token = Token();
  server_->Stop();
  EXPECT_FALSE(std::filesystem::exists(options_.port_file));
  server_.reset();
  Start();  // a valid token is kept
  EXPECT_EQ(Token(), token);
}

TEST_F(ServerTest, ATakenPortIsSaid) {
  ServerOptions other = options_;
  other.port_file.clear();
  other.listen_http = Cat("127.0.0.1:", server_->http_port());
  const auto failed = Server::Start(other);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(std::string(failed.status().message()), HasSubstr("cannot listen for HTTP"));
}

TEST(ServerStart, ADeadDatabaseIsSaid) {
  ServerOptions options;
  options.database = "host=/nonexistent dbname=x";
  EXPECT_TRUE(absl::IsUnavailable(Server::Start(options).status()));
}

}  // namespace
}  // namespace assay::server
