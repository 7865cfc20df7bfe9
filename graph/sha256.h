// SHA-256 of bytes.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::graph {

std::array<uint8_t, 32> Sha256(std::string_view bytes);
// 64 lower-case hex digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace assay::graph
