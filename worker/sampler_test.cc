// The samplers against the real fake runner.

#include "worker/sampler.h"

#include <unistd.h>

#include <filesystem>

#include "gmock/gmock.h"
#include "graph/canonical.h"
#include "graph/test_sample.h"
#include "gtest/gtest.h"
#include "worker/input_set.h"
#include "worker/runner_pool.h"

namespace assay::worker {
namespace {

namespace json = boost::json;

constexpr char kSet[] = "public";

class SamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    config_.sandbox = SandboxLevel::kNone;
    runner_.name = "fake";
    runner_.command = {std::filesystem::path(FAKE_RUNNER).lexically_normal().string()};
    runner_.trusted = true;
    pool_.emplace(io_, config_);
    absl::StatusOr<KnownRunner> known = pool_->Describe(runner_, {});
    ASSERT_TRUE(known.ok()) << known.status();
    known_ = *std::move(known);
  }

  // A process that has a graph, with one compiled form for each of `tricks`.
  std::shared_ptr<RunnerProcess> Start(const std::vector<std::string>& tricks) {
    const graph::Sample sample = graph::ReluSample();
    const graph::Graph graph = graph::MustParse(sample);
    const std::string hash = graph::Hash(graph);
    const InputSets inputs = *ReplayInputs(graph, hash, "seed", graph::ReplayMode::kAssay, 1);
    std::shared_ptr<RunnerProcess> process = pool_->Start(known_, int64_t{1} << 30, {})->process;
    EXPECT_TRUE(Call(*process, "load",
                     {{"graph", {{"hash", hash}, {"model", sample.model}}}, {"device", "cpu"}, {"threads", 1}},
                     {{"tensors", inputs.public_set.fd()}}));
    for (const std::string& trick : tricks) {
      EXPECT_TRUE(Call(*process, "compile", {{"compiler", "fake"}, {"options", {{"trick", trick}}}}, {}));
    }
    return process;
  }

  static bool Call(RunnerProcess& process, const char* method, json::object params, const std::vector<NamedFd>& fds) {
    return process.Call(method, std::move(params), fds, Clock::now() + std::chrono::seconds(20), {}).ok();
  }

  Config config_;
  RunnerConfig runner_;
  boost::asio::io_context io_;
  std::optional<RunnerPool> pool_;
  KnownRunner known_;
};

TEST_F(SamplerTest, ABudgetThatEndsBeforeTheSampleToKeepIsNoFailure) {
  const std::shared_ptr<RunnerProcess> process = Start({"none", "none"});
  const std::unique_ptr<Sampler> sampler = MakeSampler({SamplerArm{process, 1}, SamplerArm{process, 2}}, kSet);
  Chunk chunk;
  for (int i = 0; i < 500; ++i) chunk.order.insert(chunk.order.end(), {0, 1});
  chunk.limit_seconds = 20;
  chunk.keep = 1;
  chunk.budget_ns = 1;
  Samples samples;
  ASSERT_FALSE(sampler->Take(chunk, {}, samples).has_value());
  EXPECT_EQ(samples.ns.size(), 2u);
  EXPECT_TRUE(samples.kept.has_value());
  chunk.keep = 999;
  Samples short_of_it;
  ASSERT_FALSE(sampler->Take(chunk, {}, short_of_it).has_value());
  EXPECT_EQ(short_of_it.ns.size(), 2u);
  EXPECT_FALSE(short_of_it.kept.has_value()) << "there are no outputs to be read";
}

}  // namespace
}  // namespace assay::worker
