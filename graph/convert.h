// Float32 to the narrower floating types, rounding to the nearest, ties to even; what is too large becomes infinity, or
// NaN where the type has none (float8_e4m3fn). Vectorisable, the same on every host.
// Thread safety: pure functions.
#pragma once

#include <bit>
#include <cstdint>

namespace assay::graph {

inline uint16_t ToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

inline uint16_t ToFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  // Subnormal results: the addition of 0.5 rounds at the right place.
  const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  const uint32_t normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  const uint32_t special = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
  uint32_t result = magnitude < 0x38800000 ? small : normal;
  result = magnitude >= 0x477ff000 ? special : result;  // what rounds to 65,536 and more
  return static_cast<uint16_t>(sign | result);
}

// The 8-bit types, by exponent bits E and mantissa bits M.
template <int E, int M, bool kFinite>
uint8_t ToFloat8(float value) {
  constexpr int kBias = (1 << (E - 1)) - 1;
  constexpr uint32_t kInfinity = ((1u << E) - 1) << M;  // the code of infinity, where there is one
  constexpr uint32_t kLargest = kFinite ? kInfinity + (1u << M) - 2 : kInfinity - 1;
  constexpr uint32_t kNan = kFinite ? 0x7f : kInfinity + (1u << (M - 1));
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 24) & 0x80;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint8_t>(sign | kNan);
  uint32_t code;
  if (magnitude < static_cast<uint32_t>(127 - kBias + 1) << 23) {
    // Subnormal: adding 2^(1 − bias − M + 23) leaves the code in the low bits.
    constexpr uint32_t kMagic = static_cast<uint32_t>(127 + 1 - kBias - M + 23) << 23;
    code = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic)) - kMagic;
  } else {
    const uint32_t rebased = magnitude - (static_cast<uint32_t>(127 - kBias) << 23);
    code = (rebased + (1u << (22 - M)) - 1 + ((rebased >> (23 - M)) & 1)) >> (23 - M);
  }
  if (code > kLargest) code = kFinite ? kNan : kInfinity;
  return static_cast<uint8_t>(sign | code);
}

inline uint8_t ToFloat8E4M3FN(float value) { return ToFloat8<4, 3, true>(value); }
inline uint8_t ToFloat8E5M2(float value) { return ToFloat8<5, 2, false>(value); }

}  // namespace assay::graph
