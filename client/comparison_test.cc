#include "client/comparison.h"

#include <boost/json.hpp>
#include <cmath>

#include "client/comparison_text.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace assay::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

v1::Evaluation Evaluation(const std::string& id) {
  v1::Evaluation out;
  out.set_id(id);
  out.set_suite("s");
  out.set_suite_version(1);
  out.set_state(v1::COMPLETED);
  out.mutable_candidate()->set_compiler("inductor");
  out.mutable_candidate()->set_version("2." + id);
  out.mutable_baseline()->set_compiler("eager");
  out.set_cohort("Some CPU, torch 2");
  return out;
}

// A correct outcome whose interval is of 10 batches (Student's t with 9 degrees of freedom).
v1::Outcome Correct(const std::string& graph, double speedup, double error = 0.001) {
  v1::Outcome out;
  out.set_graph(graph);
  out.set_graph_hash("h-" + graph);
  out.set_outcome_class(v1::CORRECT);
  out.set_critical_t(-5);
  out.set_speedup(speedup);
  out.set_candidate_ns(1e6 / speedup);
  if (error > 0) {
    out.set_speedup_low(speedup * std::exp(-2.262157 * error));
    out.set_speedup_high(speedup * std::exp(2.262157 * error));
    out.set_log_error(error);
  }
  return out;
}
v1::Outcome Failed(const std::string& graph, v1::OutcomeClass outcome_class, const std::string& message = "") {
  v1::Outcome out;
  out.set_graph(graph);
  out.set_graph_hash("h-" + graph);
  out.set_outcome_class(outcome_class);
  out.set_message(message);
  return out;
}
v1::ListOutcomesResponse List(const std::vector<v1::Outcome>& outcomes) {
  v1::ListOutcomesResponse out;
  for (const v1::Outcome& outcome : outcomes) *out.add_outcomes() = outcome;
  return out;
}

// One graph of each kind.
Comparison OneOfEach(const CompareOptions& options = {}) {
  return Compare(
      Evaluation("7"),
      List({Correct("same", 2), Correct("slower", 2), Correct("faster", 2), Correct("unclear", 2, 0.02),
            Correct("no-interval", 2, 0), Correct("broken", 2), Failed("repaired", v1::COMPILE_FAIL),
            Failed("other", v1::COMPILE_FAIL), Failed("failing", v1::RUNTIME_FAIL), Correct("skipped", 2),
            Correct("gone", 2)}),
      Evaluation("8"),
      List({Correct("same", 2.001), Correct("slower", 1.8), Correct("faster", 2.2), Correct("unclear", 2.04, 0.02),
            Correct("no-interval", 3, 0), Failed("broken", v1::ACCURACY, "wrong <b> | \"x\""), Correct("repaired", 2),
            Failed("other", v1::NAN_MISMATCH), Failed("failing", v1::RUNTIME_FAIL),
            Failed("skipped", v1::SKIPPED, "too large"), Correct("new", 2)}),
      options);
}

std::string Changes(const Comparison& comparison) {
  std::string out;
  for (const GraphChange& graph : comparison.graphs)
    out += fmt::format("{}={} ", graph.graph, ChangeWord(graph.change));
  return out;
}

TEST(Comparison, NewFailuresAndRepairsFirst) {
  const Comparison comparison = OneOfEach();
  EXPECT_EQ(Changes(comparison),
            "broken=new-failure repaired=repair other=other-failure slower=slower faster=faster no-interval=unclear "
            "unclear=unclear same=same failing=failing skipped=skipped new=missing gone=missing ");
  EXPECT_EQ(comparison.timed, 5);
  EXPECT_NEAR(comparison.mean_ratio, std::pow(2.001 / 2 * 0.9 * 1.1 * 1.02 * 1.5, 0.2), 1e-12);
  EXPECT_EQ(comparison.counts.at(Change::kUnclear), 2);
}

TEST(Comparison, ErrorsOfBothSidesAreCombined) {
  const Comparison comparison = OneOfEach();
  const GraphChange& slower = comparison.graphs[3];
  EXPECT_NEAR(slower.difference.log_ratio, std::log(0.9), 1e-12);
  EXPECT_NEAR(slower.difference.standard_error, 0.001 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(slower.difference.degrees_of_freedom, 18, 0.01);
  EXPECT_LT(slower.p_value, 1e-6);
}

TEST(Comparison, CorrectnessIsAtAToleranceThatMayBeGiven) {
  CompareOptions options;
  options.tolerance = -6;  // the outcomes' t* is -5
  for (const GraphChange& graph : OneOfEach(options).graphs) EXPECT_FALSE(graph.timed) << graph.graph;
  v1::Outcome looser = Correct("a", 2);
  looser.set_critical_t(-2);
  options.tolerance = -3;
  const Comparison comparison =
      Compare(Evaluation("7"), List({Correct("a", 2)}), Evaluation("8"), List({looser}), options);
  EXPECT_EQ(Changes(comparison), "a=new-failure ");
  EXPECT_EQ(comparison.graphs[0].after, "accuracy");
}

TEST(Comparison, WhatIsOnlyCompiled) {
  const Comparison comparison = Compare(
      Evaluation("7"), List({Failed("a", v1::COMPILED), Failed("b", v1::COMPILED), Failed("c", v1::COMPILE_FAIL)}),
      Evaluation("8"), List({Failed("a", v1::COMPILED), Failed("b", v1::COMPILE_FAIL), Failed("c", v1::COMPILED)}), {});
  EXPECT_EQ(Changes(comparison), "b=new-failure c=repair a=same ");
  EXPECT_EQ(comparison.timed, 0);
}

TEST(Comparison, GraphsOfOneNameMustBeOneGraph) {
  v1::Outcome other = Correct("a", 2);
  other.set_graph_hash("another");
  const Comparison comparison = Compare(Evaluation("7"), List({Correct("a", 2)}), Evaluation("8"), List({other}), {});
  EXPECT_EQ(Changes(comparison), "a=missing ");
  EXPECT_THAT(comparison.graphs[0].message, HasSubstr("another graph has this name"));
}

TEST(Comparison, RefusesWhatHasNoCommonGround) {
  const auto refusal = [](const auto& change) {
    v1::Evaluation other = Evaluation("8");
    change(other);
    EXPECT_TRUE(CheckComparable(Evaluation("7"), other, true).ok() || other.state() != v1::COMPLETED ||
                other.suite() != "s");
    return std::string(CheckComparable(Evaluation("7"), other, false).message());
  };
  EXPECT_TRUE(CheckComparable(Evaluation("7"), Evaluation("8"), false).ok());
  EXPECT_THAT(refusal([](auto& e) { e.set_state(v1::RUNNING); }), HasSubstr("assay watch 8"));
  EXPECT_THAT(refusal([](auto& e) { e.set_suite("t"); }), HasSubstr("one suite"));
  EXPECT_THAT(refusal([](auto& e) { e.mutable_baseline()->set_version("9"); }), HasSubstr("baselines"));
  EXPECT_THAT(
      refusal([](auto& e) { (*e.mutable_baseline()->mutable_options()->mutable_fields())["x"].set_bool_value(true); }),
      HasSubstr("baselines"));
  EXPECT_THAT(refusal([](auto& e) { e.set_cohort("Other CPU"); }), HasSubstr("Other CPU"));
  EXPECT_THAT(refusal([](auto& e) { e.mutable_policy()->set_threads(4); }), HasSubstr("threads"));
  EXPECT_THAT(refusal([](auto& e) { e.set_imported("graphnet-log"); }), HasSubstr("imported"));
}

// What a second look finds: speed-ups of the later side by graph; 0: a failure. The earlier side's is 2.
MeasureAgain Finds(const std::map<std::string, double>& speedups, std::vector<std::set<std::string>>& asked) {
  return [=, &asked](const std::set<std::string>& graphs) -> absl::StatusOr<BothOutcomes> {
    asked.push_back(graphs);
    std::vector<v1::Outcome> before, after;
    for (const std::string& graph : graphs) {
      const double speedup = speedups.at(graph);
      before.push_back(Correct(graph, 2));
      after.push_back(speedup > 0 ? Correct(graph, speedup) : Failed(graph, v1::RUNTIME_FAIL));
    }
    return BothOutcomes{List(before), List(after)};
  };
}

TEST(Comparison, ASecondLookAtEveryDepartureDecides) {
  std::vector<std::set<std::string>> asked;
  const auto comparison = CompareTwice(
      Evaluation("7"), Evaluation("8"),
      {List({Correct("slower", 2), Correct("slow-once", 2), Correct("faster", 2), Correct("fast-once", 2),
             Correct("broken", 2), Correct("broken-once", 2), Failed("repaired", v1::COMPILE_FAIL), Correct("same", 2),
             Correct("unclear", 2, 0.02)}),
       List({Correct("slower", 1.8), Correct("slow-once", 1.8), Correct("faster", 2.2), Correct("fast-once", 2.2),
             Failed("broken", v1::ACCURACY), Failed("broken-once", v1::ACCURACY), Correct("repaired", 2),
             Correct("same", 2), Correct("unclear", 2, 0.02)})},
      {},
      Finds({{"slower", 1.8},
             {"slow-once", 2},
             {"faster", 2.2},
             {"fast-once", 2},
             {"broken", 0},
             {"broken-once", 2},
             {"repaired", 2}},
            asked));
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  // What stayed is not looked at again, whether it is better or worse.
  EXPECT_THAT(asked, ElementsAre(ElementsAre("broken", "broken-once", "fast-once", "faster", "repaired", "slow-once",
                                             "slower")));
  EXPECT_EQ(Changes(*comparison),
            "broken=new-failure slower=slower faster=faster unclear=unclear slow-once=same fast-once=same "
            "broken-once=same repaired=same same=same ");
  for (const GraphChange& graph : comparison->graphs) {
    EXPECT_EQ(graph.at_first.has_value(), graph.graph != "same" && graph.graph != "unclear") << graph.graph;
  }
  EXPECT_EQ(comparison->graphs[0].after, "runtime_fail");  // that of the second look
  EXPECT_EQ(comparison->graphs[5].at_first, Change::kFaster);
  EXPECT_THAT(ComparisonText(*comparison, true), HasSubstr("faster at first"));
  EXPECT_THAT(ComparisonText(*comparison, true), HasSubstr("measured twice"));
}

TEST(Comparison, NothingIsMeasuredWhereNothingDeparts) {
  std::vector<std::set<std::string>> asked;
  const auto comparison = CompareTwice(Evaluation("7"), Evaluation("8"),
                                       {List({Correct("a", 2)}), List({Correct("a", 2)})}, {}, Finds({}, asked));
  ASSERT_TRUE(comparison.ok());
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(CompareTwice(Evaluation("7"), Evaluation("8"), {List({Correct("a", 2)}), List({Correct("a", 1)})}, {},
                         [](const auto&) { return absl::UnavailableError("no worker"); })
                .status(),
            absl::UnavailableError("no worker"));
}

// Where a graph is timed in the second look only, another one may become a departure beside it.
TEST(Comparison, ADepartureOfTheSecondLookIsMeasuredAgainToo) {
  const std::vector<v1::Outcome> before = {Correct("near", 2, 0.0053), Correct("same", 2),
                                           Failed("odd", v1::NAN_MISMATCH)};
  const std::vector<v1::Outcome> after = {Correct("near", 1.9455, 0.0053), Correct("same", 2), Correct("odd", 1)};
  EXPECT_EQ(Changes(Compare(Evaluation("7"), List(before), Evaluation("8"), List(after), {})),
            "odd=repair near=unclear same=same ");
  std::vector<std::set<std::string>> asked;
  const auto comparison = CompareTwice(Evaluation("7"), Evaluation("8"), {List(before), List(after)}, {},
                                       Finds({{"odd", 1}, {"near", 2}}, asked));
  ASSERT_TRUE(comparison.ok());
  EXPECT_THAT(asked, ElementsAre(ElementsAre("odd"), ElementsAre("near")));
  EXPECT_EQ(Changes(*comparison), "odd=slower near=same same=same ");
}

TEST(Comparison, ChangesAreParsed) {
  EXPECT_THAT(*ParseChanges({"slower", "new-failure"}), ElementsAre(Change::kNewFailure, Change::kSlower));
  EXPECT_THAT(std::string(ParseChanges({"worse"}).status().message()), HasSubstr("accepted: new-failure, repair"));
}

TEST(ComparisonText, LeavesOutWhatStayedUnlessAsked) {
  const Comparison comparison = OneOfEach();
  const std::string text = ComparisonText(comparison, false);
  EXPECT_THAT(text, HasSubstr("1 new-failure, 1 repair, 1 other-failure, 1 slower, 1 faster, 2 unclear, 1 same"));
  EXPECT_THAT(text, HasSubstr("correct → accuracy"));
  EXPECT_THAT(text, Not(HasSubstr("\nsame ")));
  EXPECT_THAT(ComparisonText(comparison, true), HasSubstr("\nsame "));
}

TEST(ComparisonText, MarkdownAndXmlAreEscaped) {
  const Comparison comparison = OneOfEach();
  EXPECT_THAT(ComparisonMarkdown(comparison, false), HasSubstr("wrong \\<b\\> \\| \"x\""));
  const std::string junit = ComparisonJunit(comparison, {Change::kNewFailure, Change::kSlower});
  EXPECT_THAT(junit, HasSubstr("tests=\"12\" failures=\"2\" errors=\"0\" skipped=\"3\""));
  EXPECT_THAT(junit, HasSubstr("wrong &lt;b&gt; | &quot;x&quot;"));
  EXPECT_THAT(junit, HasSubstr("<failure type=\"slower\""));
}

TEST(ComparisonText, JsonHasAllGraphs) {
  const auto json = boost::json::parse(ComparisonJson(OneOfEach(), {Change::kSlower}));
  EXPECT_EQ(json.at("graphs").as_array().size(), 12u);
  EXPECT_TRUE(json.at("failed").as_bool());
  EXPECT_EQ(json.at("counts").at("new-failure").to_number<int>(), 1);
  const auto& slower = json.at("graphs").as_array()[3];
  EXPECT_NEAR(slower.at("ratio").to_number<double>(), 0.9, 1e-12);
  EXPECT_LT(slower.at("ratioHigh").to_number<double>(), 0.91);
  EXPECT_FALSE(boost::json::parse(ComparisonJson(OneOfEach(), {})).at("failed").as_bool());
}

}  // namespace
}  // namespace assay::client
