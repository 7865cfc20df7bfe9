// The tests of trials share this: a worker's parts with the fake runner, without a server.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "graph/canonical.h"
#include "gtest/gtest.h"
#include "worker/trial.h"

namespace assay::worker {

// x and y of 4 × 8 float32: relu(x) + y.
inline graph::Sample TestSample() {
  graph::Sample sample;
  sample.model =
      "import torch\n\n"
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, L_x_ : torch.Tensor, L_y_ : torch.Tensor):\n"
      "        relu = torch.nn.functional.relu(L_x_)\n"
      "        add = relu + L_y_\n"
      "        return (add,)\n";
  for (const char* name : {"L_x_", "L_y_"}) {
    sample.weight_meta += std::string("class Program_weight_tensor_meta_") + name + ":\n    name = \"" + name +
                          "\"\n    shape = [4, 8]\n    dtype = \"torch.float32\"\n    device = \"cpu\"\n"
                          "    mean = 0.0\n    std = 1.0\n    data = None\n\n";
  }
  sample.info = "{\"framework\": \"torch\", \"num_devices_required\": 1, \"num_nodes_required\": 1}";
  return sample;
}

class TrialTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("trial_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    config_.name = "test-worker";
    config_.state_dir = folder_ / "state";
    config_.lock_dir = folder_ / "locks";
    config_.sandbox = ProbeSandbox(SandboxLevel::kFull).ok() ? SandboxLevel::kFull : SandboxLevel::kNone;
    config_.limits = {20, 20, 20};
    absl::StatusOr<graph::Graph> graph = graph::Parse(TestSample());
    ASSERT_TRUE(graph.ok()) << graph.status();
    sample_ = graph::Canonical(*graph);
    hash_ = graph::Hash(*graph);
    pool_.emplace(io_, config_);
    lowered_ = LoweredStore(config_.state_dir / "lowered", nullptr);
  }
  void TearDown() override {
    pool_.reset();
    std::filesystem::remove_all(folder_);
  }

  void AddRunner(const std::string& environment, std::vector<std::string> arguments, bool trusted = true) {
    RunnerConfig runner;
    runner.name = "fake";
    runner.environment = environment;
    runner.command = {std::filesystem::path(FAKE_RUNNER).lexically_normal().string()};
    runner.command.insert(runner.command.end(), arguments.begin(), arguments.end());
    runner.trusted = trusted;
    absl::StatusOr<KnownRunner> known = pool_->Describe(runner, {});
    ASSERT_TRUE(known.ok()) << known.status();
    runners_.push_back(*std::move(known));
  }

  v1::Assignment Assign(const std::string& trick, const std::string& candidate_environment = "default",
                        const std::string& baseline_trick = "none") {
    v1::Assignment assignment;
    assignment.set_trial_id("t1");
    assignment.set_fence(7);
    assignment.set_graph_hash(hash_);
    assignment.mutable_candidate()->set_compiler("fake");
    assignment.mutable_candidate()->set_environment(candidate_environment);
    (*assignment.mutable_candidate()->mutable_options()->mutable_fields())["trick"].set_string_value(trick);
    assignment.mutable_baseline()->set_compiler("eager");
    (*assignment.mutable_baseline()->mutable_options()->mutable_fields())["trick"].set_string_value(baseline_trick);
    assignment.mutable_policy()->set_name("sweep");
    assignment.mutable_policy()->set_budget_seconds(0.05);
    return assignment;
  }

  absl::StatusOr<v1::Measurement> Run(const v1::Assignment& assignment, std::stop_token stop = {}) {
    const Environment environment = CaptureEnvironment(config_, false);
    TrialContext context{*pool_, runners_, config_, environment, lowered_, runners_[0].devices[0]};
    return RunTrial(
        context, assignment, [&](std::string_view) { return sample_; }, stop,
        [&](std::string_view phase) { last_phase_ = phase; });
  }

  v1::Measurement Measure(const v1::Assignment& assignment) {
    absl::StatusOr<v1::Measurement> measurement = Run(assignment);
    EXPECT_TRUE(measurement.ok()) << measurement.status();
    return measurement.ok() ? *measurement : v1::Measurement();
  }

  std::filesystem::path folder_;
  Config config_;
  boost::asio::io_context io_;
  std::optional<RunnerPool> pool_;
  std::vector<KnownRunner> runners_;
  LoweredStore lowered_{"", nullptr};
  graph::Sample sample_;
  std::string hash_, last_phase_;
};

// A measurement of TestSample() in which nothing is missing.
inline void ExpectWhole(const v1::Measurement& m) {
  ASSERT_EQ(m.outcome_class(), v1::CORRECT) << m.message() << "\n" << m.evidence();
  EXPECT_EQ(m.trial_id(), "t1");
  EXPECT_EQ(m.fence(), 7);
  EXPECT_EQ(m.secret_seed().size(), 64u);
  EXPECT_GT(m.replayed_bytes(), 0);
  EXPECT_GT(m.timing().pairs(), 2);
  EXPECT_EQ(m.timing().baseline_samples_ns_size(), m.timing().candidate_samples_ns_size());
  EXPECT_TRUE(m.timing().has_interval());
  ASSERT_EQ(m.candidate().artifacts_size(), 1);
  EXPECT_GT(m.candidate().artifacts(0).content().size(), 0u);
  int64_t sum = 0;
  bool timed = false;
  for (const v1::OutputComparison& c : m.comparisons()) timed |= c.input_set() == "timed";
  EXPECT_TRUE(timed) << "a timed call must be checked";
  for (const v1::Phase& phase : m.phases()) {
    EXPECT_EQ(phase.start_ns(), sum) << phase.name() << ": phases follow one another without gaps";
    sum += phase.duration_ns();
  }
  EXPECT_LE(sum, m.wall_ns());
  EXPECT_LT(m.harness_ns(), m.wall_ns());
}

}  // namespace assay::worker
