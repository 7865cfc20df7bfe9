// The parser of model.py alone; parse.h joins it with the other files of a sample.
// Thread safety: pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/parse.h"

namespace assay::graph {

inline constexpr std::string_view kModelFile = "model.py";

// As ParseModel() (parse.h); the locations of the parameters' names in the file are left in `locations`.
absl::StatusOr<Graph> ParseModelFile(std::string_view text, const Limits& limits, std::vector<Location>* locations);

}  // namespace assay::graph
