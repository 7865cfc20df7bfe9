#include "server/imported_evaluation.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "server/evaluation_store.h"
#include "server/postgres_fixture.h"
#include "server/scoring.h"
#include "server/submission.h"
#include "server/text.h"

namespace assay::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ImportedEvaluationTest : public PostgresTest {
 protected:
  void SetUp() override {
    PostgresTest::SetUp();
    Execute("INSERT INTO tokens (name, role, secret_hash) VALUES ('ann', 'submitter', 'a')");
  }

  absl::StatusOr<int64_t> Import(const v1::ImportEvaluationRequest& request) {
    absl::StatusOr<int64_t> out = absl::UnknownError("");
    const absl::Status status = database().Run([&](Transaction& transaction) {
      out = ImportEvaluation(transaction, queue_, {.trials = 5}, 1, request);
      return out.status();
    });
    return status.ok() ? out : status;
  }
  v1::Evaluation Load(int64_t id) {
    v1::Evaluation out;
    EXPECT_TRUE(database()
                    .Run([&](Transaction& transaction) {
                      auto evaluation = LoadEvaluation(transaction, queue_, id);
                      if (evaluation.ok()) out = *evaluation;
                      return evaluation.status();
                    })
                    .ok());
    return out;
  }
  template <typename Response, typename Request>
  Response Ask(absl::Status (*function)(Transaction&, const Request&, Response*), const Request& request) {
    Response response;
    const absl::Status status = database().Run([&](Transaction& transaction) {
      response.Clear();
      return function(transaction, request, &response);
    });
    EXPECT_TRUE(status.ok()) << status;
    return response;
  }

  // Two correct graphs of speed-ups 2 and 0.5, and one that did not compile.
  static v1::ImportEvaluationRequest Log(const std::string& key, const std::string& reading = "graphnet-log") {
    v1::ImportEvaluationRequest request;
    request.set_client_key(key);
    request.set_suite("log");
    request.set_reading(reading);
    request.mutable_candidate()->set_compiler("inductor");
    request.mutable_candidate()->set_version("2.0");
    request.mutable_candidate()->set_device_kind("cpu");
    request.set_hardware("Some CPU");
    v1::ImportedOutcome* a = request.add_outcomes();
    a->set_graph("vision/a");
    a->set_outcome_class(v1::CORRECT);
    a->set_critical_t(-std::numeric_limits<double>::infinity());
    a->set_speedup(2);
    a->set_candidate_ns(1000);
    a->set_baseline_ns(2000);
    v1::ImportedOutcome* b = request.add_outcomes();
    b->set_graph("vision/b");
    b->set_outcome_class(v1::CORRECT);
    b->set_critical_t(-3);
    b->set_speedup(0.5);
    v1::ImportedOutcome* c = request.add_outcomes();
    c->set_graph("vision/c");
    c->set_outcome_class(v1::COMPILE_FAIL);
    c->set_detail(v1::ERROR);
    c->set_message("no kernel");
    return request;
  }

  Queue queue_{QueueOptions{}};
};

TEST_F(ImportedEvaluationTest, IsCompleteMarkedAndScored) {
  const auto id = Import(Log("k"));
  ASSERT_TRUE(id.ok()) << id.status();
  const v1::Evaluation evaluation = Load(*id);
  EXPECT_EQ(evaluation.state(), v1::COMPLETED);
  EXPECT_EQ(evaluation.imported(), "graphnet-log");
  EXPECT_EQ(evaluation.cohort(), "imported from a log: Some CPU, graphnet-log 2.0");
  EXPECT_EQ(evaluation.candidate().name(), "inductor@env:graphnet-log");
  EXPECT_EQ(evaluation.finished(), 3);
  EXPECT_FALSE(evaluation.partial());

  v1::ListOutcomesRequest list;
  list.set_id(std::to_string(*id));
  const auto outcomes = Ask(ListOutcomes, list);
  ASSERT_EQ(outcomes.outcomes_size(), 3);
  EXPECT_EQ(outcomes.outcomes(0).graph(), "vision/a");
  EXPECT_EQ(outcomes.outcomes(0).graph_hash(), "");
  EXPECT_DOUBLE_EQ(outcomes.outcomes(0).speedup(), 2);
  EXPECT_EQ(outcomes.outcomes(0).verdict(), v1::UNCLEAR);  // a log has no interval
  EXPECT_EQ(outcomes.outcomes(2).message(), "no kernel");

  v1::GetCurveRequest curve_request;
  curve_request.set_id(std::to_string(*id));
  curve_request.set_p(0);
  const auto curve = Ask(GetCurve, curve_request);
  EXPECT_EQ(curve.graphs(), 3);
  for (const auto& point : curve.points()) {
    const double s = point.t() < -3 ? std::cbrt(2 * 0.1 * 0.1) : std::cbrt(2 * 0.5 * 0.1);
    EXPECT_NEAR(point.s(), s, 1e-12) << point.t();
  }
}

TEST_F(ImportedEvaluationTest, TheSameKeyGivesTheSameEvaluation) {
  const auto id = Import(Log("k"));
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(*Import(Log("k")), *id);
  EXPECT_TRUE(absl::IsAlreadyExists(Import(Log("k", "graphnet-log-as-peer")).status()));
}

// Each map has an order of its own.
TEST_F(ImportedEvaluationTest, TheOrderOfAMapDoesNotMakeAnotherRequest) {
  const auto request = [] {
    v1::ImportEvaluationRequest out = Log("k");
    for (int i = 0; i < 8; ++i) {
      (*out.mutable_candidate()->mutable_options()->mutable_fields())[Cat("option", i)].set_number_value(i);
    }
    return out;
  };
  std::vector<v1::ImportEvaluationRequest> requests;
  for (int i = 0; i < 8; ++i) requests.push_back(request());
  const auto id = Import(requests[0]);
  ASSERT_TRUE(id.ok()) << id.status();
  for (const v1::ImportEvaluationRequest& again : requests) {
    const auto same = Import(again);
    ASSERT_TRUE(same.ok()) << same.status();
    EXPECT_EQ(*same, *id);
  }
}

TEST_F(ImportedEvaluationTest, ReadingsAreRankedApartAndNeverWithMeasuredOnes) {
  ASSERT_TRUE(Import(Log("1")).ok());
  ASSERT_TRUE(Import(Log("2", "graphnet-log-as-peer")).ok());
  v1::GetLeaderboardRequest request;
  request.set_suite("log");
  const auto leaderboard = Ask(GetLeaderboard, request);
  ASSERT_EQ(leaderboard.sections_size(), 2);
  for (const auto& section : leaderboard.sections()) {
    EXPECT_THAT(section.cohort(), StartsWith("imported from a log"));
    EXPECT_EQ(section.entries_size(), 1);
  }
  // Even a measured evaluation of a target and cohort that say the same has its own section.
  Execute("UPDATE evaluations SET imported = '' WHERE id = 1");
  Execute("UPDATE curves SET cohort = 'x'");
  EXPECT_EQ(Ask(GetLeaderboard, request).sections_size(), 2);
}

TEST_F(ImportedEvaluationTest, AnotherLogOfTheSameGraphsIsOfTheSameSuite) {
  ASSERT_TRUE(Import(Log("1")).ok());
  v1::ImportEvaluationRequest fewer = Log("2");
  fewer.mutable_outcomes()->RemoveLast();
  const auto second = Import(fewer);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(Load(*second).suite_version(), 1);
  EXPECT_TRUE(Load(*second).partial());
  v1::ImportEvaluationRequest other = Log("3");
  other.mutable_outcomes(0)->set_graph("text/z");
  const auto third = Import(other);
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(Load(*third).suite_version(), 2);
  EXPECT_FALSE(Load(*third).partial());
}

TEST_F(ImportedEvaluationTest, NothingIsEvaluatedOnNamesAlone) {
  ASSERT_TRUE(Import(Log("1")).ok());
  v1::CreateEvaluationRequest request;
  request.set_suite("log");
  request.mutable_candidate()->set_compiler("inductor");
  const absl::Status status =
      database().Run([&](Transaction& transaction) { return Submit(transaction, queue_, {}, 1, request).status(); });
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("known by name alone"));
}

TEST_F(ImportedEvaluationTest, ASuiteWithGraphsIsUsedAndNeverChanged) {
  Execute(
      "INSERT INTO graphs (hash, canonical, structure, operations, parameter_bytes) "
      "SELECT lpad(to_hex(i), 64, '0'), '', 's' || i, 1, 0 FROM generate_series(1, 3) i");
  Execute(
      "INSERT INTO suites (name, version, contents_hash, graph_count, structure_count) VALUES ('log', 1, '', 3, 3)");
  Execute(
      "INSERT INTO suite_graphs VALUES (1, 0, 'vision/c', lpad('1', 64, '0')), (1, 1, 'vision/a', lpad('2', 64, '0')), "
      "(1, 2, 'vision/b', lpad('3', 64, '0'))");
  const auto id = Import(Log("1"));
  ASSERT_TRUE(id.ok()) << id.status();
  EXPECT_EQ(Get(Cat("SELECT count(*) FROM outcomes WHERE graph_hash IS NOT NULL AND evaluation_id = ", *id)), "3");
  EXPECT_EQ(Get("SELECT outcome_class FROM outcomes WHERE position = 0"), "compile_fail");
  v1::ImportEvaluationRequest other = Log("2");
  other.mutable_outcomes(1)->set_graph("vision/z");
  const auto refused = Import(other);
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("has no graph 'vision/z'"));
  EXPECT_EQ(Get("SELECT count(*) FROM suites"), "1");
}

TEST_F(ImportedEvaluationTest, RefusesOutcomesThatContradictThemselves) {
  const auto refusal = [&](const auto& change) {
    v1::ImportEvaluationRequest request = Log("x");
    change(request);
    const absl::Status status = Import(request).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(refusal([](auto& r) { r.set_reading("guess"); }), HasSubstr("accepted: graphnet-log"));
  EXPECT_THAT(refusal([](auto& r) { r.set_suite("A b"); }), HasSubstr("not a suite's name"));
  EXPECT_THAT(refusal([](auto& r) { r.clear_outcomes(); }), HasSubstr("no graph"));
  EXPECT_THAT(refusal([](auto& r) { r.mutable_candidate()->clear_compiler(); }), HasSubstr("candidate.compiler"));
  EXPECT_THAT(refusal([](auto& r) { r.mutable_outcomes(1)->set_graph("vision/a"); }), HasSubstr("stands twice"));
  EXPECT_THAT(refusal([](auto& r) { r.mutable_outcomes(0)->set_speedup(0); }), HasSubstr("speedup must be above 0"));
  EXPECT_THAT(refusal([](auto& r) { r.mutable_outcomes(0)->set_critical_t(2); }), HasSubstr("at most 1"));
  EXPECT_THAT(refusal([](auto& r) { r.mutable_outcomes(2)->set_outcome_class(v1::INFRASTRUCTURE); }),
              HasSubstr("outcomes[2].outcome_class"));
  EXPECT_THAT(refusal([](auto& r) { r.mutable_outcomes(2)->set_candidate_ns(-1); }), HasSubstr("outcomes[2]"));
  EXPECT_THAT(refusal([](auto& r) {
                for (int i = 0; i < 9; ++i) *r.add_outcomes() = r.outcomes(2);
              }),
              HasSubstr("at most 5"));
}

}  // namespace
}  // namespace assay::server
