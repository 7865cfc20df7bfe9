// Reads graph_net.json, of which little is kept; it must be a JSON object that names the framework.
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/parse.h"

namespace assay::graph {

absl::StatusOr<SampleInfo> ParseInfoFile(std::string_view text, const Limits& limits);

}  // namespace assay::graph
