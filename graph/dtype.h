// Element types of tensors: the names that GraphNet, Python and safetensors use for them, and their sizes.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::graph {

enum class DType : uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
  kFloat8E4M3FN,
  kFloat8E5M2,
};
inline constexpr int kDTypeCount = 14;

// "float32" for kFloat32; the name after "torch.".
std::string_view Name(DType dtype);
// Accepts "float32" and "torch.float32".
std::optional<DType> DTypeFromName(std::string_view name);

// "F32" for kFloat32: safetensors' spelling ("C64" and "C128" for complex).
std::string_view SafetensorsName(DType dtype);
std::optional<DType> DTypeFromSafetensorsName(std::string_view name);

// Bytes of one element.
int ElementSize(DType dtype);
bool IsFloatingPoint(DType dtype);  // real floating point, fp8 included
bool IsComplex(DType dtype);
bool IsIntegral(DType dtype);  // integers, bool not included

}  // namespace assay::graph
