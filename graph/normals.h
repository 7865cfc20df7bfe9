// Random words and normal numbers by counter: Philox 4x32-10 and Box–Muller, in basic IEEE 754 operations and own
// polynomials only, so that the bits are the same on every host, for every instruction set, in any order.
//
// Elements come in groups of 64, made of 16 counters of 4 words each: element i takes word i/16%4 of counter
// 16·(i/64) + i%16. So a group is 4 rows of 16 lanes, which is how vector units want it.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>

namespace assay::graph {

inline constexpr int64_t kGroup = 64;

struct PhiloxKey {
  std::array<uint32_t, 2> key;
  std::array<uint32_t, 2> nonce;  // the upper half of every counter
};

// One counter's four words; the reference that the vector code is tested against.
std::array<uint32_t, 4> Philox(const PhiloxKey& key, uint64_t counter);

// The words of `groups` groups from group number `first` on.
void RandomWords(const PhiloxKey& key, uint64_t first, int64_t groups, uint32_t* out);

// Standard normal numbers of `groups` groups from group number `first` on; finite, at most 5.8 in magnitude.
void NormalNumbers(const PhiloxKey& key, uint64_t first, int64_t groups, float* out);
// The same bits by the instructions that every host has.
void NormalNumbersBaseline(const PhiloxKey& key, uint64_t first, int64_t groups, float* out);

}  // namespace assay::graph
