// How the elements of each dtype are read from raw bytes and compared, one at a time.
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "graph/dtype.h"
#include "measure/tolerance_kernel.h"

namespace assay::measure::internal {

template <typename T>
T ReadAs(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// A real number stored as `Stored`; `convert` gives its value.
template <typename Stored, auto convert>
struct RealElement {
  using Value = double;
  static constexpr int64_t kBytes = sizeof(Stored);
  static Value Read(const std::byte* data, int64_t index) { return convert(ReadAs<Stored>(data, index)); }
};

template <typename T>
struct IntegerElement {
  using Value = T;
  static constexpr int64_t kBytes = sizeof(T);
  static Value Read(const std::byte* data, int64_t index) { return ReadAs<T>(data, index); }
};

struct BoolElement {
  using Value = uint8_t;
  static constexpr int64_t kBytes = 1;
  static Value Read(const std::byte* data, int64_t index) { return ReadAs<uint8_t>(data, index) != 0 ? 1 : 0; }
};

template <typename T>
struct ComplexElement {
  using Value = std::complex<double>;
  static constexpr int64_t kBytes = 2 * sizeof(T);
  static Value Read(const std::byte* data, int64_t index) {
    return {ReadAs<T>(data, 2 * index), ReadAs<T>(data, 2 * index + 1)};
  }
};

inline double FromFloat(float value) { return value; }
inline double FromDouble(double value) { return value; }
inline double FromHalf(uint16_t bits) { return HalfToFloat(bits); }
inline double FromBFloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// The 256 values of an 8-bit format.
template <float (*decode)(uint8_t)>
double FromTable(uint8_t bits) {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values;
    for (int i = 0; i < 256; ++i) values[static_cast<size_t>(i)] = decode(static_cast<uint8_t>(i));
    return values;
  }();
  return table[bits];
}

// Calls `visit` with an object of the dtype's element type.
template <typename Visitor>
auto VisitElement(graph::DType dtype, Visitor&& visit) {
  using graph::DType;
  switch (dtype) {
    case DType::kBool:
      return visit(BoolElement());
    case DType::kUInt8:
      return visit(IntegerElement<uint8_t>());
    case DType::kInt8:
      return visit(IntegerElement<int8_t>());
    case DType::kInt16:
      return visit(IntegerElement<int16_t>());
    case DType::kInt32:
      return visit(IntegerElement<int32_t>());
    case DType::kInt64:
      return visit(IntegerElement<int64_t>());
    case DType::kFloat16:
      return visit(RealElement<uint16_t, FromHalf>());
    case DType::kBFloat16:
      return visit(RealElement<uint16_t, FromBFloat16>());
    case DType::kFloat32:
      return visit(RealElement<float, FromFloat>());
    case DType::kComplex64:
      return visit(ComplexElement<float>());
    case DType::kComplex128:
      return visit(ComplexElement<double>());
    case DType::kFloat8E4M3FN:
      return visit(RealElement<uint8_t, FromTable<Float8E4M3FNToFloat>>());
    case DType::kFloat8E5M2:
      return visit(RealElement<uint8_t, FromTable<Float8E5M2ToFloat>>());
    case DType::kFloat64:
      break;
  }
  return visit(RealElement<double, FromDouble>());
}

inline bool IsNan(double value) { return std::isnan(value); }
inline bool IsNan(std::complex<double> value) { return std::isnan(value.real()) || std::isnan(value.imag()); }

// An infinity of a value that is not a NaN.
inline bool IsInf(double value) { return std::isinf(value); }
inline bool IsInf(std::complex<double> value) {
  return !IsNan(value) && (std::isinf(value.real()) || std::isinf(value.imag()));
}

inline double Magnitude(double value) { return std::abs(value); }
inline double Magnitude(std::complex<double> value) { return std::hypot(value.real(), value.imag()); }

template <typename Value>
double Difference(Value x, Value y) {
  if constexpr (std::is_integral_v<Value>) {
    // Exact also where the difference overflows the type.
    const auto wide_x = static_cast<uint64_t>(static_cast<int64_t>(x));
    const auto wide_y = static_cast<uint64_t>(static_cast<int64_t>(y));
    return static_cast<double>(x > y ? wide_x - wide_y : wide_y - wide_x);
  } else {
    return Magnitude(x - y);
  }
}

}  // namespace assay::measure::internal
