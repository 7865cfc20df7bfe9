#include "client/bisection.h"

#include <boost/json.hpp>
#include <limits>
#include <set>

#include "client/bisection_text.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "graph/callees.h"
#include "graph/canonical.h"
#include "graph/parse.h"
#include "graph/test_sample.h"

namespace assay::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;

// As the server gives it: canonical, with locations in the canonical text.
struct Loaded {
  graph::Sample sample;
  graph::Graph graph;
};
Loaded Load(std::string_view body) {
  const absl::StatusOr<graph::Graph> graph = graph::Parse(graph::SampleWithBody(body));
  EXPECT_TRUE(graph.ok()) << graph.status();
  Loaded loaded{graph::Canonical(*graph), {}};
  loaded.graph = *graph::Parse(loaded.sample);
  return loaded;
}

// A compiler that is wrong at one callee. What is computed from a wrong value is wrong, but for zeros_like.
struct Compiler {
  std::string wrong_at;
  v1::OutcomeClass outcome_class = v1::ACCURACY;
  bool only_compiles = false;
  size_t from_operations = 0;  // only in graphs of at least so many operations
  bool unless_operand_is_returned = false;
  std::set<size_t> baseline_fails;  // on graphs of so many operations
  bool returns_nan = false;         // both sides, at sqrt
  int runs = 0;

  absl::StatusOr<GraphRun> Run(const graph::Graph& graph) {
    ++runs;
    GraphRun run;
    run.outcome.set_outcome_class(v1::CORRECT);
    run.outcome.set_critical_t(-6);
    if (baseline_fails.contains(graph.operations.size())) {
      run.outcome.set_outcome_class(v1::EAGER_FAIL);
      return run;
    }
    std::vector<bool> wrong(graph.value_count, false), nan(graph.value_count, false);
    bool found = false;
    for (const graph::Operation& operation : graph.operations) {
      bool is_wrong = IsWrong(graph, operation);
      found = found || is_wrong;
      for (const int32_t value : graph::ValuesOf(operation)) is_wrong = is_wrong || wrong[value];
      if (operation.callee->name == "torch.zeros_like") is_wrong = false;
      if (operation.callee->flags.find('m') != std::string_view::npos && is_wrong) {
        wrong[graph::ValuesOf(operation)[0]] = true;
      }
      if (operation.result < 0) continue;
      wrong[operation.result] = is_wrong;
      nan[operation.result] = returns_nan && operation.callee->name == "torch.sqrt";
    }
    if (found && outcome_class != v1::ACCURACY) {
      run.outcome.set_outcome_class(outcome_class);
      return run;
    }
    if (only_compiles) {
      run.outcome.set_outcome_class(v1::COMPILED);
      return run;
    }
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      v1::OutputComparison& comparison = run.comparisons.emplace_back();
      comparison.set_output(static_cast<int>(i));
      const int32_t value = graph.outputs[i];
      comparison.set_output_class(nan[value] ? v1::NAN_MISMATCH : wrong[value] ? v1::ACCURACY : v1::CORRECT);
      comparison.set_degenerate(nan[value]);
      comparison.set_critical_t(wrong[value] ? std::numeric_limits<double>::infinity() : -6);
      if (!wrong[value] && !nan[value]) continue;
      run.outcome.set_outcome_class(nan[value] ? v1::NAN_MISMATCH : v1::ACCURACY);
      run.outcome.set_critical_t(comparison.critical_t());
    }
    return run;
  }

 private:
  bool IsWrong(const graph::Graph& graph, const graph::Operation& operation) const {
    if (operation.callee->name != wrong_at || graph.operations.size() < from_operations) return false;
    if (!unless_operand_is_returned) return true;
    const int32_t operand = graph::ValuesOf(operation)[0];
    return std::find(graph.outputs.begin(), graph.outputs.end(), operand) == graph.outputs.end();
  }
};

Bisection Narrow(const Loaded& loaded, Compiler& compiler) {
  const auto bisection = Bisect(
      loaded.graph, 1, [&](const graph::Graph& graph, const std::string&) { return compiler.Run(graph); },
      [](const BisectionStep&) {});
  EXPECT_TRUE(bisection.ok()) << bisection.status();
  return bisection.ok() ? *bisection : Bisection();
}
std::string Statement(const Loaded& loaded, const Bisection& bisection) {
  EXPECT_EQ(bisection.to, bisection.from + 1);
  return StatementText({"7", "g", "0123456789abcdef", loaded.sample.model, &loaded.graph}, bisection.from);
}

constexpr std::string_view kChain = R"(        a = torch.cos(x)
        b = torch.sin(a)
        c = torch.exp(b)
        d = c + a
        e = torch.tanh(d)
        f = torch.abs(e)
        g = torch.floor(f)
        h = g + f
        return (h,)
)";

TEST(Bisection, FindsTheOperationThatIsWrong) {
  const Loaded loaded = Load(kChain);
  for (const std::string callee : {"torch.cos", "torch.sin", "torch.exp", "torch.tanh", "torch.abs", "torch.floor"}) {
    Compiler compiler{.wrong_at = callee};
    const Bisection bisection = Narrow(loaded, compiler);
    EXPECT_EQ(bisection.finding, Finding::kOperation) << callee;
    EXPECT_THAT(Statement(loaded, bisection), HasSubstr(callee));
    EXPECT_THAT(compiler.runs, Le(5));  // the whole graph, three halvings, and the operands
    EXPECT_THAT(bisection.steps, SizeIs(compiler.runs));
    EXPECT_EQ(bisection.worst.output_class(), v1::ACCURACY);
  }
}

TEST(Bisection, TheLastOperationToo) {
  Compiler compiler{.wrong_at = "operator:+", .from_operations = 8};
  // Both additions are wrong in the whole graph alone: what the last one takes is wrong as well.
  const Loaded loaded = Load(kChain);
  const Bisection bisection = Narrow(loaded, compiler);
  EXPECT_EQ(bisection.finding, Finding::kWholeGraph);
  EXPECT_EQ(bisection.to, 8u);

  const Loaded once = Load("        a = torch.cos(x)\n        b = torch.sin(a)\n        return (b,)\n");
  Compiler last{.wrong_at = "torch.sin"};
  EXPECT_EQ(Narrow(once, last).finding, Finding::kOperation);
}

TEST(Bisection, SaysThatAFaultIsOnlyInALargerGraph) {
  const Loaded loaded = Load(kChain);
  Compiler whole{.wrong_at = "torch.exp", .from_operations = 8};
  EXPECT_EQ(Narrow(loaded, whole).finding, Finding::kWholeGraph);
  Compiler part{.wrong_at = "torch.exp", .from_operations = 6};
  const Bisection bisection = Narrow(loaded, part);
  EXPECT_EQ(bisection.finding, Finding::kTogether);
  EXPECT_EQ(bisection.to, 6u);
  Compiler fused{.wrong_at = "torch.floor", .unless_operand_is_returned = true};
  // The sum behind it uses the operand, too: it is returned where the graph is cut there.
  EXPECT_EQ(Narrow(loaded, fused).finding, Finding::kWholeGraph);
  const Loaded chain = Load(
      "        a = torch.cos(x)\n        b = torch.sin(a)\n        c = torch.exp(b)\n        d = torch.abs(c)\n"
      "        return (d,)\n");
  Compiler fusing{.wrong_at = "torch.exp", .unless_operand_is_returned = true};
  const Bisection joined = Narrow(chain, fusing);
  EXPECT_EQ(joined.finding, Finding::kTogether);
  EXPECT_EQ(Statement(chain, joined), "v3 = torch.exp(v2)");
  const BisectedGraph graph{"7", "g", "0123456789abcdef", chain.sample.model, &chain.graph};
  EXPECT_THAT(BisectionText(graph, joined), HasSubstr("only compiled as one"));
}

TEST(Bisection, WhatIsHiddenLaterIsNotBlamed) {
  const Loaded loaded = Load(R"(        a = torch.cos(x)
        b = torch.zeros_like(a)
        c = torch.exp(b)
        d = torch.abs(c)
        e = torch.cos(d)
        return (e,)
)");
  Compiler compiler{.wrong_at = "torch.cos"};
  const Bisection bisection = Narrow(loaded, compiler);
  EXPECT_EQ(bisection.finding, Finding::kOperation);
  EXPECT_EQ(Statement(loaded, bisection), "v5 = torch.cos(v4)");
}

TEST(Bisection, SaysThatTheFaultDoesNotShowAgain) {
  const Loaded loaded = Load(kChain);
  Compiler compiler{.wrong_at = "torch.log"};
  const Bisection bisection = Narrow(loaded, compiler);
  EXPECT_EQ(bisection.finding, Finding::kAgrees);
  EXPECT_EQ(compiler.runs, 1);
}

TEST(Bisection, WhereTheBaselineFailsItIsNotCut) {
  const Loaded loaded = Load(kChain);
  Compiler compiler{.wrong_at = "torch.exp", .baseline_fails = {2, 3}};
  const Bisection bisection = Narrow(loaded, compiler);
  EXPECT_EQ(bisection.from, 1u);
  EXPECT_EQ(bisection.to, 4u);
  EXPECT_EQ(bisection.finding, Finding::kOperation);
  const BisectedGraph graph{"7", "g", "0123456789abcdef", loaded.sample.model, &loaded.graph};
  EXPECT_THAT(BisectionText(graph, bisection), HasSubstr("operations 2 to 4 of 8 depart, and what they take"));
  Compiler broken{.wrong_at = "torch.exp", .baseline_fails = {8}};
  EXPECT_TRUE(absl::IsFailedPrecondition(
      Bisect(
          loaded.graph, 1, [&](const graph::Graph& given, const std::string&) { return broken.Run(given); },
          [](const BisectionStep&) {})
          .status()));
}

TEST(Bisection, ACompilerThatFailsIsNarrowedInTheSameWay) {
  const Loaded loaded = Load(kChain);
  Compiler compiler{.wrong_at = "torch.tanh", .outcome_class = v1::COMPILE_FAIL};
  const Bisection bisection = Narrow(loaded, compiler);
  EXPECT_EQ(bisection.finding, Finding::kOperation);
  EXPECT_EQ(Statement(loaded, bisection), "v5 = torch.tanh(v4)");
  EXPECT_EQ(bisection.worst.output(), -1);
  Compiler ahead{.wrong_at = "torch.tanh", .outcome_class = v1::COMPILE_FAIL, .only_compiles = true};
  EXPECT_EQ(Statement(loaded, Narrow(loaded, ahead)), "v5 = torch.tanh(v4)");
}

TEST(Bisection, TuplesAndWritesInPlace) {
  const Loaded loaded = Load(R"(        t = torch.chunk(x, 2)
        a = t[0]
        b = t[1]
        c = a + b
        d = c.mul_(2)
        x[0] = d
        e = x.sum()
        return (e, c)
)");
  Compiler tuple{.wrong_at = "torch.chunk"};
  EXPECT_EQ(Statement(loaded, Narrow(loaded, tuple)), "v1 = torch.chunk(x, 2)");
  Compiler in_place{.wrong_at = ".mul_"};
  const Bisection written = Narrow(loaded, in_place);
  EXPECT_EQ(written.finding, Finding::kOperation);
  EXPECT_EQ(Statement(loaded, written), "v5 = v4.mul_(2)");
  Compiler setitem{.wrong_at = "operator:setitem"};
  const Bisection set = Narrow(loaded, setitem);
  EXPECT_EQ(set.finding, Finding::kOperation);
  EXPECT_EQ(Statement(loaded, set), "x[0] = v5");
}

TEST(Bisection, NaNOnBothSidesIsOnlyAFaultWhereTheWholeGraphHasIt) {
  const Loaded hidden = Load(R"(        a = torch.sqrt(x)
        b = torch.cos(x)
        c = torch.abs(b)
        d = torch.zeros_like(a)
        e = torch.exp(d)
        f = e + c
        return (f,)
)");
  Compiler compiler{.wrong_at = "torch.exp", .returns_nan = true};
  EXPECT_EQ(Statement(hidden, Narrow(hidden, compiler)), "v5 = torch.exp(v4)");
  const Loaded shown = Load("        b = torch.cos(x)\n        a = torch.sqrt(b)\n        return (a,)\n");
  const Bisection bisection = Narrow(shown, compiler);
  EXPECT_EQ(Statement(shown, bisection), "v2 = torch.sqrt(v1)");
}

TEST(Bisection, IsToldAsJson) {
  const Loaded loaded = Load(kChain);
  Compiler compiler{.wrong_at = "torch.tanh"};
  const Bisection bisection = Narrow(loaded, compiler);
  const BisectedGraph graph{"7", "g", "0123456789abcdef", loaded.sample.model, &loaded.graph};
  const auto json = boost::json::parse(BisectionJson(graph, bisection));
  EXPECT_EQ(json.at("finding"), "operation");
  EXPECT_EQ(json.at("statements").as_array().at(0).at("callee"), "torch.tanh");
  EXPECT_EQ(json.at("statements").as_array().at(0).at("operation").to_number<int>(), 5);
  EXPECT_EQ(json.at("steps").as_array().at(0).at("criticalT"), "Infinity");
  EXPECT_EQ(json.at("worst").at("outputClass"), "ACCURACY");
  EXPECT_THAT(BisectionText(graph, bisection), HasSubstr("operation 5 of 8 departs"));
  EXPECT_THAT(StepText(bisection.steps[0], 8), HasSubstr("first 8 of 8 operations: depart: accuracy, t* never"));
}

}  // namespace
}  // namespace assay::client
