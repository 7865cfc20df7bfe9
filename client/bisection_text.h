// A bisection as people and programs read it.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "client/bisection.h"

namespace assay::client {

struct BisectedGraph {
  std::string evaluation, name, hash;
  std::string model;  // canonical; the graph's locations are in it
  const graph::Graph* graph = nullptr;
};

// The statement of an operation in the canonical model, on one line: "v5 = torch.cos(v4)".
std::string StatementText(const BisectedGraph& graph, size_t operation);

// "first 12 of 40 operations: depart: accuracy, t* never".
std::string StepText(const BisectionStep& step, size_t operations);

std::string BisectionText(const BisectedGraph& graph, const Bisection& bisection);
// One line.
std::string BisectionJson(const BisectedGraph& graph, const Bisection& bisection);

}  // namespace assay::client
