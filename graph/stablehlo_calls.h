// The functions of a StableHLO module, and whom each calls.
// Thread safety: a pure function.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>

#include "absl/status/status.h"
#include "graph/parse.h"

namespace assay::graph {

struct StableHloFunction {
  size_t operations = 0;
  std::map<std::string_view, size_t> calls;  // how often each is called
  int line = 0, column = 0;
};
using StableHloFunctions = std::map<std::string_view, StableHloFunction>;

// Every function that is called is there, none calls itself, and `main` with all calls expanded is within the limit: a
// compiler puts the bodies in the places of the calls. `main` must be there.
absl::Status CheckCalls(const StableHloFunctions& functions, std::string_view main, const Limits& limits);

}  // namespace assay::graph
