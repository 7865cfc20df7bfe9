// The whole server in process, over gRPC.
#include "server/grpc_front.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "assay/v1/evaluations.pb.h"
#include "assay/v1/suites.pb.h"
#include "assay/v1/workers.pb.h"
#include "gmock/gmock.h"
#include "server/postgres_fixture.h"
#include "server/server.h"
#include "server/text.h"

namespace assay::server {
namespace {

using testing::HasSubstr;

class GrpcTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-grpc-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ServerOptions options;
    options.database = MakeEmptyDatabase();
    options.listen_grpc = "127.0.0.1:0";
    options.listen_http = "127.0.0.1:0";
    options.bootstrap_token_file = folder_ + "/token";
    auto server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    std::ifstream(options.bootstrap_token_file) >> token_;
    channel_ = grpc::CreateChannel(Cat("127.0.0.1:", server_->grpc_port()), grpc::InsecureChannelCredentials());
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  template <typename Request, typename Response>
  grpc::Status Call(const char* path, const Request& request, Response* response, const std::string& authorization,
                    double seconds = 20) {
    grpc::ClientContext context;
    if (!authorization.empty()) context.AddMetadata("authorization", authorization);
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000)));
    const grpc::internal::RpcMethod method(path, grpc::internal::RpcMethod::NORMAL_RPC);
    return grpc::internal::BlockingUnaryCall<Request, Response>(channel_.get(), method, &context, request, response);
  }
  std::string Bearer() const { return "Bearer " + token_; }

  std::string folder_, token_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(GrpcTest, AnswersAndRefuses) {
  v1::ListSuitesResponse suites;
  EXPECT_TRUE(Call("/assay.v1.Suites/ListSuites", v1::ListSuitesRequest(), &suites, Bearer()).ok());
  EXPECT_EQ(Call("/assay.v1.Suites/ListSuites", v1::ListSuitesRequest(), &suites, "").error_code(),
            grpc::UNAUTHENTICATED);
  EXPECT_EQ(Call("/assay.v1.Suites/ListSuites", v1::ListSuitesRequest(), &suites, "Bearer no").error_code(),
            grpc::UNAUTHENTICATED);
  EXPECT_EQ(Call("/assay.v1.Suites/Nothing", v1::ListSuitesRequest(), &suites, Bearer()).error_code(),
            grpc::UNIMPLEMENTED);
  v1::GetEvaluationRequest request;
  request.set_id("5");
  v1::Evaluation evaluation;
  const grpc::Status status = Call("/assay.v1.Evaluations/GetEvaluation", request, &evaluation, Bearer());
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("there is no evaluation 5"));
}

TEST_F(GrpcTest, AnEmptyMessageAndOneThatIsNone) {
  grpc::ByteBuffer answer;
  const grpc::Slice nothing("", 0);
  EXPECT_TRUE(Call("/assay.v1.Suites/ListSuites", grpc::ByteBuffer(&nothing, 1), &answer, Bearer()).ok());
  const grpc::Slice slice("\xff\xff\xff");
  const grpc::ByteBuffer garbage(&slice, 1);
  EXPECT_EQ(Call("/assay.v1.Suites/GetSuite", garbage, &answer, Bearer()).error_code(), grpc::INVALID_ARGUMENT);
}

TEST_F(GrpcTest, LongPollsHoldNoThread) {
  // More of them than the server has threads; a plain call is answered all the same.
  std::vector<std::thread> workers;
  std::atomic<int> good = 0;
  for (int i = 0; i < 30; ++i) {
    workers.emplace_back([&, i] {
      v1::SynchroniseRequest request;
      request.set_worker_id(Cat("w", i));
      request.set_incarnation("i");
      request.set_wait_seconds(1);
      v1::SynchroniseResponse response;
      good += Call("/assay.v1.Workers/Synchronise", request, &response, Bearer()).ok() ? 1 : 0;
    });
  }
  v1::ListSuitesResponse suites;
  EXPECT_TRUE(Call("/assay.v1.Suites/ListSuites", v1::ListSuitesRequest(), &suites, Bearer()).ok());
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(good, 30);
}

TEST_F(GrpcTest, StoppingAnswersLongPolls) {
  grpc::Status status(grpc::UNKNOWN, "");
  std::thread worker([&] {
    v1::SynchroniseRequest request;
    request.set_worker_id("w");
    request.set_incarnation("i");
    request.set_wait_seconds(30);
    v1::SynchroniseResponse response;
    status = Call("/assay.v1.Workers/Synchronise", request, &response, Bearer());
  });
  v1::ListWorkersResponse workers;
  while (workers.workers().empty())
    ASSERT_TRUE(Call("/assay.v1.Workers/ListWorkers", v1::ListWorkersRequest(), &workers, Bearer()).ok());
  server_->Stop();
  worker.join();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(GrpcTest, HealthNeedsNoToken) {
  grpc::ByteBuffer answer;
  const grpc::ByteBuffer request = [] {
    const grpc::Slice empty("", 0);
    return grpc::ByteBuffer(&empty, 1);
  }();
  ASSERT_TRUE(Call("/grpc.health.v1.Health/Check", request, &answer, "").ok());
  grpc::Slice slice;
  ASSERT_TRUE(answer.DumpToSingleSlice(&slice).ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(slice.begin()), slice.size()), "\x08\x01");  // SERVING
}

}  // namespace
}  // namespace assay::server
