// Trials through the real code: the real runner processes, sandboxed where this machine can, with the fake runner.

#include "worker/trial.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "gmock/gmock.h"
#include "graph/canonical.h"
#include "gtest/gtest.h"
#include "measure/paired.h"
#include "worker/device_lock.h"
#include "worker/input_set.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

graph::Sample TestSample() {
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
    folder_ = fs::path(testing::TempDir()) / ("trial_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
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
    fs::remove_all(folder_);
  }

  void AddRunner(const std::string& environment, std::vector<std::string> arguments, bool trusted = true) {
    RunnerConfig runner;
    runner.name = "fake";
    runner.environment = environment;
    runner.command = {fs::path(FAKE_RUNNER).lexically_normal().string()};
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

  fs::path folder_;
  Config config_;
  boost::asio::io_context io_;
  std::optional<RunnerPool> pool_;
  std::vector<KnownRunner> runners_;
  LoweredStore lowered_{"", nullptr};
  graph::Sample sample_;
  std::string hash_, last_phase_;
};

// What could be read: of a process that ends meanwhile, the stream's buffer throws where it is read by itself.
std::string ReadFile(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Whether `pid` was started by this process, or by one that was.
bool IsDescendant(int pid) {
  while (pid > 1) {
    const std::string status = ReadFile(fs::path("/proc") / std::to_string(pid) / "status");
    const size_t at = status.find("PPid:");
    pid = at == std::string::npos ? 0 : atoi(status.c_str() + at + 5);
    if (pid == ::getpid()) return true;
  }
  return false;
}

// The fake runners of this process, warm parents among them.
void KillFakeRunners() {
  int killed = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const int pid = atoi(entry.path().filename().c_str());
    if (pid > 0 && ReadFile(entry.path() / "cmdline").starts_with(FAKE_RUNNER) && IsDescendant(pid)) {
      killed += ::kill(pid, SIGKILL) == 0;
    }
  }
  EXPECT_GT(killed, 0);
}

void ExpectWhole(const v1::Measurement& m) {
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

TEST_F(TrialTest, OneProcess) {
  AddRunner("default", {});
  const v1::Measurement m = Measure(Assign("slow"));
  ExpectWhole(m);
  EXPECT_TRUE(m.timing().one_process());
  EXPECT_FALSE(m.self_reported());
  EXPECT_NEAR(m.timing().log_speedup(), std::log(1.0 / 3), 0.3) << "300 us against 100 us";
  EXPECT_TRUE(std::isinf(m.critical_t()));
}

TEST_F(TrialTest, ForkedChildOfAWarmParent) {
  AddRunner("default", {"--fork"});
  for (int i = 0; i < 3; ++i) ExpectWhole(Measure(Assign("nearly")));
  EXPECT_EQ(Measure(Assign("run-abort")).signal(), SIGABRT);
  EXPECT_EQ(Measure(Assign("compile-exit")).exit_code(), 17);
  ExpectWhole(Measure(Assign("none")));
}

TEST_F(TrialTest, TimesByADevicesClockAreToldOfTheArmsThatHaveOne) {
  AddRunner("default", {"--device-clock"});
  AddRunner("clockless", {});
  const v1::Measurement m = Measure(Assign("slow"));
  ExpectWhole(m);
  ASSERT_EQ(m.timing().baseline_device_quantiles_ns_size(), 5);
  ASSERT_EQ(m.timing().candidate_device_quantiles_ns_size(), 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(m.timing().baseline_device_quantiles_ns(i), m.timing().baseline_quantiles_ns(i) / 2, 1);
    EXPECT_NEAR(m.timing().candidate_device_quantiles_ns(i), m.timing().candidate_quantiles_ns(i) / 2, 1);
  }
  EXPECT_NEAR(m.timing().log_speedup(), std::log(1.0 / 3), 0.3) << "of the host's times";
  const v1::Measurement mixed = Measure(Assign("none", "clockless"));
  ExpectWhole(mixed);
  EXPECT_FALSE(mixed.timing().one_process());
  EXPECT_EQ(mixed.timing().baseline_device_quantiles_ns_size(), 5);
  EXPECT_EQ(mixed.timing().candidate_device_quantiles_ns_size(), 0);
}

TEST_F(TrialTest, TwoProcesses) {
  AddRunner("default", {"--fork"});
  AddRunner("nightly", {});
  const v1::Measurement m = Measure(Assign("slow", "nightly"));
  ExpectWhole(m);
  EXPECT_FALSE(m.timing().one_process());
  EXPECT_NEAR(m.timing().log_speedup(), std::log(1.0 / 3), 0.4);
}

TEST_F(TrialTest, TwoProcessesWhereThePolicyWantsThem) {
  AddRunner("default", {"--fork"});
  v1::Assignment assignment = Assign("none");
  assignment.mutable_policy()->set_two_processes(true);
  assignment.mutable_policy()->set_budget_seconds(1);
  const v1::Measurement m = Measure(assignment);
  ExpectWhole(m);
  EXPECT_FALSE(m.timing().one_process());
  EXPECT_TRUE(m.policy().two_processes());
  // The luck of one pair of processes must be in the interval: there are several, and it is taken over them.
  EXPECT_GE(m.timing().processes(), 3);
  EXPECT_EQ(m.timing().batches(), m.timing().processes());
  const auto& told = m.conditions().fields().at("processes").list_value().values();
  ASSERT_EQ(told.size(), m.timing().processes()) << "of each pair, not of the first and the last";
  for (const auto& process : told) {
    const auto& fields = process.struct_value().fields();
    EXPECT_TRUE(fields.at("before").struct_value().fields().contains("load_average"));
    EXPECT_TRUE(fields.at("after").struct_value().fields().contains("load_average"));
    EXPECT_EQ(fields.at("cpu_waited_share").list_value().values_size(), 2);
  }
  // Where the budget does not pay for another start, one pair has to do, and its interval says so.
  assignment.mutable_policy()->set_budget_seconds(0.05);
  const v1::Measurement short_one = Measure(assignment);
  EXPECT_EQ(short_one.timing().processes(), 1);
  EXPECT_GE(short_one.timing().high() - short_one.timing().low(), 2 * measure::kProcessLuck);
  assignment = Assign("slow-clock");
  assignment.mutable_policy()->set_two_processes(true);
  EXPECT_EQ(Measure(assignment).detail(), v1::CHEATING);
}

TEST_F(TrialTest, ARunnerThatIsNotTrustedIsTimedByTheWorker) {
  AddRunner("default", {}, /*trusted=*/false);
  // Would be a contradiction if `pair` were used.
  const v1::Measurement m = Measure(Assign("pair-lies"));
  ExpectWhole(m);
  EXPECT_TRUE(m.self_reported());
}

TEST_F(TrialTest, SeveralProcesses) {
  AddRunner("default", {"--fork"});
  v1::Assignment assignment = Assign("none");
  assignment.mutable_policy()->set_processes(3);
  const v1::Measurement m = Measure(assignment);
  ExpectWhole(m);
  EXPECT_EQ(m.timing().processes(), 3);
  EXPECT_EQ(m.timing().batches(), 3);
}

std::vector<std::string> PhaseNames(const v1::Measurement& m) {
  std::vector<std::string> names;
  for (const v1::Phase& phase : m.phases()) names.push_back(phase.name());
  return names;
}

TEST_F(TrialTest, WhatARunnerLoweredIsKeptForItsNextTrialOfTheGraph) {
  AddRunner("default", {});
  AddRunner("lowering", {"--lower"});
  for (const char* kept : {"lowering with ''", "lowering with 'greetings'"}) {
    const v1::Measurement m = Measure(Assign("run-error", "lowering"));
    EXPECT_EQ(m.failed_phase(), "run.candidate") << m.message();
    EXPECT_THAT(m.evidence(), HasSubstr(kept));
    EXPECT_THAT(PhaseNames(m), testing::IsSupersetOf({"lower.candidate", "compile.candidate"}));
    for (const v1::Phase& phase : m.phases()) {
      if (phase.name() != "lower.candidate") continue;
      EXPECT_EQ(phase.duration_ns(), 1000) << "the runner's own time, apart from that of compile";
      EXPECT_FALSE(phase.harness());
    }
  }
  // Another runner environment starts from nothing.
  AddRunner("another", {"--lower"});
  runners_.back().offer.set_environment_hash("another");
  EXPECT_THAT(Measure(Assign("run-error", "another")).evidence(), HasSubstr("lowering with ''"));
}

TEST_F(TrialTest, APolicyThatOnlyCompilesRunsNothing) {
  AddRunner("default", {"--compile-only"});
  EXPECT_TRUE(runners_[0].offer.compiles_only());
  v1::Assignment assignment = Assign("none");
  assignment.clear_baseline();
  assignment.mutable_policy()->Clear();
  assignment.mutable_policy()->set_name("aot");
  const v1::Measurement m = Measure(assignment);
  EXPECT_EQ(m.outcome_class(), v1::COMPILED) << m.message();
  EXPECT_FALSE(m.has_baseline());
  EXPECT_FALSE(m.has_timing());
  EXPECT_EQ(m.comparisons_size(), 0);
  EXPECT_EQ(m.policy().name(), "aot");
  EXPECT_EQ(m.candidate().compile_ns(), 1000);
  EXPECT_EQ(m.candidate().executable_bytes(), 2048);
  EXPECT_EQ(m.candidate().memory().size(), 1u);
  EXPECT_EQ(m.candidate().memory().at("temp_bytes"), 1024);
  EXPECT_EQ(m.candidate().cost_estimate().at("flops"), 12.5);
  EXPECT_EQ(m.candidate().cost_estimate().at("calls"), 3);
  ASSERT_EQ(m.candidate().artifacts_size(), 1);
  EXPECT_FALSE(m.candidate().artifacts(0).content().empty());
  (*assignment.mutable_candidate()->mutable_options()->mutable_fields())["trick"].set_string_value("compile-error");
  const v1::Measurement failed = Measure(assignment);
  EXPECT_EQ(failed.outcome_class(), v1::COMPILE_FAIL);
  EXPECT_EQ(failed.failed_phase(), "compile.candidate");
}

TEST_F(TrialTest, AnyTargetCanBeOnlyCompiledAndWeightsTakeNoMemory) {
  AddRunner("default", {"--fork"});
  v1::Assignment assignment = Assign("run-abort");
  assignment.clear_baseline();
  assignment.mutable_policy()->set_name("aot");
  assignment.mutable_policy()->set_memory_limit_bytes(1);  // less than its inputs have
  EXPECT_EQ(Measure(assignment).outcome_class(), v1::COMPILED);
}

TEST_F(TrialTest, WhatCannotBeLoweredIsACompileFailure) {
  AddRunner("default", {});
  AddRunner("lowering", {"--lower-error"});
  const v1::Measurement m = Measure(Assign("none", "lowering"));
  EXPECT_EQ(m.outcome_class(), v1::COMPILE_FAIL);
  EXPECT_EQ(m.failed_phase(), "lower.candidate");
  EXPECT_THAT(m.message(), HasSubstr("the fake runner says compile_fail"));
  EXPECT_THAT(m.evidence(), HasSubstr("lowering with ''"));
  EXPECT_THAT(Measure(Assign("none", "lowering")).evidence(), HasSubstr("lowering with 'greetings'"))
      << "what was kept of a failure";
}

TEST_F(TrialTest, AFloat64ReferenceSaysWhichSideIsWrong) {
  AddRunner("default", {});
  v1::Assignment assignment = Assign("nearly");
  EXPECT_FALSE(Measure(assignment).has_reference());
  assignment.mutable_policy()->set_reference_float64(true);
  const v1::Measurement m = Measure(assignment);
  EXPECT_EQ(m.outcome_class(), v1::CORRECT) << m.message();
  EXPECT_TRUE(m.policy().reference_float64());
  ASSERT_EQ(m.reference().failure(), "");
  EXPECT_EQ(m.reference().runner(), "fake");
  EXPECT_EQ(m.reference().baseline().critical_t(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(m.reference().candidate().critical_t(), m.critical_t()) << "the baseline is exact";
  EXPECT_GT(m.reference().candidate().max_abs_diff(), 0);
  EXPECT_THAT(PhaseNames(m), testing::IsSupersetOf({"load.reference", "compile.reference", "run.reference", "timing"}));

  // Where the outputs differ it is what one wants to know, and the outcome stays.
  assignment = Assign("none", "default", "nan");
  assignment.mutable_policy()->set_reference_float64(true);
  const v1::Measurement wrong = Measure(assignment);
  EXPECT_EQ(wrong.outcome_class(), v1::NAN_MISMATCH);
  EXPECT_EQ(wrong.failed_phase(), "compare");
  EXPECT_EQ(wrong.reference().baseline().outcome_class(), v1::NAN_MISMATCH) << "here the baseline is wrong";
  EXPECT_EQ(wrong.reference().candidate().outcome_class(), v1::CORRECT);

  // Other outputs than a narrower run's: no reference, and the reason.
  assignment = Assign("wrong-dtype");
  assignment.mutable_policy()->set_reference_float64(true);
  const v1::Measurement other = Measure(assignment);
  EXPECT_EQ(other.outcome_class(), v1::TYPE_MISMATCH);
  EXPECT_THAT(other.reference().failure(), HasSubstr("another dtype or shape"));
  EXPECT_FALSE(other.reference().has_baseline());
}

TEST_F(TrialTest, ColdCachesAreAskedForBeforeEachTimedCall) {
  AddRunner("default", {});
  AddRunner("reporting", {}, /*trusted=*/false);
  v1::Assignment assignment = Assign("none");
  (*assignment.mutable_candidate()->mutable_options()->mutable_fields())["steps"].set_number_value(1);  // 1 µs a call
  EXPECT_GT(Measure(assignment).timing().calls_per_sample_candidate(), 1);
  EXPECT_EQ(Measure(assignment).policy().cache(), "warm");
  assignment.mutable_policy()->set_cache("cold");
  const v1::Measurement cold = Measure(assignment);
  EXPECT_EQ(cold.outcome_class(), v1::CORRECT) << cold.message();
  EXPECT_EQ(cold.policy().cache(), "cold");
  EXPECT_EQ(cold.timing().calls_per_sample_candidate(), 1) << "a second call would find the caches warm";
  EXPECT_EQ(cold.timing().calls_per_sample_baseline(), 1);
  for (const int64_t ns : cold.timing().candidate_samples_ns()) EXPECT_GE(ns, 300'000);
  for (const int64_t ns : cold.timing().baseline_samples_ns()) EXPECT_GE(ns, 400'000);
  // Whose calls the worker times has nobody to empty the caches.
  assignment.mutable_candidate()->set_environment("reporting");
  const v1::Measurement skipped = Measure(assignment);
  EXPECT_EQ(skipped.outcome_class(), v1::SKIPPED);
  EXPECT_EQ(skipped.detail(), v1::UNSUPPORTED);
  EXPECT_THAT(skipped.message(), HasSubstr("cold caches: the runner fake"));
}

TEST_F(TrialTest, ACompilerThatAnotherRunnerLowersFor) {
  AddRunner("default", {"--lowered"});
  EXPECT_EQ(LinkLowering(runners_), std::vector<std::string>{"elsewhere"}) << "nobody lowers for it";
  runners_.clear();
  AddRunner("default", {"--lowered"});
  AddRunner("default", {"--helper"});
  EXPECT_TRUE(LinkLowering(runners_).empty());
  const v1::Compiler& offered = runners_[0].offer.compilers(2);
  EXPECT_EQ(offered.name(), "elsewhere");
  EXPECT_EQ(offered.version(), "1.helper");
  EXPECT_TRUE(offered.options().fields().contains("properties"));

  v1::Assignment assignment = Assign("none");
  assignment.mutable_candidate()->set_compiler("elsewhere");
  assignment.mutable_candidate()->set_runner("fake");
  assignment.mutable_baseline()->set_runner("fake");
  const v1::Measurement m = Measure(assignment);
  EXPECT_EQ(m.outcome_class(), v1::CORRECT) << m.message();
  EXPECT_TRUE(m.timing().one_process()) << "the process that lowered is not an arm's";
  EXPECT_EQ(m.candidate().target().runner(), "fake");
  EXPECT_EQ(m.candidate().target().version(), "1.helper");
  EXPECT_EQ(m.candidate().compile_ns(), 7'001'000) << "both runners' parts";
  EXPECT_EQ(m.candidate().peak_memory_bytes(), 8192);
  EXPECT_EQ(m.baseline().compile_ns(), 1000);
  EXPECT_THAT(PhaseNames(m), testing::IsSupersetOf({"lower.candidate", "compile.candidate"}));
  EXPECT_THAT(m.environment().DebugString(), HasSubstr("helper")) << "it decides what is timed, too";

  // What goes wrong there is the candidate's, with that process's output.
  struct {
    const char* trick;
    v1::FailureDetail detail;
  } const cases[] = {{"compile-error", v1::ERROR}, {"compile-abort", v1::SIGNAL}, {"no-output", v1::PROTOCOL}};
  for (const auto& [trick, detail] : cases) {
    (*assignment.mutable_candidate()->mutable_options()->mutable_fields())["trick"].set_string_value(trick);
    const v1::Measurement failed = Measure(assignment);
    EXPECT_EQ(failed.outcome_class(), v1::COMPILE_FAIL) << trick;
    EXPECT_EQ(failed.detail(), detail) << trick;
    EXPECT_EQ(failed.failed_phase(), "lower.candidate") << trick;
    EXPECT_THAT(failed.evidence(), HasSubstr(std::string("lowering for elsewhere with trick ") + trick));
  }

  // As a baseline, a failure is the baseline's.
  assignment = Assign("none", "default", "compile-error");
  assignment.mutable_candidate()->set_runner("fake");
  assignment.mutable_baseline()->set_compiler("elsewhere");
  assignment.mutable_baseline()->set_runner("fake");
  EXPECT_EQ(Measure(assignment).outcome_class(), v1::EAGER_FAIL);
}

struct Case {
  const char* trick;
  v1::OutcomeClass outcome_class;
  v1::FailureDetail detail;
};

class FailureTest : public TrialTest, public testing::WithParamInterface<Case> {};

TEST_P(FailureTest, EndsInItsClass) {
  AddRunner("default", {"--fork"});
  const Case& c = GetParam();
  v1::Assignment assignment = Assign(c.trick);
  if (std::string_view(c.trick).ends_with("hang")) {
    assignment.mutable_policy()->set_compile_timeout_seconds(0.3);
    assignment.mutable_policy()->set_run_timeout_seconds(0.3);
  }
  const v1::Measurement m = Measure(assignment);
  EXPECT_EQ(m.outcome_class(), c.outcome_class) << m.message();
  EXPECT_EQ(m.detail(), c.detail) << m.message();
  if (c.outcome_class != v1::CORRECT) {
    EXPECT_NE(m.message(), "");
    EXPECT_EQ(m.message().find('\n'), std::string::npos);
    EXPECT_THAT(m.evidence(), HasSubstr(std::string("compiling with trick ") + c.trick));
    EXPECT_NE(m.failed_phase(), "");
  }
  // The next trial is not harmed.
  EXPECT_EQ(Measure(Assign("none")).outcome_class(), v1::CORRECT);
}

INSTANTIATE_TEST_SUITE_P(
    EveryEnd, FailureTest,
    testing::Values(
        Case{"compile-error", v1::COMPILE_FAIL, v1::ERROR},
        Case{"compile-unsupported", v1::COMPILE_FAIL, v1::UNSUPPORTED},
        Case{"compile-abort", v1::COMPILE_FAIL, v1::SIGNAL}, Case{"compile-exit", v1::COMPILE_FAIL, v1::EXIT},
        Case{"compile-hang", v1::COMPILE_FAIL, v1::TIMEOUT}, Case{"run-abort", v1::RUNTIME_FAIL, v1::SIGNAL},
        Case{"run-exit", v1::RUNTIME_FAIL, v1::EXIT}, Case{"run-hang", v1::RUNTIME_FAIL, v1::TIMEOUT},
        Case{"run-error", v1::RUNTIME_FAIL, v1::ERROR}, Case{"run-memory", v1::RUNTIME_FAIL, v1::OUT_OF_MEMORY},
        Case{"garbage", v1::RUNTIME_FAIL, v1::PROTOCOL}, Case{"endless-line", v1::RUNTIME_FAIL, v1::PROTOCOL},
        Case{"wrong-id", v1::RUNTIME_FAIL, v1::PROTOCOL}, Case{"truncate", v1::RUNTIME_FAIL, v1::PROTOCOL},
        Case{"no-output", v1::RUNTIME_FAIL, v1::PROTOCOL}, Case{"no-tensors", v1::RUNTIME_FAIL, v1::PROTOCOL},
        Case{"huge-output", v1::RUNTIME_FAIL, v1::PROTOCOL},
        Case{"wrong-dtype", v1::TYPE_MISMATCH, v1::FAILURE_DETAIL_UNSPECIFIED},
        Case{"wrong-shape", v1::SHAPE_MISMATCH, v1::FAILURE_DETAIL_UNSPECIFIED},
        Case{"fewer-outputs", v1::SHAPE_MISMATCH, v1::FAILURE_DETAIL_UNSPECIFIED},
        Case{"nan", v1::NAN_MISMATCH, v1::FAILURE_DETAIL_UNSPECIFIED},
        Case{"inf", v1::INF_MISMATCH, v1::FAILURE_DETAIL_UNSPECIFIED},
        Case{"wrong-value", v1::ACCURACY, v1::FAILURE_DETAIL_UNSPECIFIED},
        Case{"stored-outputs", v1::ACCURACY, v1::CHEATING}, Case{"timed-stale", v1::ACCURACY, v1::CHEATING},
        Case{"first-outputs", v1::ACCURACY, v1::CHEATING}, Case{"timed-skip", v1::ACCURACY, v1::CHEATING},
        Case{"run-lies", v1::RUNTIME_FAIL, v1::CHEATING}, Case{"pair-lies", v1::RUNTIME_FAIL, v1::CHEATING},
        Case{"device-few", v1::RUNTIME_FAIL, v1::PROTOCOL}, Case{"device-zero", v1::RUNTIME_FAIL, v1::PROTOCOL},
        Case{"device-lies", v1::RUNTIME_FAIL, v1::CHEATING}, Case{"moves-time", v1::RUNTIME_FAIL, v1::CHEATING},
        Case{"slow-clock", v1::RUNTIME_FAIL, v1::CHEATING}, Case{"pair-abort", v1::RUNTIME_FAIL, v1::SIGNAL},
        Case{"pair-short", v1::RUNTIME_FAIL, v1::PROTOCOL}, Case{"close-channel", v1::RUNTIME_FAIL, v1::PROTOCOL},
        Case{"leave-process", v1::CORRECT, v1::FAILURE_DETAIL_UNSPECIFIED}),
    [](const auto& info) {
      std::string name = info.param.trick;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST_F(TrialTest, AWrongAnswerHasItsArtifacts) {
  AddRunner("default", {"--fork"});
  const v1::Measurement m = Measure(Assign("wrong-value"));
  EXPECT_EQ(m.outcome_class(), v1::ACCURACY);
  EXPECT_EQ(m.failed_phase(), "compare");
  for (const v1::Arm* arm : {&m.candidate(), &m.baseline()}) {
    ASSERT_EQ(arm->artifacts_size(), 1);
    EXPECT_FALSE(arm->artifacts(0).content().empty());
  }
  // That they cannot be had changes no outcome that is known already.
  const v1::Measurement without = Measure(Assign("wrong-value", "default", "artifact-abort"));
  EXPECT_EQ(without.outcome_class(), v1::ACCURACY);
  EXPECT_EQ(without.failed_phase(), "compare");
  EXPECT_EQ(without.signal(), 0);
  const v1::Measurement right = Measure(Assign("artifact-abort"));
  EXPECT_EQ(right.outcome_class(), v1::RUNTIME_FAIL);
  EXPECT_EQ(right.failed_phase(), "artifacts");
  EXPECT_EQ(right.signal(), SIGABRT);
}

TEST_F(TrialTest, TheBaselinesFailureIsItsOwn) {
  AddRunner("default", {"--fork"});
  EXPECT_EQ(Measure(Assign("none", "default", "compile-error")).outcome_class(), v1::EAGER_FAIL);
  EXPECT_EQ(Measure(Assign("none", "default", "run-abort")).outcome_class(), v1::EAGER_FAIL);
  // A process with both arms died while it was timed: the baseline alone is well.
  EXPECT_EQ(Measure(Assign("pair-abort-both")).outcome_class(), v1::RUNTIME_FAIL);
}

TEST_F(TrialTest, InputsOfAnotherProcessAreOutOfReach) {
  AddRunner("default", {"--fork"});
  AddRunner("nightly", {"--fork"});
  // The baseline writes to its inputs after its first calls; the candidate's are its own.
  EXPECT_EQ(Measure(Assign("none", "nightly", "write-inputs")).outcome_class(), v1::CORRECT);
}

TEST_F(TrialTest, FailuresInTwoProcesses) {
  AddRunner("default", {"--fork"});
  AddRunner("nightly", {});
  v1::Measurement m = Measure(Assign("run-abort", "nightly"));
  EXPECT_EQ(m.outcome_class(), v1::RUNTIME_FAIL);
  EXPECT_EQ(m.signal(), SIGABRT) << "the sandbox passes the signal on";
  EXPECT_THAT(m.evidence(), HasSubstr("trick run-abort"));
  EXPECT_THAT(m.evidence(), testing::Not(HasSubstr("trick none"))) << "only of the arm that failed";
  m = Measure(Assign("pair-abort", "nightly"));
  EXPECT_EQ(m.outcome_class(), v1::RUNTIME_FAIL);
  EXPECT_EQ(m.failed_phase(), "warm-up");
  m = Measure(Assign("none", "nightly", "pair-abort"));
  EXPECT_EQ(m.outcome_class(), v1::EAGER_FAIL);
  m = Measure(Assign("timed-stale", "nightly"));
  EXPECT_EQ(m.detail(), v1::CHEATING);
  m = Measure(Assign("pair-lies", "nightly"));
  EXPECT_EQ(m.detail(), v1::CHEATING);
}

TEST_F(TrialTest, ARunnerKeepsTheDevicesLock) {
  AddRunner("default", {"--fork"});
  absl::StatusOr<TrialProcess> started = pool_->Start(runners_[0], int64_t{1} << 30, {});
  ASSERT_TRUE(started.ok()) << started.status();
  absl::StatusOr<graph::Graph> graph = graph::Parse(sample_);
  ASSERT_TRUE(graph.ok());
  absl::StatusOr<InputSets> inputs = ReplayInputs(*graph, hash_, "seed", graph::ReplayMode::kAssay, 1);
  ASSERT_TRUE(inputs.ok());
  absl::StatusOr<runner::UniqueFd> lock = LockDevice(config_.lock_dir, "uuid", {});
  ASSERT_TRUE(lock.ok()) << lock.status();
  ASSERT_TRUE(
      started->process
          ->Call("load", {{"graph", {{"hash", hash_}, {"model", sample_.model}}}, {"device", "cpu"}, {"threads", 1}},
                 {{"tensors", inputs->public_set.fd()}, {"lock", lock->get()}}, Clock::now() + std::chrono::seconds(20))
          .ok());
  lock->reset();  // as if the worker had died
  const runner::UniqueFd other(::open((config_.lock_dir / "device-uuid.lock").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), -1);
  started->process->Kill();
  EXPECT_EQ(::flock(other.get(), LOCK_EX), 0);
}

TEST_F(TrialTest, RecompilesAreFlagged) {
  AddRunner("default", {});
  EXPECT_GT(Measure(Assign("recompiles")).timing().recompiles(), 0);
}

TEST_F(TrialTest, TooLargeAGraphIsSkipped) {
  AddRunner("default", {});
  v1::Assignment assignment = Assign("none");
  assignment.mutable_policy()->set_memory_limit_bytes(100);
  const v1::Measurement m = Measure(assignment);
  EXPECT_EQ(m.outcome_class(), v1::SKIPPED);
  EXPECT_EQ(m.detail(), v1::OUT_OF_MEMORY);
  EXPECT_THAT(m.message(), HasSubstr("may use 100"));
}

TEST_F(TrialTest, ABaselineThatNeedsMoreMemoryThanThereIsSkipsTheGraph) {
  AddRunner("default", {"--fork"});
  AddRunner("nightly", {});
  AddRunner("reporting", {}, /*trusted=*/false);
  v1::Assignment assignment = Assign("none", "default", "run-memory");
  assignment.mutable_policy()->set_memory_limit_bytes(1 << 30);
  const v1::Measurement m = Measure(assignment);
  EXPECT_EQ(m.outcome_class(), v1::SKIPPED);
  EXPECT_EQ(m.detail(), v1::OUT_OF_MEMORY);
  EXPECT_EQ(m.failed_phase(), "run.baseline");
  EXPECT_THAT(m.message(), HasSubstr("the baseline alone runs out of memory: a runner here may use 1073741824 bytes"));
  EXPECT_THAT(m.message(), HasSubstr("compiling took 4096 at most"));
  EXPECT_THAT(m.message(), HasSubstr("the fake runner says out_of_memory"));
  EXPECT_THAT(m.evidence(), HasSubstr("trick run-memory"));
  // Once the candidate is there, too, it may be what takes the memory.
  EXPECT_EQ(Measure(Assign("none", "nightly", "pair-memory")).outcome_class(), v1::EAGER_FAIL);
  EXPECT_EQ(Measure(Assign("pair-memory")).outcome_class(), v1::RUNTIME_FAIL);
  // A runner of anyone's could have the graphs skipped that its candidate is bad at.
  assignment = Assign("none", "reporting", "run-memory");
  assignment.mutable_baseline()->set_environment("reporting");
  const v1::Measurement reported = Measure(assignment);
  EXPECT_EQ(reported.outcome_class(), v1::EAGER_FAIL);
  EXPECT_EQ(reported.detail(), v1::OUT_OF_MEMORY);
}

TEST_F(TrialTest, AssaysOwnFailuresAreInfrastructure) {
  AddRunner("default", {});
  v1::Assignment assignment = Assign("none");
  assignment.mutable_candidate()->set_compiler("unknown");
  EXPECT_EQ(Measure(assignment).outcome_class(), v1::INFRASTRUCTURE);
  assignment = Assign("none");
  assignment.set_graph_hash(std::string(64, '0'));
  EXPECT_EQ(Measure(assignment).outcome_class(), v1::INFRASTRUCTURE);
  assignment = Assign("none");
  assignment.mutable_candidate()->set_environment_hash("other");
  EXPECT_THAT(Measure(assignment).message(), HasSubstr("the target wants other"));
}

TEST_F(TrialTest, AnEnvironmentIsKnownByItsContent) {
  AddRunner("default", {});
  v1::Assignment assignment = Assign("none", "renamed");
  EXPECT_EQ(Measure(assignment).outcome_class(), v1::INFRASTRUCTURE);
  assignment.mutable_candidate()->set_environment_hash(runners_[0].offer.environment_hash());
  ExpectWhole(Measure(assignment));
}

TEST_F(TrialTest, AWarmParentThatDiedIsStartedAgain) {
  AddRunner("default", {"--fork"});
  ExpectWhole(Measure(Assign("none")));
  KillFakeRunners();
  ExpectWhole(Measure(Assign("none")));
}

TEST_F(TrialTest, AWarmParentThatDiesDuringATrialIsNotTheCompilersFault) {
  AddRunner("default", {"--fork"});
  for (const char* killed_in : {"load", "compile.candidate", "run.candidate", "timing"}) {
    const Environment environment = CaptureEnvironment(config_, false);
    TrialContext context{*pool_, runners_, config_, environment, lowered_, runners_[0].devices[0]};
    absl::StatusOr<v1::Measurement> m = RunTrial(
        context, Assign("none"), [&](std::string_view) { return sample_; }, std::stop_token(),
        [&](std::string_view phase) {
          if (phase == killed_in) KillFakeRunners();
        });
    ASSERT_TRUE(m.ok()) << m.status();
    EXPECT_EQ(m->outcome_class(), v1::INFRASTRUCTURE) << killed_in << ": " << m->message();
    EXPECT_THAT(m->message(), HasSubstr("warm parent"));
    EXPECT_EQ(m->failed_phase(), killed_in);
  }
  ExpectWhole(Measure(Assign("none")));
}

TEST_F(TrialTest, StopsWhenToldTo) {
  AddRunner("default", {"--fork"});
  std::stop_source source;
  v1::Assignment assignment = Assign("run-hang");
  absl::StatusOr<v1::Measurement> result;
  std::jthread stopper;
  const Environment environment = CaptureEnvironment(config_, false);
  TrialContext context{*pool_, runners_, config_, environment, lowered_, runners_[0].devices[0]};
  result = RunTrial(
      context, assignment, [&](std::string_view) { return sample_; }, source.get_token(),
      [&](std::string_view phase) {
        if (phase == "run.candidate") stopper = std::jthread([&] { source.request_stop(); });
      });
  EXPECT_TRUE(absl::IsCancelled(result.status())) << result.status();
  ExpectWhole(Measure(Assign("none")));
}

TEST(LockNameTest, TheProcessorsOfAHostAreOneDevice) {
  v1::Device device;
  device.set_kind("cpu");
  device.set_id("cpu");
  EXPECT_EQ(LockName(device, false), "cpu");
  device.set_uuid("a1b2");  // the machine's, as a runner without a sandbox tells it
  EXPECT_EQ(LockName(device, false), "cpu");
  device.set_kind("tpu:v5e");
  device.set_id("tpu:v5e");
  EXPECT_EQ(LockName(device, true), "cpu") << "a device that is not there is compiled for on the host";
  device.set_kind("cuda");
  device.set_id("cuda:0");
  device.set_uuid("GPU-1234");
  EXPECT_EQ(LockName(device, false), "GPU-1234");
  device.clear_uuid();
  EXPECT_EQ(LockName(device, false), "cuda:0");
}

TEST_F(TrialTest, WaitsForTheDevice) {
  AddRunner("default", {"--fork"});
  fs::create_directories(config_.lock_dir);
  const runner::UniqueFd lock(
      ::open((config_.lock_dir / "device-cpu.lock").c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0644));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  std::stop_source source;
  const Environment environment = CaptureEnvironment(config_, false);
  TrialContext context{*pool_, runners_, config_, environment, lowered_, runners_[0].devices[0]};
  std::jthread stopper;
  absl::StatusOr<v1::Measurement> result = RunTrial(
      context, Assign("none"), [&](std::string_view) { return sample_; }, source.get_token(),
      [&](std::string_view phase) {
        last_phase_ = phase;
        if (phase == "lock") stopper = std::jthread([&] { source.request_stop(); });
      });
  EXPECT_TRUE(absl::IsCancelled(result.status()));
  EXPECT_EQ(last_phase_, "lock");
  ::flock(lock.get(), LOCK_UN);
  ExpectWhole(Measure(Assign("none")));
}

TEST_F(TrialTest, SaysWhyARunnerDoesNotStart) {
  RunnerConfig runner;
  runner.name = "broken";
  runner.command = {fs::path(FAKE_RUNNER).lexically_normal().string(), "--exit-at-start"};
  std::string message(pool_->Describe(runner, {}).status().message());
  EXPECT_THAT(message, HasSubstr("exited with code 3"));
  EXPECT_THAT(message, HasSubstr("no such device"));
  runner.command[1] = "--open-options";
  EXPECT_THAT(std::string(pool_->Describe(runner, {}).status().message()), HasSubstr("additionalProperties"));
  runner.command[1] = "--hang-at-start";
  runner.start_timeout_seconds = 0.2;
  EXPECT_THAT(std::string(pool_->Describe(runner, {}).status().message()), HasSubstr("time limit"));
  runner.command = {"/does/not/exist"};
  EXPECT_THAT(std::string(pool_->Describe(runner, {}).status().message()), HasSubstr("/does/not/exist"));
}

}  // namespace
}  // namespace assay::worker
