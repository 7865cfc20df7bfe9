// A fingerprint of what a graph computes, without the data: graphs that differ only in parameters' names, in the
// description of their tensors' contents and in graph_net.json share it. Scores weigh graphs of one structure together.
// Thread safety: a pure function.
#pragma once

#include <string>

#include "graph/graph.h"

namespace assay::graph {

// 64 lower-case hex digits: SHA-256 of the operations with their arguments, the outputs, and the parameters'
// annotations, shapes and dtypes.
std::string StructureHash(const Graph& graph);

}  // namespace assay::graph
