#include "graph/sha256.h"

#include <openssl/sha.h>

namespace assay::graph {

std::array<uint8_t, 32> Sha256(std::string_view bytes) {
  std::array<uint8_t, 32> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

std::string Sha256Hex(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : Sha256(bytes)) out += {kHex[byte >> 4], kHex[byte & 15]};
  return out;
}

}  // namespace assay::graph
