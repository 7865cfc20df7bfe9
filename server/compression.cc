#include "server/compression.h"

#include <zstd.h>

#include "server/text.h"

namespace assay::server {

std::string Compress(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

absl::StatusOr<std::string> Decompress(std::string_view packed, size_t limit) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > limit) {
    return absl::DataLossError("a stored value is not a zstd frame of an acceptable size");
  }
  std::string out(size, '\0');
  const size_t got = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) || got != size) {
    return absl::DataLossError(Cat("a stored value does not decompress: ",
                                   ZSTD_isError(got) ? ZSTD_getErrorName(got) : "it is shorter than it says"));
  }
  return out;
}

}  // namespace assay::server
