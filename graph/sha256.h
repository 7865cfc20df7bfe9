// SHA-256 of bytes.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace assay::graph {

std::array<uint8_t, 32> Sha256(std::string_view bytes);
// 64 lower-case hex digits; of pieces, the hash of all of them one behind the other.
std::string Sha256Hex(std::string_view bytes);
std::string Sha256HexOfPieces(std::initializer_list<std::string_view> pieces);

}  // namespace assay::graph
