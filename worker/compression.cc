#include "worker/compression.h"

#include <zstd.h>

namespace assay::worker {

std::string Compress(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3);
  packed.resize(ZSTD_isError(size) ? 0 : size);
  return packed;
}

std::optional<std::string> Decompress(std::string_view packed, int64_t maximum) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  // The codes of errors are larger as well.
  if (size > static_cast<unsigned long long>(maximum)) return std::nullopt;
  std::string bytes(size, '\0');
  const size_t read = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(read) || read != bytes.size()) return std::nullopt;
  return bytes;
}

}  // namespace assay::worker
