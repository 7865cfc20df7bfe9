// A fingerprint of which operations a graph strings together, without sizes and data: graphs that differ only in names,
// in sizes and other numbers, in the description of their tensors' contents and in graph_net.json share it. One model
// exported for many languages is one structure. Scores weigh graphs of one structure together. Thread safety: a pure
// function.
#pragma once

#include <string>

#include "graph/graph.h"

namespace assay::graph {

// 64 lower-case hex digits: SHA-256 of the operations with their arguments (numbers by kind only), the outputs, and the
// parameters' annotations, ranks and dtypes.
std::string StructureHash(const Graph& graph);

}  // namespace assay::graph
