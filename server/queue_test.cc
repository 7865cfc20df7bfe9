#include "server/queue.h"

#include <map>
#include <mutex>
#include <pqxx/pqxx>
#include <set>
#include <thread>

#include "gmock/gmock.h"
#include "server/coordinator.h"
#include "server/evaluation_store.h"
#include "server/postgres_fixture.h"
#include "server/scoring.h"
#include "server/submission.h"
#include "server/text.h"

namespace assay::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A coordinator without threads whose clock is ahead by some seconds.
struct Site {
  Site(Database& database, double seconds)
      : queue({.lease_seconds = 60, .clock_offset_seconds = seconds}), coordinator(database, queue, metrics) {}
  Queue queue;
  Metrics metrics;
  Coordinator coordinator;
};

class QueueTest : public PostgresTest {
 protected:
  void SetUp() override {
    PostgresTest::SetUp();
    Execute("INSERT INTO tokens (name, role, secret_hash) VALUES ('ann', 'submitter', 'a'), ('bob', 'submitter', 'b')");
    Execute(
        "INSERT INTO graphs (hash, canonical, structure, operations, parameter_bytes) "
        "SELECT lpad(to_hex(i), 64, '0'), '', 's' || i, 1, 0 FROM generate_series(1, 20) i");
    Execute(
        "INSERT INTO suites (name, version, contents_hash, graph_count, structure_count) VALUES ('s', 1, '', 20, 20)");
    Execute(
        "INSERT INTO suite_graphs SELECT 1, i - 1, 'g' || i, lpad(to_hex(i), 64, '0') FROM generate_series(1, 20) i");
    Sync("w1");
  }

  static v1::SynchroniseRequest Request(const std::string& worker, const std::string& incarnation = "i1",
                                        int free = 0) {
    v1::SynchroniseRequest request;
    request.set_worker_id(worker);
    request.set_incarnation(incarnation);
    for (int i = 0; i < std::max(free, 1); ++i) {
      v1::Device* device = request.add_devices();
      device->set_id(Cat("cpu", i));
      device->set_kind("cpu");
      device->set_model("model");
      device->set_machine_hash("machine");
      if (i < free) request.add_free_devices(device->id());
    }
    v1::Runner* runner = request.add_runners();
    runner->set_name("torch");
    runner->set_build("b");
    runner->set_environment_hash("e");
    runner->add_device_kinds("cpu");
    for (const char* name : {"eager", "torchscript"}) {
      v1::Compiler* compiler = runner->add_compilers();
      compiler->set_name(name);
      compiler->set_version("1");
      compiler->set_baseline("eager");
    }
    return request;
  }

  // One Synchronise that does not wait, at `seconds` from now.
  v1::SynchroniseResponse Sync(const v1::SynchroniseRequest& request, double seconds = 0) {
    Site site(database(), seconds);
    auto call = std::make_shared<Call>();
    call->request = std::make_unique<v1::SynchroniseRequest>(request);
    call->response = std::make_unique<v1::SynchroniseResponse>();
    call->token.set_id("1");
    absl::Status status = absl::UnknownError("not answered");
    call->done = [&](absl::Status result) { status = result; };
    site.coordinator.Synchronise(call);
    site.coordinator.Serve();
    EXPECT_TRUE(status.ok()) << status;
    return static_cast<v1::SynchroniseResponse&>(*call->response);
  }
  v1::SynchroniseResponse Sync(const std::string& worker, const std::string& incarnation = "i1", int free = 0,
                               double seconds = 0) {
    return Sync(Request(worker, incarnation, free), seconds);
  }

  static v1::Measurement Measurement(const v1::Assignment& assignment, v1::OutcomeClass outcome_class = v1::CORRECT) {
    v1::Measurement measurement;
    measurement.set_trial_id(assignment.trial_id());
    measurement.set_fence(assignment.fence());
    measurement.set_outcome_class(outcome_class);
    measurement.set_environment_hash("host and runners");
    measurement.set_machine_hash("machine");
    measurement.set_wall_ns(1000000000);
    measurement.set_message("because");
    if (outcome_class == v1::CORRECT) {
      measurement.add_comparisons()->set_dtype("float32");
      measurement.set_critical_t(-5);
      measurement.mutable_timing()->set_pairs(10);
      measurement.mutable_timing()->set_log_speedup(0.5);
      measurement.mutable_timing()->add_candidate_samples_ns(7);
    }
    return measurement;
  }

  v1::ReportResult Report(const v1::Measurement& measurement, const std::string& worker = "w1", double seconds = 0) {
    Site site(database(), seconds);
    v1::ReportRequest request;
    request.set_worker_id(worker);
    *request.add_measurements() = measurement;
    auto call = std::make_shared<Call>();
    call->request = std::make_unique<v1::ReportRequest>(request);
    call->response = std::make_unique<v1::ReportResponse>();
    absl::Status status = absl::UnknownError("not answered");
    call->done = [&](absl::Status result) { status = result; };
    site.coordinator.Report(call);
    site.coordinator.Serve();
    site.coordinator.Sweep();
    EXPECT_TRUE(status.ok()) << status;
    return static_cast<v1::ReportResponse&>(*call->response).results(0);
  }

  absl::StatusOr<int64_t> TrySubmit(const v1::CreateEvaluationRequest& request, int64_t submitter = 1) {
    absl::StatusOr<int64_t> out = absl::UnknownError("");
    const Queue queue({});
    const absl::Status status = database().Run([&](Transaction& transaction) {
      out = Submit(transaction, queue, {.trials = 15}, submitter, request);
      return out.status();
    });
    return status.ok() ? out : status;
  }
  static v1::CreateEvaluationRequest Evaluation(int graphs, bool fresh = true) {
    v1::CreateEvaluationRequest request;
    request.set_suite("s");
    request.mutable_candidate()->set_compiler("torchscript");
    for (int i = 1; i <= graphs; ++i) request.add_graphs(Cat("g", i));
    request.set_fresh(fresh);
    return request;
  }
  int64_t Queued(int graphs, bool fresh = true, int64_t submitter = 1) {
    const auto id = TrySubmit(Evaluation(graphs, fresh), submitter);
    EXPECT_TRUE(id.ok()) << id.status();
    return id.value_or(0);
  }
  std::string State(int64_t id) { return Get(Cat("SELECT state FROM evaluations WHERE id = ", id)); }
  void SweepAt(double seconds) {
    Site site(database(), seconds);
    site.coordinator.Sweep();
  }
};

TEST_F(QueueTest, ATrialIsLeasedOnceAndReportedOnce) {
  const int64_t id = Queued(1);
  const auto response = Sync("w1", "i1", 2);
  ASSERT_EQ(response.assignments_size(), 1);
  const v1::Assignment& assignment = response.assignments(0);
  EXPECT_EQ(assignment.graph(), "g1");
  EXPECT_EQ(assignment.candidate().compiler(), "torchscript");
  EXPECT_EQ(assignment.baseline().compiler(), "eager");
  EXPECT_EQ(assignment.attempt(), 1);
  EXPECT_EQ(State(id), "running");
  EXPECT_EQ(Sync("w2", "i1", 1).assignments_size(), 0);

  EXPECT_TRUE(Report(Measurement(assignment)).accepted());
  EXPECT_TRUE(Report(Measurement(assignment)).accepted());  // the answer may have been lost
  EXPECT_EQ(Get("SELECT count(*) FROM measurements"), "1");
  EXPECT_EQ(Get("SELECT count(*) FROM samples"), "1");
  EXPECT_EQ(Get("SELECT log_speedup FROM outcomes"), "0.5");
  EXPECT_EQ(State(id), "completed");
  EXPECT_EQ(Get("SELECT count(*) FROM curves"), "1");
  EXPECT_EQ(Get("SELECT count(*) FROM trials"), "0");
}

TEST_F(QueueTest, ALostAnswerIsGivenAgain) {
  Queued(2);
  const auto first = Sync("w1", "i1", 1);
  const auto second = Sync("w1", "i1", 1);
  ASSERT_EQ(second.assignments_size(), 1);
  EXPECT_EQ(second.assignments(0).fence(), first.assignments(0).fence());
  // With its device in use for something else nobody runs it: it goes back.
  EXPECT_EQ(Sync("w1", "i1", 0).assignments_size(), 0);
  EXPECT_EQ(Get("SELECT count(*) FROM trials WHERE state = 'queued'"), "2");
}

TEST_F(QueueTest, HeldTrialsAreExtended) {
  Queued(1);
  const auto given = Sync("w1", "i1", 1).assignments(0);
  v1::SynchroniseRequest request = Request("w1");
  request.add_held()->set_trial_id(given.trial_id());
  request.mutable_held(0)->set_fence(given.fence());
  request.mutable_held(0)->set_phase("load");
  EXPECT_EQ(Sync(request, 50).extensions_size(), 1);
  SweepAt(100);  // the first lease would have ended at 60
  EXPECT_EQ(Get("SELECT state || phase FROM trials"), "leasedload");
  SweepAt(111);
  EXPECT_EQ(Get("SELECT state FROM trials"), "queued");
  const auto late = Sync(request, 112);
  ASSERT_EQ(late.drops_size(), 1);
  EXPECT_EQ(late.drops(0).reason(), "lease lost");
}

TEST_F(QueueTest, AnOlderFenceIsRefused) {
  Queued(1);
  const auto first = Sync("w1", "i1", 1).assignments(0);
  SweepAt(61);
  EXPECT_THAT(Report(Measurement(first)).reason(), HasSubstr("void"));
  EXPECT_EQ(Sync("w2", "i1", 1, 61).assignments_size(), 0);  // back-off
  const auto second = Sync("w2", "i1", 1, 64);
  ASSERT_EQ(second.assignments_size(), 1);
  EXPECT_GT(second.assignments(0).fence(), first.fence());
  EXPECT_EQ(second.assignments(0).attempt(), 2);
  const auto refused = Report(Measurement(first));
  EXPECT_FALSE(refused.accepted());
  EXPECT_THAT(refused.reason(), HasSubstr("is older than"));
  EXPECT_FALSE(Report(Measurement(second.assignments(0)), "w1").accepted());  // the lease is w2's
  EXPECT_TRUE(Report(Measurement(second.assignments(0)), "w2").accepted());
}

TEST_F(QueueTest, ANewIncarnationGivesBackAtOnceAndQuarantinesAtTheThirdLoss) {
  const int64_t id = Queued(1);
  EXPECT_EQ(Sync("w1", "a", 1).assignments_size(), 1);
  EXPECT_EQ(Sync("w1", "b", 1).assignments_size(), 1);  // the same call gives it back and leases it again
  EXPECT_EQ(Sync("w1", "c", 1).assignments_size(), 0);  // the second loss costs waiting
  EXPECT_EQ(Sync("w1", "c", 1, 5).assignments_size(), 1);
  EXPECT_EQ(Sync("w1", "d", 1, 6).assignments_size(), 0);
  EXPECT_EQ(Get("SELECT outcome_class || ' ' || detail FROM outcomes"), "skipped quarantined");
  EXPECT_THAT(Get("SELECT message FROM outcomes"), HasSubstr("attempt 3"));
  SweepAt(7);
  EXPECT_EQ(State(id), "completed");
}

TEST_F(QueueTest, InfrastructureFailuresAreRetriedAndNeverTheCompilersError) {
  Queued(1);
  for (int i = 0; i < 5; ++i) {
    const double at = 1000.0 * i;
    const auto given = Sync("w1", "i1", 1, at);
    ASSERT_EQ(given.assignments_size(), 1) << i;
    EXPECT_TRUE(Report(Measurement(given.assignments(0), v1::INFRASTRUCTURE), "w1", at).accepted());
    EXPECT_EQ(Sync("w1", "i1", 1, at).assignments_size(), 0) << "back-off";
  }
  EXPECT_EQ(Get("SELECT outcome_class || ' ' || detail FROM outcomes"), "skipped quarantined");
  EXPECT_EQ(Get("SELECT count(*) FROM measurements"), "5");
}

TEST_F(QueueTest, CancelWorksInEveryState) {
  const int64_t id = Queued(3);
  const auto given = Sync("w1", "i1", 1).assignments(0);
  const Queue queue({});
  const auto cancel = [&](int64_t which) {
    return database().Run([&](Transaction& transaction) { return queue.Cancel(transaction, which); });
  };
  EXPECT_TRUE(cancel(id).ok());
  EXPECT_TRUE(cancel(id).ok());
  EXPECT_TRUE(absl::IsNotFound(cancel(9999)));
  EXPECT_EQ(State(id), "cancelled");
  EXPECT_EQ(Get("SELECT count(*) FROM trials"), "0");
  v1::SynchroniseRequest request = Request("w1");
  request.add_held()->set_trial_id(given.trial_id());
  request.mutable_held(0)->set_fence(given.fence());
  ASSERT_EQ(Sync(request).drops_size(), 1);
  EXPECT_EQ(Sync(request).drops(0).reason(), "cancelled");
  EXPECT_FALSE(Report(Measurement(given)).accepted());
  EXPECT_EQ(State(id), "cancelled");
}

TEST_F(QueueTest, ADrainedWorkerGetsNothingNew) {
  Queued(1);
  Execute("UPDATE workers SET draining = true");
  const auto response = Sync("w1", "i1", 1);
  EXPECT_TRUE(response.drain());
  EXPECT_EQ(response.assignments_size(), 0);
  v1::SynchroniseRequest leaving = Request("w2", "i1", 1);
  leaving.set_draining(true);
  EXPECT_EQ(Sync(leaving).assignments_size(), 0);
  EXPECT_EQ(Sync("w1", "i2", 1).assignments_size(), 1);  // started anew: no longer drained
}

TEST_F(QueueTest, AWorkerOnlyGetsWhatItServes) {
  Queued(1);
  v1::SynchroniseRequest other = Request("w2", "i1", 1);
  other.mutable_runners(0)->set_environment_hash("another");
  EXPECT_EQ(Sync(other).assignments_size(), 0);
  v1::SynchroniseRequest gpu = Request("w3", "i1", 1);
  gpu.mutable_devices(0)->set_kind("cuda");
  EXPECT_EQ(Sync(gpu).assignments_size(), 0);
  EXPECT_EQ(Sync("w1", "i1", 1).assignments_size(), 1);
}

TEST_F(QueueTest, SubmittersShareAndThenTheirEvaluationsAndPriorityComesFirst) {
  const int64_t a1 = Queued(6, true, 1);
  const int64_t b = Queued(6, true, 2);
  const int64_t a2 = Queued(6, true, 1);
  std::map<int64_t, int> given;
  for (int i = 0; i < 8; ++i) {
    const auto response = Sync(Cat("w", 10 + i), "i1", 1);
    ASSERT_EQ(response.assignments_size(), 1);
    ++given[*ParseInt(response.assignments(0).evaluation_id())];
  }
  EXPECT_EQ(given[b], 4);
  EXPECT_EQ(given[a1], 2);
  EXPECT_EQ(given[a2], 2);
  auto urgent = Evaluation(1);
  urgent.set_priority(5);
  const auto id = TrySubmit(urgent, 1);
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(Sync("w30", "i1", 1).assignments(0).evaluation_id(), std::to_string(*id));
}

TEST_F(QueueTest, OneWhoComesLateDoesNotClaimThePast) {
  Queued(10, true, 1);
  for (int i = 0; i < 5; ++i) Sync(Cat("w", 10 + i), "i1", 1);
  Queued(10, true, 2);
  std::map<std::string, int> given;
  for (int i = 0; i < 6; ++i) ++given[Sync(Cat("w", 20 + i), "i1", 1).assignments(0).evaluation_id()];
  EXPECT_THAT(given, testing::UnorderedElementsAre(testing::Pair("1", 3), testing::Pair("2", 3)));
}

TEST_F(QueueTest, LongestExpectedFirst) {
  Execute("UPDATE graphs SET operations = CASE hash WHEN lpad('2', 64, '0') THEN 10000 ELSE 10 END");
  Queued(3);
  EXPECT_EQ(Sync("w1", "i1", 1).assignments(0).graph(), "g2");
}

TEST_F(QueueTest, AnEqualMeasurementIsReused) {
  Queued(1, false);
  const auto given = Sync("w1", "i1", 1).assignments(0);
  const int64_t twin = Queued(1, false, 2);
  EXPECT_EQ(Sync("w2", "i1", 1).assignments_size(), 0);  // two equal trials in flight are one
  const int64_t fresh = Queued(1, true, 2);
  const auto again = Sync("w2", "i1", 1);
  ASSERT_EQ(again.assignments_size(), 1);  // but a fresh one is measured
  EXPECT_EQ(again.assignments(0).evaluation_id(), std::to_string(fresh));
  EXPECT_TRUE(Report(Measurement(given)).accepted());
  EXPECT_EQ(Sync("w1", "i1", 1).assignments_size(), 0);  // the twin is answered by the measurement
  EXPECT_EQ(Get(Cat("SELECT fence || ' ' || measurement_id FROM outcomes WHERE evaluation_id = ", twin)), "0 1");
  const int64_t later = Queued(1, false, 1);
  EXPECT_EQ(Get(Cat("SELECT count(*) FROM outcomes WHERE evaluation_id = ", later)), "1");
}

TEST_F(QueueTest, AMeasurementIsReusedOnlyWhereItsMachineStands) {
  const auto outcomes = [&](int64_t id) {
    return Get(Cat("SELECT count(*) FROM outcomes WHERE evaluation_id = ", id));
  };
  Queued(2, false);
  auto elsewhere = Measurement(Sync("w1", "i1", 1).assignments(0));
  elsewhere.set_machine_hash("before its kernel was changed");
  EXPECT_TRUE(Report(elsewhere).accepted());
  // Other runners have been at work on the device since: that takes nothing from a measurement.
  auto here = Measurement(Sync("w1", "i1", 1).assignments(0));
  here.set_environment_hash("host and other runners");
  EXPECT_TRUE(Report(here).accepted());
  EXPECT_EQ(outcomes(Queued(2, false)), "1");
}

TEST_F(QueueTest, WhatMayNotBeReusedIsMeasuredAgain) {
  Queued(3, false);
  auto first = Measurement(Sync("w1", "i1", 1).assignments(0), v1::COMPILE_FAIL);
  first.set_detail(v1::TIMEOUT);
  auto second = Measurement(Sync("w2", "i1", 1).assignments(0), v1::RUNTIME_FAIL);
  second.set_detail(v1::OUT_OF_MEMORY);
  auto third = Measurement(Sync("w3", "i1", 1).assignments(0));
  third.mutable_timing()->set_unstable(true);
  EXPECT_TRUE(Report(first, "w1").accepted());
  EXPECT_TRUE(Report(second, "w2").accepted());
  EXPECT_TRUE(Report(third, "w3").accepted());
  Queued(3, false);
  EXPECT_EQ(Get("SELECT count(*) FROM trials"), "3");
}

TEST_F(QueueTest, ABadMeasurementIsRefusedWithItsReason) {
  Queued(1);
  const auto given = Sync("w1", "i1", 1).assignments(0);
  auto measurement = Measurement(given);
  measurement.set_critical_t(2);
  EXPECT_THAT(Report(measurement).reason(), HasSubstr("critical_t"));
  measurement = Measurement(given);
  measurement.mutable_timing()->set_log_speedup(NAN);
  EXPECT_THAT(Report(measurement).reason(), HasSubstr("log_speedup"));
  measurement = Measurement(given, v1::OUTCOME_CLASS_UNSPECIFIED);
  EXPECT_THAT(Report(measurement).reason(), HasSubstr("outcome_class"));
  measurement = Measurement(given);
  measurement.set_trial_id("x");
  EXPECT_THAT(Report(measurement).reason(), HasSubstr("number"));
  measurement = Measurement(given, v1::RUNTIME_FAIL);
  measurement.set_message(std::string("\0 bad", 5));  // what a runner printed; Postgres' text takes no NUL
  EXPECT_TRUE(Report(measurement).accepted());
}

TEST_F(QueueTest, SubmissionsAreIdempotentAndChecked) {
  auto request = Evaluation(2);
  request.set_client_key("k");
  const auto first = TrySubmit(request);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*TrySubmit(request), *first);
  EXPECT_NE(*TrySubmit(request, 2), *first);  // keys are a submitter's own
  request.set_priority(3);
  EXPECT_TRUE(absl::IsAlreadyExists(TrySubmit(request).status()));

  const auto message = [&](const std::function<void(v1::CreateEvaluationRequest&)>& change) {
    auto wrong = Evaluation(1);
    change(wrong);
    return std::string(TrySubmit(wrong).status().message());
  };
  EXPECT_THAT(message([](auto& r) { r.set_suite("none"); }), HasSubstr("there is no suite 'none'"));
  EXPECT_THAT(message([](auto& r) { r.add_graphs("none"); }), HasSubstr("has no graph 'none'"));
  EXPECT_THAT(message([](auto& r) { r.clear_graphs(); }), HasSubstr("at most 15"));
  EXPECT_THAT(message([](auto& r) { r.set_priority(101); }), HasSubstr("-100 to 100"));
  EXPECT_THAT(message([](auto& r) { r.mutable_policy()->set_name("none"); }), HasSubstr("policy.name"));
  EXPECT_THAT(message([](auto& r) { r.mutable_policy()->set_half_width(-1); }), HasSubstr("policy.half_width is -1"));
  EXPECT_THAT(message([](auto& r) { r.mutable_policy()->set_cache("hot"); }), HasSubstr("accepted: warm, cold"));
  EXPECT_THAT(message([](auto& r) { r.mutable_candidate()->set_compiler("inductor"); }),
              HasSubstr("known: eager on cpu, torchscript on cpu"));
  EXPECT_THAT(message([](auto& r) { r.mutable_candidate()->set_device_kind("cuda"); }),
              HasSubstr("no worker offers torchscript on cuda"));
  EXPECT_THAT(
      message([](auto& r) { (*r.mutable_candidate()->mutable_options()->mutable_fields())["x"].set_bool_value(true); }),
      HasSubstr("option 'x' is not known"));
  v1::SynchroniseRequest other = Request("w2");
  other.mutable_runners(0)->set_environment_hash("f");
  Sync(other);
  EXPECT_THAT(message([](auto&) {}), HasSubstr("not the same on every worker: e, f"));
  EXPECT_EQ(message([](auto& r) { r.mutable_candidate()->set_environment_hash("f"); }), "");
}

// Two environments that hold the same packages: an A/A comparison of them must not lose its names.
TEST_F(QueueTest, EnvironmentsOfOneContentKeepTheirNames) {
  v1::SynchroniseRequest request = Request("w1");
  *request.add_runners() = request.runners(0);
  request.mutable_runners(1)->set_environment("second");
  Sync(request);
  v1::CreateEvaluationRequest evaluation = Evaluation(1);
  evaluation.mutable_candidate()->set_environment("second");
  const auto second = TrySubmit(evaluation);
  ASSERT_TRUE(second.ok()) << second.status();
  const auto first = TrySubmit(Evaluation(1));
  ASSERT_TRUE(first.ok()) << first.status();
  const auto names = [&](int64_t id) {
    return Get(
        Cat("SELECT c.name || ' ' || b.name FROM evaluations e JOIN targets c ON c.id = e.candidate_id JOIN targets b "
            "ON b.id = e.baseline_id WHERE e.id = ",
            id));
  };
  EXPECT_EQ(names(*second), "torchscript@env:second eager@env:second");
  EXPECT_EQ(names(*first), "torchscript eager");
}

TEST_F(QueueTest, SaysWhatItWaitsFor) {
  const int64_t id = Queued(1);
  const auto waiting = [&](double seconds) {
    const Queue queue({.lease_seconds = 60, .clock_offset_seconds = seconds});
    std::string out;
    EXPECT_TRUE(database()
                    .Run([&](Transaction& transaction) {
                      const auto evaluation = LoadEvaluation(transaction, queue, id);
                      if (evaluation.ok()) out = evaluation->waiting_for();
                      return evaluation.status();
                    })
                    .ok());
    return out;
  };
  EXPECT_EQ(waiting(0), "a free device");
  EXPECT_EQ(waiting(100), "no worker is connected");
  v1::SynchroniseRequest other = Request("w2");
  other.mutable_runners(0)->set_build("another");
  Sync(other, 100);
  EXPECT_THAT(waiting(100), HasSubstr("no connected worker serves torchscript 1"));
  Sync("w1", "i1", 1);
  SweepAt(61);
  Sync("w1", "i1", 0, 61);
  EXPECT_THAT(waiting(61), HasSubstr("was lost"));
}

TEST_F(QueueTest, WaitingPollsGetWorkAndLearnOfCancellation) {
  Site site(database(), 0);
  v1::SynchroniseRequest request = Request("w1", "i1", 1);
  request.set_wait_seconds(20);
  auto call = std::make_shared<Call>();
  call->request = std::make_unique<v1::SynchroniseRequest>(request);
  call->response = std::make_unique<v1::SynchroniseResponse>();
  bool answered = false;
  call->done = [&](absl::Status) { answered = true; };
  site.coordinator.Synchronise(call);
  site.coordinator.Serve();
  EXPECT_FALSE(answered);
  const int64_t id = Queued(1);
  site.coordinator.Serve();
  ASSERT_TRUE(answered);
  const auto& response = static_cast<v1::SynchroniseResponse&>(*call->response);
  ASSERT_EQ(response.assignments_size(), 1);

  v1::SynchroniseRequest holding = Request("w1", "i1", 0);
  holding.set_wait_seconds(20);
  holding.add_held()->set_trial_id(response.assignments(0).trial_id());
  holding.mutable_held(0)->set_fence(response.assignments(0).fence());
  auto second = std::make_shared<Call>();
  second->request = std::make_unique<v1::SynchroniseRequest>(holding);
  second->response = std::make_unique<v1::SynchroniseResponse>();
  answered = false;
  second->done = [&](absl::Status) { answered = true; };
  site.coordinator.Synchronise(second);
  site.coordinator.Serve();
  EXPECT_FALSE(answered);
  ASSERT_TRUE(database().Run([&](Transaction& transaction) { return site.queue.Cancel(transaction, id); }).ok());
  site.coordinator.Serve();
  ASSERT_TRUE(answered);
  EXPECT_EQ(static_cast<v1::SynchroniseResponse&>(*second->response).drops(0).reason(), "cancelled");
  EXPECT_EQ(static_cast<v1::SynchroniseResponse&>(*second->response).extensions_size(), 0);
}

TEST_F(QueueTest, ManyCoordinatorsLeaseEachTrialOnce) {
  Queued(15);
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::multiset<std::string> given;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 12; ++k) {
        const auto response = Sync(Cat("c", i, "-", k), "i1", 1);
        const std::lock_guard lock(mutex);
        for (const auto& assignment : response.assignments()) given.insert(assignment.trial_id());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(given.size(), 15u);
  EXPECT_EQ(std::set<std::string>(given.begin(), given.end()).size(), 15u);
}

}  // namespace
}  // namespace assay::server
