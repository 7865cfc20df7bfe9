// What a StableHLO graph may consist of: the operations and the names of attributes, in one table each. An operation
// that is not here is refused: custom_call and everything else that names code, hosts, files, tokens, channels or
// devices, what draws numbers without a seed, and dynamic shapes. Thread safety: pure functions.
#pragma once

#include <string_view>

namespace assay::graph {

// "stablehlo.add", "chlo.erf", "func.call"; also the short forms "call" and "return".
bool IsStableHloOperation(std::string_view name);
// The name of an attribute of an operation: "slice_sizes".
bool IsStableHloAttribute(std::string_view name);

}  // namespace assay::graph
