// Makes the errors of the parsers: a status whose message names the place, and which carries it as a payload for
// DiagnosticOf() (parse.h).
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace assay::graph {

absl::Status Refusal(absl::StatusCode code, std::string_view file, int line, int column, std::string_view message);

// A piece of a source for a message: in quotes, unprintable bytes escaped, shortened.
std::string Quoted(std::string_view text);

}  // namespace assay::graph
