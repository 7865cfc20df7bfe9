#include "client/bisection_text.h"

#include <boost/json.hpp>
#include <cmath>

#include "client/table.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"
#include "graph/callees.h"

namespace assay::client {
namespace {

// As the API writes numbers that JSON lacks.
boost::json::value Number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

bool WasCompared(const v1::Outcome& outcome) {
  return outcome.outcome_class() == v1::CORRECT || outcome.outcome_class() == v1::ACCURACY;
}

std::string OutcomeText(const v1::Outcome& outcome) {
  std::string text = ClassWord(outcome.outcome_class());
  if (WasCompared(outcome)) text += ", t* " + CriticalT(outcome.critical_t());
  if (!outcome.message().empty()) text += ", " + outcome.message();
  return text;
}

// "operation 5" or "operations 5 to 7".
std::string Which(const Bisection& bisection) {
  return bisection.to == bisection.from + 1 ? fmt::format("operation {}", bisection.to)
                                            : fmt::format("operations {} to {}", bisection.from + 1, bisection.to);
}

std::string Conclusion(const Bisection& bisection, size_t operations) {
  const std::string which = Which(bisection);
  const bool one = bisection.to == bisection.from + 1;
  switch (bisection.finding) {
    case Finding::kAgrees:
      return "the whole graph agrees when it is run again: the fault does not show every time\n";
    case Finding::kOperation:
      return fmt::format(
          "{} of {} depart{}, and what {} from those before agrees{}:\n", which, operations, one ? "s" : "",
          one ? "it takes" : "they take",
          bisection.confirmed ? "" : " (in another compilation: the baseline fails where it is returned too)");
    case Finding::kTogether:
      return fmt::format(
          "the first {} operations agree; the first {} depart, but only compiled as one: where what {} is returned "
          "too,\n"
          "{} agrees or departs before. The fault is in how the compiler joins {} with what precedes:\n",
          bisection.from, bisection.to, one ? "the last of them takes" : "the last of them take", which, which);
    case Finding::kWholeGraph:
      return fmt::format(
          "every beginning that was run agrees, up to the first {} of {} operations: the fault appears only in the "
          "whole "
          "graph. Its last step is\n",
          bisection.from, operations);
  }
  return "";
}

std::string WorstText(const v1::OutputComparison& worst) {
  if (worst.output() < 0) return "";
  std::string shape;
  for (const int64_t size : worst.shape()) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", size);
  std::string text = fmt::format("  its result, {}[{}], {} inputs: ", worst.dtype(), shape, worst.input_set());
  // What is correct at a looser level is told by its t*.
  text += worst.output_class() == v1::CORRECT ? "not close enough" : ClassWord(worst.output_class());
  if (!worst.message().empty()) text += ", " + worst.message();
  if (worst.output_class() == v1::CORRECT || worst.output_class() == v1::ACCURACY) {
    text += fmt::format(", t* {}, largest difference {:.3g}, mean {:.3g}", CriticalT(worst.critical_t()),
                        worst.max_abs_diff(), worst.mean_abs_diff());
  }
  if (worst.first_bad_index() >= 0) text += fmt::format(", first at element {}", worst.first_bad_index());
  return text + "\n";
}

}  // namespace

std::string StatementText(const BisectedGraph& graph, size_t operation) {
  const std::vector<std::string> lines = Split(graph.model, '\n');
  const auto line = static_cast<size_t>(graph.graph->operations[operation].location.line) - 1;
  std::string text(Trim(lines[line]));
  // A long statement goes on in lines that are indented deeper.
  for (size_t next = line + 1; next < lines.size() && lines[next].starts_with("            "); ++next) {
    text += ' ';
    text += Trim(lines[next]);
  }
  return text;
}

std::string StepText(const BisectionStep& step, size_t operations) {
  return fmt::format("first {} of {} operations{}: {}", step.operations, operations,
                     step.operands ? ", with what the last takes" : "",
                     step.departs  ? "depart: " + OutcomeText(step.outcome)
                     : step.usable ? "agree, t* " + CriticalT(step.outcome.critical_t())
                                   : "not usable: " + OutcomeText(step.outcome));
}

std::string BisectionText(const BisectedGraph& graph, const Bisection& bisection) {
  const size_t operations = graph.graph->operations.size();
  std::string text = Conclusion(bisection, operations);
  if (bisection.finding == Finding::kAgrees) return text;
  for (size_t i = bisection.from; i < bisection.to; ++i) {
    text += fmt::format("  {:>5}  {}    (line {})\n", i + 1, StatementText(graph, i),
                        graph.graph->operations[i].location.line);
  }
  text += WorstText(bisection.worst);
  text += fmt::format("lines are those of 'assay graph print {}'\n", graph.hash.substr(0, 16));
  return Printable(text);
}

std::string BisectionJson(const BisectedGraph& graph, const Bisection& bisection) {
  boost::json::array statements, steps;
  if (bisection.finding != Finding::kAgrees) {
    for (size_t i = bisection.from; i < bisection.to; ++i) {
      const graph::Operation& operation = graph.graph->operations[i];
      statements.push_back({{"operation", i + 1},
                            {"callee", operation.callee->name},
                            {"line", operation.location.line},
                            {"text", StatementText(graph, i)}});
    }
  }
  for (const BisectionStep& step : bisection.steps) {
    steps.push_back({{"operations", step.operations},
                     {"operands", step.operands},
                     {"departs", step.departs},
                     {"usable", step.usable},
                     {"outcomeClass", v1::OutcomeClass_Name(step.outcome.outcome_class())},
                     {"criticalT", WasCompared(step.outcome) ? Number(step.outcome.critical_t()) : nullptr},
                     {"message", step.outcome.message()}});
  }
  boost::json::object json = {{"evaluation", graph.evaluation},
                              {"graph", graph.name},
                              {"graphHash", graph.hash},
                              {"operations", graph.graph->operations.size()},
                              {"finding", FindingWord(bisection.finding)},
                              {"confirmed", bisection.confirmed},
                              {"statements", std::move(statements)},
                              {"steps", std::move(steps)}};
  if (const v1::OutputComparison& worst = bisection.worst;
      bisection.finding != Finding::kAgrees && worst.output() >= 0) {
    json["worst"] = {{"inputSet", worst.input_set()},
                     {"dtype", worst.dtype()},
                     {"shape", boost::json::array(worst.shape().begin(), worst.shape().end())},
                     {"outputClass", v1::OutcomeClass_Name(worst.output_class())},
                     {"criticalT", Number(worst.critical_t())},
                     {"maxAbsDiff", Number(worst.max_abs_diff())},
                     {"meanAbsDiff", Number(worst.mean_abs_diff())},
                     {"firstBadIndex", worst.first_bad_index()},
                     {"message", worst.message()}};
  }
  return boost::json::serialize(json) + "\n";
}

}  // namespace assay::client
