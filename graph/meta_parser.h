// The parser of weight_meta.py and input_meta.py: classes that describe one tensor each.
// Thread safety: pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/parse.h"

namespace assay::graph {

struct ParsedMeta {
  TensorMeta meta;
  Location location;  // of its class
};

// In file order. Each is whole and checked by itself: known dtype, size within the limits, as many data as elements.
absl::StatusOr<std::vector<ParsedMeta>> ParseMetaFile(std::string_view text, std::string_view file,
                                                      const Limits& limits);

}  // namespace assay::graph
