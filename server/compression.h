// zstd, for what the store keeps packed.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace assay::server {

std::string Compress(std::string_view bytes);

// DataLoss where `packed` is not a whole zstd frame with a content size of at most `limit`.
absl::StatusOr<std::string> Decompress(std::string_view packed, size_t limit = size_t{256} << 20);

}  // namespace assay::server
