// Statuses with a word on where they come from. Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "graph/text.h"

namespace assay::pjrt {

inline std::string_view Said(const absl::Status& status) { return {status.message().data(), status.message().size()}; }

// `status` with `prefix` before its message.
inline absl::Status Annotated(const absl::Status& status, std::string_view prefix) {
  return absl::Status(status.code(), graph::Cat(prefix, ": ", Said(status)));
}

}  // namespace assay::pjrt
