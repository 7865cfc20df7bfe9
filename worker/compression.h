// zstd, for what is kept on disk or sent packed.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::worker {

// Empty where there is no memory for it.
std::string Compress(std::string_view bytes);

// Nothing where `packed` is not a whole frame with a content size of at most `maximum`.
std::optional<std::string> Decompress(std::string_view packed, int64_t maximum);

}  // namespace assay::worker
