// Compiled with -O3 -ffp-contract=off: a fused multiply-add would round differently where there is one.
#include "graph/normals.h"

#include <bit>
#include <cmath>

namespace assay::graph {
namespace {

constexpr int kLanes = 16;
constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

struct Words {
  uint32_t x[4];
};

[[gnu::always_inline]] inline Words Rounds(Words c, uint32_t key0, uint32_t key1) {
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * c.x[0];
    const uint64_t product1 = uint64_t{kMultiplier1} * c.x[2];
    c = {{static_cast<uint32_t>(product1 >> 32) ^ c.x[1] ^ key0, static_cast<uint32_t>(product1),
          static_cast<uint32_t>(product0 >> 32) ^ c.x[3] ^ key1, static_cast<uint32_t>(product0)}};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return c;
}

// The natural logarithm of u in [2^-24, 1]: fdlibm's reduction and polynomial for float32.
[[gnu::always_inline]] inline float Log(float u) {
  uint32_t bits = std::bit_cast<uint32_t>(u) + (0x3f800000 - 0x3f3504f3);
  const float exponent = static_cast<float>(static_cast<int32_t>(bits >> 23) - 127);
  bits = (bits & 0x007fffff) + 0x3f3504f3;
  const float f = std::bit_cast<float>(bits) - 1.0f;
  const float s = f / (2.0f + f);
  const float z = s * s;
  const float w = z * z;
  const float r = z * (0.66666662693f + w * 0.28498786688f) + w * (0.40000972152f + w * 0.24279078841f);
  const float half = 0.5f * f * f;
  return s * (half + r) + exponent * 9.0580006145e-06f - half + f + exponent * 6.9313812256e-01f;
}

// Two words to two normal numbers.
[[gnu::always_inline]] inline void BoxMuller(uint32_t word0, uint32_t word1, float* first, float* second) {
  const float u = static_cast<float>(static_cast<int32_t>(word0 >> 8) + 1) * 0x1p-24f;  // (0, 1]
  const float radius = std::sqrt(-2.0f * Log(u));
  // The angle in turns, [-1/2, 1/2]; the nearest quarter is taken off, which is exact.
  const float turns = static_cast<float>(static_cast<int32_t>(word1)) * 0x1p-32f;
  const int32_t quarter = static_cast<int32_t>(4.0f * turns + 2.5f) - 2;
  const float x = (turns - static_cast<float>(quarter) * 0.25f) * 6.2831853072f;  // [-π/4, π/4]
  const float z = x * x;
  const float sine = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * x + x;
  const float cosine =
      ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * z * z - 0.5f * z + 1.0f;
  const uint32_t sine_bits = std::bit_cast<uint32_t>(sine), cosine_bits = std::bit_cast<uint32_t>(cosine);
  const auto q = static_cast<uint32_t>(quarter);
  const uint32_t swap = 0u - (q & 1);  // all ones in the odd quarters
  const uint32_t mixed = (sine_bits ^ cosine_bits) & swap;
  const uint32_t cosine_sign = ((q + 1) & 2) << 30, sine_sign = (q & 2) << 30;
  *first = radius * std::bit_cast<float>((cosine_bits ^ mixed) ^ cosine_sign);
  *second = radius * std::bit_cast<float>((sine_bits ^ mixed) ^ sine_sign);
}

[[gnu::always_inline]] inline void WordsLoop(const PhiloxKey& key, uint64_t first, int64_t groups, uint32_t* out) {
  const uint32_t key0 = key.key[0], key1 = key.key[1], nonce0 = key.nonce[0], nonce1 = key.nonce[1];
  for (int64_t group = 0; group < groups; ++group, out += kGroup) {
    const uint64_t counter = (first + static_cast<uint64_t>(group)) * kLanes;
    const auto low = static_cast<uint32_t>(counter), high = static_cast<uint32_t>(counter >> 32);
#pragma GCC ivdep
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const Words words = Rounds({{low + lane, high, nonce0, nonce1}}, key0, key1);
      out[lane] = words.x[0];
      out[kLanes + lane] = words.x[1];
      out[2 * kLanes + lane] = words.x[2];
      out[3 * kLanes + lane] = words.x[3];
    }
  }
}

// Rows 0 and 1 of a group make its rows 0 and 1, rows 2 and 3 the others.
[[gnu::always_inline]] inline void NormalsLoop(const PhiloxKey& key, uint64_t first, int64_t groups, float* out) {
  uint32_t words[kGroup];
  for (int64_t group = 0; group < groups; ++group, out += kGroup) {
    WordsLoop(key, first + static_cast<uint64_t>(group), 1, words);
    for (int row = 0; row < 4; row += 2) {
      const uint32_t* const word = words + row * kLanes;
      float* const number = out + row * kLanes;
#pragma GCC ivdep
      for (int lane = 0; lane < kLanes; ++lane) {
        BoxMuller(word[lane], word[kLanes + lane], &number[lane], &number[kLanes + lane]);
      }
    }
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void NormalsAvx2(const PhiloxKey& key, uint64_t first, int64_t groups, float* out) {
  NormalsLoop(key, first, groups, out);
}
bool HasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}
#endif

}  // namespace

std::array<uint32_t, 4> Philox(const PhiloxKey& key, uint64_t counter) {
  const Words words =
      Rounds({{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), key.nonce[0], key.nonce[1]}},
             key.key[0], key.key[1]);
  return {words.x[0], words.x[1], words.x[2], words.x[3]};
}

void RandomWords(const PhiloxKey& key, uint64_t first, int64_t groups, uint32_t* out) {
  WordsLoop(key, first, groups, out);
}

void NormalNumbers(const PhiloxKey& key, uint64_t first, int64_t groups, float* out) {
#if defined(__x86_64__)
  if (HasAvx2()) return NormalsAvx2(key, first, groups, out);
#endif
  NormalNumbersBaseline(key, first, groups, out);
}

void NormalNumbersBaseline(const PhiloxKey& key, uint64_t first, int64_t groups, float* out) {
  NormalsLoop(key, first, groups, out);
}

}  // namespace assay::graph
