#include "measure/tolerance_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

// Vectors wider than the base level's registers are only passed between functions that are inlined into one.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace assay::measure::internal {
namespace {

template <typename T, int kWidth>
using Vector [[gnu::vector_size(sizeof(T) * kWidth)]] = T;

template <typename V>
[[gnu::always_inline]] inline V Load(const std::byte* from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}

// How kWidth elements become doubles.
struct Float64 {
  static constexpr int kBytes = 8;
  template <int kWidth>
  [[gnu::always_inline]] static inline Vector<double, kWidth> Widen(const std::byte* from) {
    return Load<Vector<double, kWidth>>(from);
  }
};

struct Float32 {
  static constexpr int kBytes = 4;
  template <int kWidth>
  [[gnu::always_inline]] static inline Vector<double, kWidth> Widen(const std::byte* from) {
    return __builtin_convertvector(Load<Vector<float, kWidth>>(from), Vector<double, kWidth>);
  }
};

struct BFloat16 {
  static constexpr int kBytes = 2;
  template <int kWidth>
  [[gnu::always_inline]] static inline Vector<double, kWidth> Widen(const std::byte* from) {
    const auto bits = __builtin_convertvector(Load<Vector<uint16_t, kWidth>>(from), Vector<uint32_t, kWidth>) << 16;
    return __builtin_convertvector(reinterpret_cast<Vector<float, kWidth>>(bits), Vector<double, kWidth>);
  }
};

struct Float16 {
  static constexpr int kBytes = 2;
  template <int kWidth>
  [[gnu::always_inline]] static inline Vector<double, kWidth> Widen(const std::byte* from) {
    using Bits = Vector<uint32_t, kWidth>;
    using Floats = Vector<float, kWidth>;
    const Bits half = __builtin_convertvector(Load<Vector<uint16_t, kWidth>>(from), Bits);
    // Exponent and mantissa moved into place, then the exponent's bias corrected by a product, which is right for
    // subnormal halves too; infinities and NaN get their exponent afterwards.
    const Floats moved = reinterpret_cast<Floats>((half & 0x7fffu) << 13) * 0x1p112f;
    const Bits special = reinterpret_cast<Bits>((half & 0x7c00u) == 0x7c00u) & 0x7f800000u;
    const Bits bits = reinterpret_cast<Bits>(moved) | special | ((half & 0x8000u) << 16);
    return __builtin_convertvector(reinterpret_cast<Floats>(bits), Vector<double, kWidth>);
  }
};

template <typename Element, int kWidth>
struct Lanes {
  using Doubles = Vector<double, kWidth>;
  using Mask = Vector<int64_t, kWidth>;
  Doubles sum = {};
  Doubles largest = {};
  Mask held = ~Mask{};

  [[gnu::always_inline]] inline void Add(const std::byte* x, const std::byte* y, double atol, double rtol) {
    constexpr int64_t kMagnitude = std::numeric_limits<int64_t>::max();
    const Doubles baseline = Element::template Widen<kWidth>(y);
    const Doubles signed_difference = Element::template Widen<kWidth>(x) - baseline;
    const Doubles difference = reinterpret_cast<Doubles>(reinterpret_cast<Mask>(signed_difference) & kMagnitude);
    const Doubles magnitude = reinterpret_cast<Doubles>(reinterpret_cast<Mask>(baseline) & kMagnitude);
    held &= difference <= atol + rtol * magnitude;
    sum += difference;
    largest = difference > largest ? difference : largest;
  }
};

template <typename Element, int kWidth>
[[gnu::always_inline]] inline BlockSums Sweep(const std::byte* x, const std::byte* y, int64_t count, double atol,
                                              double rtol) {
  constexpr int kUnroll = 2;
  constexpr int64_t kStep = int64_t{kWidth} * Element::kBytes;
  Lanes<Element, kWidth> lanes[kUnroll];
  int64_t i = 0;
  for (; i + kUnroll * kWidth <= count; i += kUnroll * kWidth) {
    const int64_t offset = i * Element::kBytes;
    lanes[0].Add(x + offset, y + offset, atol, rtol);
    lanes[1].Add(x + offset + kStep, y + offset + kStep, atol, rtol);
  }
  for (; i < count; i += kWidth) {
    // The rest, filled up with zeros: equal elements, which change nothing.
    std::byte rest[2][kStep] = {};
    const size_t bytes = static_cast<size_t>(std::min<int64_t>(kWidth, count - i) * Element::kBytes);
    std::memcpy(rest[0], x + i * Element::kBytes, bytes);
    std::memcpy(rest[1], y + i * Element::kBytes, bytes);
    lanes[0].Add(rest[0], rest[1], atol, rtol);
  }
  BlockSums sums;
  for (const Lanes<Element, kWidth>& part : lanes) {
    for (int lane = 0; lane < kWidth; ++lane) {
      sums.sum += part.sum[lane];
      sums.largest = std::max(sums.largest, part.largest[lane]);
      sums.exceeded |= part.held[lane] == 0;
    }
  }
  return sums;
}

template <typename Element>
BlockSums Base(const std::byte* x, const std::byte* y, int64_t count, double atol, double rtol) {
  return Sweep<Element, 2>(x, y, count, atol, rtol);
}

#if defined(__x86_64__)
template <typename Element>
[[gnu::target("avx2,fma")]] BlockSums Avx2(const std::byte* x, const std::byte* y, int64_t count, double atol,
                                           double rtol) {
  return Sweep<Element, 4>(x, y, count, atol, rtol);
}

template <typename Element>
[[gnu::target("avx512f,avx512vl,avx512bw,avx512dq")]] BlockSums Avx512(const std::byte* x, const std::byte* y,
                                                                       int64_t count, double atol, double rtol) {
  return Sweep<Element, 8>(x, y, count, atol, rtol);
}
#endif

template <typename Element>
std::span<const BlockFunction> Supported() {
  static const std::vector<BlockFunction> functions = [] {
    std::vector<BlockFunction> found = {&Base<Element>};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(&Avx2<Element>);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq")) {
      found.push_back(&Avx512<Element>);
    }
#endif
    return found;
  }();
  return functions;
}

// A float of one sign bit, `exponent_bits` and the rest mantissa, IEEE-like except for its specials.
float SmallFloat(uint32_t magnitude, int mantissa_bits, int bias) {
  const int exponent = static_cast<int>(magnitude >> mantissa_bits);
  const uint32_t mantissa = magnitude & ((1u << mantissa_bits) - 1);
  if (exponent == 0) return std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits);
  return std::ldexp(static_cast<float>(mantissa | (1u << mantissa_bits)), exponent - bias - mantissa_bits);
}

}  // namespace

std::span<const BlockFunction> BlockFunctions(graph::DType dtype) {
  switch (dtype) {
    case graph::DType::kFloat16:
      return Supported<Float16>();
    case graph::DType::kBFloat16:
      return Supported<BFloat16>();
    case graph::DType::kFloat32:
      return Supported<Float32>();
    case graph::DType::kFloat64:
      return Supported<Float64>();
    default:
      return {};
  }
}

BlockFunction FindBlockFunction(graph::DType dtype) {
  const std::span<const BlockFunction> functions = BlockFunctions(dtype);
  return functions.empty() ? nullptr : functions.back();
}

float HalfToFloat(uint16_t bits) {
  const uint32_t magnitude = bits & 0x7fffu;
  const float sign = (bits & 0x8000u) != 0 ? -1.0f : 1.0f;
  if (magnitude > 0x7c00u) return std::numeric_limits<float>::quiet_NaN();
  if (magnitude == 0x7c00u) return sign * std::numeric_limits<float>::infinity();
  return sign * SmallFloat(magnitude, 10, 15);
}

float Float8E4M3FNToFloat(uint8_t bits) {
  const uint32_t magnitude = bits & 0x7fu;
  if (magnitude == 0x7fu) return std::numeric_limits<float>::quiet_NaN();
  return ((bits & 0x80u) != 0 ? -1.0f : 1.0f) * SmallFloat(magnitude, 3, 7);
}

float Float8E5M2ToFloat(uint8_t bits) { return HalfToFloat(static_cast<uint16_t>(bits << 8)); }

}  // namespace assay::measure::internal
