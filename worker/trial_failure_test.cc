// Trials that fail, each in its class, through the real code with the fake runner.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "gmock/gmock.h"
#include "worker/device_lock.h"
#include "worker/input_set.h"
#include "worker/trial_fixture.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

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
