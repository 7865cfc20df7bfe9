#include "graph/dtype.h"

#include <array>

namespace assay::graph {
namespace {

struct Row {
  std::string_view name;
  std::string_view safetensors;
  int bytes;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"bool", "BOOL", 1},
    {"uint8", "U8", 1},
    {"int8", "I8", 1},
    {"int16", "I16", 2},
    {"int32", "I32", 4},
    {"int64", "I64", 8},
    {"float16", "F16", 2},
    {"bfloat16", "BF16", 2},
    {"float32", "F32", 4},
    {"float64", "F64", 8},
    {"complex64", "C64", 8},
    {"complex128", "C128", 16},
    {"float8_e4m3fn", "F8_E4M3", 1},
    {"float8_e5m2", "F8_E5M2", 1},
}};

const Row& RowOf(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view Name(DType dtype) { return RowOf(dtype).name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::string_view SafetensorsName(DType dtype) { return RowOf(dtype).safetensors; }

std::optional<DType> DTypeFromSafetensorsName(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kRows[i].safetensors == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int ElementSize(DType dtype) { return RowOf(dtype).bytes; }

bool IsFloatingPoint(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2:
      return true;
    default:
      return false;
  }
}

bool IsComplex(DType dtype) { return dtype == DType::kComplex64 || dtype == DType::kComplex128; }

bool IsIntegral(DType dtype) { return dtype >= DType::kUInt8 && dtype <= DType::kInt64; }

}  // namespace assay::graph
