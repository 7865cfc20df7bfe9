#include "server/scoring.h"

#include <cmath>
#include <pqxx/pqxx>

#include "gmock/gmock.h"
#include "server/evaluation_store.h"
#include "server/postgres_fixture.h"
#include "server/text.h"

namespace assay::server {
namespace {

using testing::ElementsAre;

// A suite of five graphs, three of which are one structure, and two compilers that were evaluated over it. The second
// one fails to compile graph 3, whose outputs prove nothing; that is known from the first one only.
class ScoringTest : public PostgresTest {
 protected:
  void SetUp() override {
    PostgresTest::SetUp();
    Execute("INSERT INTO tokens (name, role, secret_hash) VALUES ('ann', 'submitter', 'a')");
    Execute(
        "INSERT INTO graphs (hash, canonical, structure, operations, parameter_bytes) "
        "SELECT lpad(i::text, 64, '0'), '', CASE WHEN i < 3 THEN 'many' ELSE 's' || i END, 1, 0 FROM "
        "generate_series(0, 4) i");
    Execute(
        "INSERT INTO suites (name, version, contents_hash, graph_count, structure_count) VALUES ('s', 1, '', 5, 3)");
    Execute("INSERT INTO suite_graphs SELECT 1, i, 'g' || i, lpad(i::text, 64, '0') FROM generate_series(0, 4) i");
    Execute("INSERT INTO runner_environments (hash, name) VALUES ('e', 'default')");
    for (const char* compiler : {"eager", "one", "two"}) {
      Execute(
          Cat("INSERT INTO targets (key, name, compiler, version, runner, runner_build, trusted, environment, "
              "environment_hash, device_kind, options) VALUES ('",
              compiler, "', '", compiler, "', '", compiler, "', '1', 'r', 'b', true, 'default', 'e', 'cpu', '{}')"));
    }
    Evaluate(1, 2, "assay");
    Evaluate(2, 3, "assay");
    Execute("UPDATE outcomes SET degenerate = true, degeneracy = 'all_zero' WHERE evaluation_id = 1 AND position = 3");
    Execute("UPDATE outcomes SET outcome_class = 'compile_fail' WHERE evaluation_id = 2 AND position = 3");
    Finish(1);
    Finish(2);
  }

  // The graphs of the first structure are as fast as before, 3 and 4 are e times faster.
  void Evaluate(int id, int candidate, const std::string& replay) {
    Execute(
        Cat("INSERT INTO evaluations (client_key, request_hash, submitter, suite_id, candidate_id, baseline_id, "
            "policy, partial, fresh, trial_count) VALUES ('",
            id, "', '', 1, 1, ", candidate, ", 1, '{\"replay\": \"", replay, "\"}', false, false, 5)"));
    Execute(
        Cat("INSERT INTO outcomes (trial_id, fence, evaluation_id, position, graph_hash, outcome_class, critical_t, "
            "log_speedup, candidate_ns, baseline_ns, compile_ns, device_model, replay) SELECT ",
            100 * id, " + i, 1, ", id,
            ", i, lpad(i::text, 64, '0'), 'correct', -5, CASE WHEN i < 3 THEN 0 ELSE 1 "
            "END, 1, 1, 1, 'cpu', '",
            replay, "' FROM generate_series(0, 4) i"));
  }
  void Finish(int64_t id) {
    const absl::Status status =
        database().Run([&](Transaction& transaction) { return FinishEvaluation(transaction, id, "now()"); });
    ASSERT_TRUE(status.ok()) << status;
  }
  v1::GetLeaderboardResponse Board(bool structures, bool without_degenerate) {
    v1::GetLeaderboardRequest request;
    request.set_structures(structures);
    request.set_without_degenerate(without_degenerate);
    v1::GetLeaderboardResponse response;
    const absl::Status status = database().Run([&](Transaction& transaction) {
      response.Clear();
      return GetLeaderboard(transaction, request, &response);
    });
    EXPECT_TRUE(status.ok()) << status;
    return response;
  }
  v1::Curve Curve(int id, bool structures, bool without_degenerate) {
    v1::GetCurveRequest request;
    request.set_id(std::to_string(id));
    request.set_structures(structures);
    request.set_without_degenerate(without_degenerate);
    v1::Curve response;
    const absl::Status status = database().Run([&](Transaction& transaction) {
      response.Clear();
      return GetCurve(transaction, request, &response);
    });
    EXPECT_TRUE(status.ok()) << status;
    return response;
  }
  static double AtZero(const v1::Curve& curve) {
    for (const auto& point : curve.points()) {
      if (point.t() == 0) return point.s();
    }
    return 0;
  }
};

TEST_F(ScoringTest, EachStructureWeighsOneWhereThatIsAskedFor) {
  const auto plain = Board(false, false), by_structure = Board(true, false);
  ASSERT_EQ(plain.sections_size(), 1);
  const auto& one = plain.sections(0).entries(0);
  EXPECT_EQ(one.evaluation().candidate().compiler(), "one");
  EXPECT_NEAR(one.s0(), std::exp(2.0 / 5), 1e-12);
  EXPECT_NEAR(by_structure.sections(0).entries(0).s0(), std::exp(2.0 / 3), 1e-12);
  EXPECT_NEAR(by_structure.sections(0).entries(0).es1(), std::exp(2.0 / 3), 1e-12);
  EXPECT_NEAR(by_structure.sections(0).entries(0).alpha0(), std::exp(2.0 / 3), 1e-12);
  EXPECT_TRUE(by_structure.structures());
  for (const auto* board : {&plain, &by_structure}) {
    EXPECT_EQ(board->sections(0).entries(0).graphs(), 5);
    EXPECT_EQ(board->sections(0).entries(0).structures(), 3);
    EXPECT_EQ(board->sections(0).entries(0).degenerate(), 1);
  }
  EXPECT_NEAR(AtZero(Curve(1, false, false)), std::exp(2.0 / 5), 1e-12);
  EXPECT_NEAR(AtZero(Curve(1, true, false)), std::exp(2.0 / 3), 1e-12);
  EXPECT_EQ(Curve(1, true, false).structures(), 3);
}

TEST_F(ScoringTest, DegenerateGraphsAreLeftOutForAllCompilersAlike) {
  const auto board = Board(false, true);
  ASSERT_EQ(board.sections(0).entries_size(), 2);
  EXPECT_TRUE(board.without_degenerate());
  for (const auto& entry : board.sections(0).entries()) {
    EXPECT_EQ(entry.graphs(), 4) << entry.evaluation().candidate().compiler();
    EXPECT_EQ(entry.degenerate(), 1);
    EXPECT_EQ(entry.failed(), 0);
    EXPECT_NEAR(entry.s0(), std::exp(1.0 / 4), 1e-12);
  }
  EXPECT_NEAR(AtZero(Curve(2, true, true)), std::exp(1.0 / 2), 1e-12);
  EXPECT_EQ(Board(false, false).sections(0).entries(1).failed(), 1);

  v1::ListOutcomesRequest request;
  request.set_id("2");
  request.set_without_degenerate(true);
  v1::ListOutcomesResponse outcomes;
  ASSERT_TRUE(database()
                  .Run([&](Transaction& transaction) {
                    outcomes.Clear();
                    return ListOutcomes(transaction, request, &outcomes);
                  })
                  .ok());
  std::vector<std::string> names;
  for (const auto& outcome : outcomes.outcomes()) names.push_back(outcome.graph());
  EXPECT_THAT(names, ElementsAre("g0", "g1", "g2", "g4"));
}

TEST_F(ScoringTest, ModesOfReplayAreNotRankedTogether) {
  Evaluate(3, 2, "graphnet");
  Finish(3);
  const auto board = Board(false, false);
  ASSERT_EQ(board.sections_size(), 2);
  EXPECT_EQ(board.sections(0).replay(), "assay");
  EXPECT_EQ(board.sections(0).entries_size(), 2);
  EXPECT_EQ(board.sections(1).replay(), "graphnet");
  // What is degenerate by one rule need not be by the other.
  EXPECT_EQ(Board(false, true).sections(1).entries(0).graphs(), 5);
}

}  // namespace
}  // namespace assay::server
