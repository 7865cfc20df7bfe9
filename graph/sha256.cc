#include "graph/sha256.h"

#include <openssl/evp.h>

#include <memory>

namespace assay::graph {
namespace {

std::array<uint8_t, 32> Digest(std::initializer_list<std::string_view> pieces) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  for (const std::string_view piece : pieces) EVP_DigestUpdate(context.get(), piece.data(), piece.size());
  std::array<uint8_t, 32> digest;
  EVP_DigestFinal_ex(context.get(), digest.data(), nullptr);
  return digest;
}

}  // namespace

std::array<uint8_t, 32> Sha256(std::string_view bytes) { return Digest({bytes}); }

std::string Sha256Hex(std::string_view bytes) { return Sha256HexOfPieces({bytes}); }

std::string Sha256HexOfPieces(std::initializer_list<std::string_view> pieces) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : Digest(pieces)) out += {kHex[byte >> 4], kHex[byte & 15]};
  return out;
}

}  // namespace assay::graph
