// Chooses graphs of a suite that represent it within a time budget, for example for a compiler's continuous
// integration.
//
// What it costs to evaluate a graph is estimated from earlier outcomes, else from its size (EstimateCosts). What a
// choice is worth: half of the value lies in structures, each worth as much as the graphs that it stands for; the other
// half in equal parts in callees, size classes and sources, each of which is worth the same. Every further graph with a
// feature adds half as much as the one before, so that the choice spreads. ChooseSubset() takes, again and again, what
// adds most value a second and still fits.
// Thread safety: pure functions. Equal input gives equal output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::server {

// What is known of a graph's cost.
struct CostFacts {
  int64_t operations = 0, parameter_bytes = 0;
  // Medians of earlier outcomes, where there are some that were timed.
  std::optional<double> compile_seconds;
  std::optional<double> pair_seconds;  // a call of each arm
  // Median wall time of outcomes that ended before timing.
  std::optional<double> failed_seconds;
};

// Seconds that one trial of each takes, with at most `timing_seconds` of timing where calls are short. Where nothing is
// known, sizes decide, scaled to the graphs of which something is.
std::vector<double> EstimateCosts(const std::vector<CostFacts>& facts, double timing_seconds);

struct SubsetCandidate {
  double seconds = 0;
  int graphs = 1;         // that it stands for
  std::string structure;  // of equal value for candidates of one structure
  std::vector<std::string> callees;
  std::string size, source;
};

// Positions of the chosen, ascending.
std::vector<size_t> ChooseSubset(const std::vector<SubsetCandidate>& candidates, double budget_seconds);

// The size class of a graph: powers of four of its operations and of the bytes of its parameters.
std::string SizeClass(int64_t operations, int64_t parameter_bytes);

// The source in a graph's name in its suite: "timm" of "timm/resnet18"; empty where the name has no folder.
std::string SourceOf(const std::string& name);

}  // namespace assay::server
