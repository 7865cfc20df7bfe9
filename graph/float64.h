// The same graph in float64, as a reference for what both arms return. Parameters and dtypes that the text names
// (`.to(torch.float16)`, `dtype = torch.float32`, `.float()`) become float64, complex64 becomes complex128; integers
// and bool stay. Autocast stays as it is written: it leaves float64 alone. Tensors that the text makes without naming a
// dtype follow the runner's default dtype, which must be float64 then (`default_dtype` of runner/protocol.md). Thread
// safety: pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace assay::graph {

// float64 of a real floating-point type, complex128 of a complex one, any other itself. Precondition: not fp8.
DType Widened(DType dtype);

// Unimplemented says why there is no such graph: it draws random numbers (another stream in float64), has fp8 (whose
// rounding is what it computes), or reads the bits of one dtype as another.
absl::StatusOr<Graph> InFloat64(const Graph& graph);

}  // namespace assay::graph
