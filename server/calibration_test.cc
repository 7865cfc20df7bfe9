#include "server/calibration.h"

#include <optional>
#include <pqxx/pqxx>

#include "gmock/gmock.h"
#include "server/coordinator.h"
#include "server/evaluation_store.h"
#include "server/postgres_fixture.h"
#include "server/scoring.h"
#include "server/submission.h"
#include "server/text.h"
#include "server/worker_store.h"

namespace assay::server {
namespace {

using testing::HasSubstr;

TEST(SummariseCalibration, CountsErrorsCoverageAndVerdicts) {
  std::vector<CalibrationTrial> trials;
  for (int i = 1; i <= 20; ++i) trials.push_back({i % 2 ? 0.001 * i : -0.001 * i, -0.03, 0.03});
  trials.push_back({0.05, 0.04, 0.06});  // says "faster"
  trials.push_back({0.002});             // without an interval
  const v1::Calibration c = SummariseCalibration(trials);
  EXPECT_EQ(c.trials(), 22);
  EXPECT_NEAR(c.median_error(), 0.0105, 0.001);
  EXPECT_NEAR(c.p95_error(), 0.02, 0.001);
  EXPECT_DOUBLE_EQ(c.max_error(), 0.05);
  EXPECT_EQ(c.intervals(), 21);
  EXPECT_EQ(c.covering(), 20);
  EXPECT_EQ(c.wrong_verdicts(), 1);
}

class CalibrationTest : public PostgresTest {
 protected:
  void SetUp() override {
    PostgresTest::SetUp();
    coordinator_.emplace(database(), queue_, metrics_);
    Execute("INSERT INTO tokens (name, role, secret_hash) VALUES ('ann', 'admin', 'a')");
    Execute(
        "INSERT INTO graphs (hash, canonical, structure, operations, parameter_bytes) "
        "SELECT lpad(to_hex(i), 64, '0'), '', 's' || i, 1, 0 FROM generate_series(1, 12) i");
    Execute(
        "INSERT INTO suites (name, version, contents_hash, graph_count, structure_count) VALUES ('s', 1, '', 12, 12)");
    Execute(
        "INSERT INTO suite_graphs SELECT 1, i - 1, 'g' || i, lpad(to_hex(i), 64, '0') FROM generate_series(1, 12) i");
    Sync("w1", false);
  }

  v1::SynchroniseResponse Sync(const std::string& worker, bool free, double limit = 0) {
    auto request = std::make_unique<v1::SynchroniseRequest>();
    request->set_worker_id(worker);
    request->set_incarnation("i");
    request->set_maximum_calibration_error(limit);
    v1::Device* device = request->add_devices();
    device->set_id("cpu");
    device->set_kind("cpu");
    device->set_model("model");
    if (free) request->add_free_devices("cpu");
    v1::Runner* runner = request->add_runners();
    runner->set_name("torch");
    runner->add_device_kinds("cpu");
    for (const char* name : {"eager", "torchscript"}) {
      v1::Compiler* compiler = runner->add_compilers();
      compiler->set_name(name);
      compiler->set_baseline("eager");
    }
    auto call = std::make_shared<Call>();
    call->request = std::move(request);
    call->response = std::make_unique<v1::SynchroniseResponse>();
    call->token.set_id("1");
    absl::Status status = absl::UnknownError("not answered");
    call->done = [&](absl::Status result) { status = result; };
    coordinator_->Synchronise(call);
    coordinator_->Serve();
    EXPECT_TRUE(status.ok()) << status;
    return static_cast<v1::SynchroniseResponse&>(*call->response);
  }

  std::string Submitted(const std::string& candidate, bool fresh = true, bool two_processes = false,
                        const std::string& cache = "") {
    v1::CreateEvaluationRequest request;
    request.set_suite("s");
    request.mutable_candidate()->set_compiler(candidate);
    request.mutable_baseline()->set_compiler("eager");
    request.mutable_policy()->set_two_processes(two_processes);
    request.mutable_policy()->set_cache(cache);
    request.set_fresh(fresh);
    absl::StatusOr<int64_t> id;
    const absl::Status status = database().Run([&](Transaction& transaction) {
      id = Submit(transaction, queue_, {}, 1, request);
      return id.status();
    });
    EXPECT_TRUE(status.ok()) << status;
    return std::to_string(id.value_or(0));
  }

  // Runs all that waits on `worker`; trial i of an evaluation is off by i times `step`. Returns their number.
  int Work(const std::string& worker, double step, double call_ns = 1e6, double limit = 0) {
    for (int done = 0;; ++done) {
      const v1::SynchroniseResponse response = Sync(worker, true, limit);
      if (response.assignments().empty()) return done;
      const v1::Assignment& assignment = response.assignments(0);
      auto request = std::make_unique<v1::ReportRequest>();
      request->set_worker_id(worker);
      v1::Measurement* m = request->add_measurements();
      m->set_trial_id(assignment.trial_id());
      m->set_fence(assignment.fence());
      m->set_outcome_class(v1::CORRECT);
      m->set_environment_hash("environment");
      m->add_comparisons()->set_dtype("float32");
      m->set_critical_t(-5);
      v1::Timing* timing = m->mutable_timing();
      timing->set_pairs(30);
      timing->set_batches(10);
      timing->set_log_speedup(step * (done + 1));
      timing->set_has_interval(true);
      timing->set_low(step * (done + 1) - 0.005);
      timing->set_high(step * (done + 1) + 0.005);
      for (int i = 0; i < 5; ++i) {
        timing->add_candidate_quantiles_ns(call_ns);
        timing->add_baseline_quantiles_ns(call_ns);
      }
      auto call = std::make_shared<Call>();
      call->request = std::move(request);
      call->response = std::make_unique<v1::ReportResponse>();
      call->done = [](absl::Status status) { EXPECT_TRUE(status.ok()) << status; };
      coordinator_->Report(call);
      coordinator_->Serve();
      EXPECT_TRUE(static_cast<v1::ReportResponse&>(*call->response).results(0).accepted());
      coordinator_->Sweep();
    }
  }

  absl::StatusOr<std::vector<v1::Calibration>> Record(const std::vector<std::string>& ids) {
    absl::StatusOr<std::vector<v1::Calibration>> out;
    const absl::Status status = database().Run([&](Transaction& transaction) {
      out = RecordCalibration(transaction, ids);
      return out.status();
    });
    return status.ok() ? out : status;
  }
  std::string Refusal(const std::vector<std::string>& ids) { return std::string(Record(ids).status().message()); }

  v1::GetLeaderboardResponse Board() {
    v1::GetLeaderboardResponse board;
    EXPECT_TRUE(database()
                    .Run([&](Transaction& transaction) {
                      board.Clear();
                      const absl::Status status = GetLeaderboard(transaction, {}, &board);
                      if (status.ok()) AddCalibration(transaction, &board);
                      return status;
                    })
                    .ok());
    return board;
  }

  v1::LeaderboardEntry OnlyEntry(const std::string& candidate) {
    const v1::GetLeaderboardResponse board = Board();
    for (const auto& section : board.sections()) {
      for (const auto& entry : section.entries()) {
        if (entry.evaluation().candidate().compiler() == candidate) return entry;
      }
    }
    ADD_FAILURE() << "no entry of " << candidate;
    return {};
  }

  Queue queue_{{}};
  Metrics metrics_;
  std::optional<Coordinator> coordinator_;  // made when there is a database
};

TEST_F(CalibrationTest, IsComputedFromOutcomesAndShownBesideScores) {
  const std::string scored = Submitted("torchscript");
  EXPECT_EQ(Work("w1", 0.1), 12);
  EXPECT_EQ(OnlyEntry("torchscript").calibration_p95(), 0) << "not calibrated yet";

  const std::string id = Submitted("eager");
  EXPECT_EQ(Work("w1", 0.001), 12);
  const auto recorded = Record({id});
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  ASSERT_EQ(recorded->size(), 1u);
  const v1::Calibration& c = recorded->front();
  EXPECT_EQ(c.worker_id(), "w1");
  EXPECT_EQ(c.device(), "cpu");
  EXPECT_EQ(c.device_model(), "model");
  EXPECT_EQ(c.target().compiler(), "eager");
  EXPECT_EQ(c.environment_hash(), "environment");
  EXPECT_TRUE(c.one_process());
  EXPECT_EQ(c.trials(), 12);
  EXPECT_NEAR(c.median_error(), 0.0065, 1e-9);
  EXPECT_NEAR(c.max_error(), 0.012, 1e-9);
  EXPECT_EQ(c.covering(), 5);
  EXPECT_GT(c.created().seconds(), 0);

  EXPECT_NEAR(OnlyEntry("torchscript").calibration_p95(), c.p95_error(), 1e-12);
  EXPECT_FALSE(OnlyEntry("torchscript").noisy_device());
  coordinator_->Sweep();
  EXPECT_THAT(metrics_.Text(), HasSubstr("assay_calibration_error_ratio{device=\"cpu\",processes=\"1\","));

  // A newer one of the same kind takes its place, one with two processes does not.
  const std::string two = Submitted("eager", true, true);
  Work("w1", 0.001);
  ASSERT_TRUE(Record({two}).ok());
  EXPECT_FALSE(OnlyEntry("torchscript").noisy_device());
  const std::string newer = Submitted("eager");
  Work("w1", 0.01);
  ASSERT_TRUE(Record({newer}).ok());
  EXPECT_TRUE(OnlyEntry("torchscript").noisy_device());
  ASSERT_TRUE(Record({id}).ok());
  EXPECT_TRUE(OnlyEntry("torchscript").noisy_device()) << "recorded later, but measured before";
}

TEST_F(CalibrationTest, ColdCachesHaveASectionOfTheirOwnAndNoCalibration) {
  const std::string warm = Submitted("torchscript", false), calibration = Submitted("eager");
  Work("w1", 0.001);
  ASSERT_TRUE(Record({calibration}).ok());
  const std::string cold = Submitted("torchscript", false, false, "cold"),
                    cold_eager = Submitted("eager", true, false, "cold");
  EXPECT_EQ(Work("w1", 0.001), 24) << "nothing that was measured with warm caches is taken for these";
  EXPECT_THAT(Refusal({cold_eager}), HasSubstr("cold caches"));
  const v1::GetLeaderboardResponse board = Board();
  std::map<std::string, std::pair<std::string, double>> found;  // by evaluation: cohort and calibration
  for (const auto& section : board.sections()) {
    for (const auto& entry : section.entries()) {
      found[entry.evaluation().id()] = {section.cohort(), entry.calibration_p95()};
    }
  }
  EXPECT_THAT(found[cold].first, HasSubstr(", cold caches"));
  EXPECT_EQ(found[cold].second, 0);
  EXPECT_EQ(found[warm].first + ", cold caches", found[cold].first);
  EXPECT_GT(found[warm].second, 0);
}

TEST_F(CalibrationTest, TakesOnlyWhatIsOne) {
  const std::string other = Submitted("torchscript");
  Work("w1", 0);
  EXPECT_THAT(Refusal({other}), HasSubstr("compares different targets"));
  const std::string reused = Submitted("eager", false);
  Work("w1", 0);
  EXPECT_THAT(Refusal({reused}), HasSubstr("fresh"));
  const std::string long_calls = Submitted("eager");
  Work("w1", 0, 1e9);
  EXPECT_THAT(Refusal({long_calls}), HasSubstr("at most 0 were timed"));
  const std::string one = Submitted("eager"), two = Submitted("eager", true, true);
  EXPECT_THAT(Refusal({one}), HasSubstr("not completed"));
  Work("w1", 0);
  EXPECT_THAT(Refusal({one, two}), HasSubstr("another target or policy"));
  EXPECT_THAT(Refusal({"99"}), HasSubstr("there is no evaluation 99"));
  EXPECT_THAT(Refusal({}), HasSubstr("empty"));
  EXPECT_EQ(Get("SELECT count(*) FROM calibrations"), "0");
}

TEST_F(CalibrationTest, ADeviceAboveItsWorkersLimitOnlyGetsCalibrationTrials) {
  const std::string id = Submitted("eager");
  Work("w1", 0.01);
  ASSERT_TRUE(Record({id}).ok());
  const std::string wanted = Submitted("torchscript");
  EXPECT_EQ(Work("w1", 0, 1e6, 0.02), 0);
  std::string waiting;
  ASSERT_TRUE(database()
                  .Run([&](Transaction& transaction) {
                    const auto evaluation = LoadEvaluation(transaction, queue_, *ParseInt(wanted));
                    if (evaluation.ok()) waiting = evaluation->waiting_for();
                    return evaluation.status();
                  })
                  .ok());
  EXPECT_THAT(waiting, HasSubstr("above its maximum_calibration_error"));
  const std::string again = Submitted("eager");
  EXPECT_EQ(Work("w1", 0.0001, 1e6, 0.02), 12) << "a calibration may be measured, or it could never come back";
  ASSERT_TRUE(Record({again}).ok());
  EXPECT_EQ(Work("w1", 0, 1e6, 0.02), 12);
}

}  // namespace
}  // namespace assay::server
