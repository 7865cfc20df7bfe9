// Binds a checked graph: runs it once on the public inputs and gives the Program that does the same.
// Thread safety: none.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "graph/graph.h"
#include "runner/torch/program.h"

namespace assay::torch_runner {

// `inputs` are the parameters in order; running the graph changes those that Program::mutated names. Throws
// Unsupported, which names the callee, or what an operator throws, with the callee's place put before.
Program BindGraph(const graph::Graph& graph, std::span<const at::Tensor> inputs, c10::Device device);

}  // namespace assay::torch_runner
