// Reads a StableHLO module as MLIR prints it: one `func.func @main` with static shapes and the functions that it calls.
// A closed grammar over tokens, with the operations and attributes of stablehlo_names.h and nothing else; what it
// prints is built from checked tokens only, so that no operation reaches a compiler that was not looked up in that
// table. Types and the meaning of attributes are the compiler's to verify.
//
// Bounded besides the size of the file: nesting, operations (calls expanded), arguments, and the bytes that each type
// claims. Locations, attributes of modules, functions and arguments, and names are dropped.
// Thread safety: a pure function.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/parse.h"

namespace assay::graph {

// A graph whose parameters are the arguments of @main, named arg0, arg1 …, without a description of their contents.
absl::StatusOr<Graph> ParseStableHloText(std::string_view text, const Limits& limits);

}  // namespace assay::graph
