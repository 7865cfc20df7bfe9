// Narrows a wrong answer of a graph to the first operation whose result departs, by binary search over the graph's
// beginnings (graph/prefix.h), each run by the candidate and by the baseline.
//
// What is kept throughout: all that a beginning hands on agrees, and something that a longer one hands on departs. So
// the operation found is wrong given right operands, whether or not departures further up were hidden again by what
// followed. A last run that returns its operands too tells whether it is wrong by itself or only compiled together with
// what precedes (a fusion).
//
// Thread safety: pure, apart from what the functions given do.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "graph/prefix.h"

namespace assay::client {

// How a graph's run ended.
struct GraphRun {
  v1::Outcome outcome;
  std::vector<v1::OutputComparison> comparisons;  // of every output and input set; none where a side did not run
};
// Runs a beginning on both sides; `name` tells it from the others.
using RunGraph = std::function<absl::StatusOr<GraphRun>(const graph::Graph& graph, const std::string& name)>;

enum class Finding {
  kAgrees,      // the whole graph does not depart when it is run again
  kOperation,   // what the last operations take agrees, and what they give departs
  kTogether,    // beginnings up to there agree; it departs only compiled as one with what precedes
  kWholeGraph,  // the same of the graph's last operations: every beginning agrees
};
std::string_view FindingWord(Finding finding);  // "agrees", "operation", "together", "whole_graph"

struct BisectionStep {
  size_t operations = 0;  // at the beginning of the graph
  bool operands = false;  // what the last of them take was returned too
  bool departs = false;
  bool usable = true;  // the baseline ran
  v1::Outcome outcome;
};

struct Bisection {
  Finding finding = Finding::kAgrees;
  // The operations [from, to), counted from 0: mostly one. More where the graph cannot be cut between them, or the
  // baseline could not run what was cut there.
  size_t from = 0, to = 0;
  bool confirmed = true;             // false: the baseline could not run the graph that returns operands too
  std::vector<BisectionStep> steps;  // as run; the first is the whole graph
  v1::OutputComparison worst;        // of a departing result of these operations; output −1 where none was compared
};

// `tolerance`: results depart where they are not close at this level. FailedPrecondition where the baseline cannot run
// the whole graph.
absl::StatusOr<Bisection> Bisect(const graph::Graph& graph, double tolerance, const RunGraph& run,
                                 const std::function<void(const BisectionStep&)>& on_step);

// Whether an outcome is one that Bisect() would narrow at this level.
bool Departs(const v1::Outcome& outcome, double tolerance);

}  // namespace assay::client
