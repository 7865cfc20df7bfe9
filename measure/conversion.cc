#include "measure/conversion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "measure/element.h"

namespace assay::measure {
namespace {

using graph::DType;

template <typename T>
void Put(std::span<std::byte> to, int64_t index, T value) {
  std::memcpy(to.data() + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

// A format with `bits` bits of significand, the hidden one included, whose smallest normal value is 2^least.
struct Format {
  int bits, least;
  double largest;
};
constexpr Format kHalf = {11, -14, 65504.0};
constexpr Format kBFloat16 = {8, -126, 0x1.FEp127};

// `value` rounded to the format. The steps between its values are powers of two, so dividing and multiplying are exact.
double Round(const Format& format, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), format.least);
  const int step = exponent - (format.bits - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
  if (std::abs(rounded) <= format.largest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

// The bits of a value that is one of the format's.
uint16_t HalfBits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  const double magnitude = std::abs(value);
  if (std::isinf(magnitude)) return sign | 0x7c00;
  if (magnitude < 0x1p-14) return sign | static_cast<uint16_t>(std::ldexp(magnitude, 24));  // subnormal: units of 2^-24
  const int exponent = std::ilogb(magnitude);
  const auto significand = static_cast<uint16_t>(std::ldexp(magnitude, 10 - exponent));  // 1024 to 2047
  return static_cast<uint16_t>(sign | ((exponent + 15) << 10) | (significand & 0x3ff));
}

uint16_t BFloat16Bits(double value) {
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}

void Narrow(DType dtype, double value, std::span<std::byte> to, int64_t index) {
  switch (dtype) {
    case DType::kFloat16:
      return Put(to, index, HalfBits(Round(kHalf, value)));
    case DType::kBFloat16:
      return Put(to, index, BFloat16Bits(Round(kBFloat16, value)));
    case DType::kFloat32:
    case DType::kComplex64:
      return Put(to, index, static_cast<float>(value));
    default:
      return Put(to, index, value);
  }
}

}  // namespace

void ToFloat64(DType dtype, std::span<const std::byte> from, std::span<std::byte> to) {
  internal::VisitElement(dtype, [&](auto element) {
    using Element = decltype(element);
    const auto count = static_cast<int64_t>(from.size()) / Element::kBytes;
    for (int64_t i = 0; i < count; ++i) {
      const auto value = Element::Read(from.data(), i);
      if constexpr (std::is_same_v<typename Element::Value, std::complex<double>>) {
        Put(to, 2 * i, value.real());
        Put(to, 2 * i + 1, value.imag());
      } else {
        Put(to, i, static_cast<double>(value));
      }
    }
  });
}

void FromFloat64(DType dtype, std::span<const std::byte> from, std::span<std::byte> to) {
  const auto count = static_cast<int64_t>(from.size() / sizeof(double));  // of a complex number each part is one
  for (int64_t i = 0; i < count; ++i) Narrow(dtype, internal::ReadAs<double>(from.data(), i), to, i);
}

}  // namespace assay::measure
