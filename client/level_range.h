// The levels t that a user asks for: "FROM:TO:STEP", "FROM:TO" in steps of 1, or one level.
// Thread safety: a pure function.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"

namespace assay::client {

struct LevelRange {
  double from = 0, to = 0;
  double step = 1;  // above 0
};

// InvalidArgument, with what is wrong, where the text is nothing of the kind.
absl::StatusOr<LevelRange> ParseLevelRange(std::string_view text);

}  // namespace assay::client
