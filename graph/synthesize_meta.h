// Makes up the descriptions of a sample's tensors where weight_meta.py is missing, from the shapes that GraphNet's
// input_tensor_constraints.py lists. That file is read by the same bounded lexer as the others and never executed:
//
//   from sympy import NAME, …
//   S0 = Symbol("S0")
//   dynamic_dim_constraint_symbols = [S0, …]
//   dynamic_dim_constraint_symbol2example_value = {S0: 1, …}
//   dynamic_dim_constraint_relations = […]
//   dynamic_dim_constraint_input_shapes = [([S0, 3, 224, 224], "L_x_"), …]
//
// A size is an integer or a symbol, which takes its example value. Tensors are float32, with the mean and standard
// deviation of their role (role.h); counters of batches (num_batches_tracked) are int64 and 0. What the values really
// were is not known.
// Thread safety: a pure function.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/parse.h"

namespace assay::graph {

inline constexpr std::string_view kConstraintsFile = "input_tensor_constraints.py";

// The text of a weight_meta.py for this model.py. The error has a place (DiagnosticOf()): what of the constraints is
// outside of the grammar, or which parameter has no shape there.
absl::StatusOr<std::string> SynthesizeWeightMeta(std::string_view model, std::string_view constraints,
                                                 const Limits& limits = {});

}  // namespace assay::graph
