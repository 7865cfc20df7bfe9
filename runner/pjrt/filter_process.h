// Runs a command as a filter: bytes to its standard input, its standard output back. It inherits standard error and no
// other descriptor that is close-on-exec.
// Thread safety: any number of threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::pjrt {

// FailedPrecondition where the command cannot be started; Internal says how it ended where that was not with 0;
// ResourceExhausted where it was killed (out of memory, as a rule) or wrote more than `max_bytes`.
absl::StatusOr<std::string> RunFilter(const std::vector<std::string>& command, std::string_view input,
                                      size_t max_bytes);

}  // namespace assay::pjrt
