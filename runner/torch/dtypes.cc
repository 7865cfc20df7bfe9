#include "runner/torch/dtypes.h"

#include <array>
#include <utility>

namespace assay::torch_runner {
namespace {

using graph::DType;
constexpr std::array<std::pair<DType, c10::ScalarType>, graph::kDTypeCount> kTypes = {{
    {DType::kBool, c10::ScalarType::Bool},
    {DType::kUInt8, c10::ScalarType::Byte},
    {DType::kInt8, c10::ScalarType::Char},
    {DType::kInt16, c10::ScalarType::Short},
    {DType::kInt32, c10::ScalarType::Int},
    {DType::kInt64, c10::ScalarType::Long},
    {DType::kFloat16, c10::ScalarType::Half},
    {DType::kBFloat16, c10::ScalarType::BFloat16},
    {DType::kFloat32, c10::ScalarType::Float},
    {DType::kFloat64, c10::ScalarType::Double},
    {DType::kComplex64, c10::ScalarType::ComplexFloat},
    {DType::kComplex128, c10::ScalarType::ComplexDouble},
    {DType::kFloat8E4M3FN, c10::ScalarType::Float8_e4m3fn},
    {DType::kFloat8E5M2, c10::ScalarType::Float8_e5m2},
}};

}  // namespace

c10::ScalarType ToScalarType(DType dtype) {
  for (const auto& [own, theirs] : kTypes) {
    if (own == dtype) return theirs;
  }
  return c10::ScalarType::Undefined;
}

std::optional<DType> FromScalarType(c10::ScalarType type) {
  for (const auto& [own, theirs] : kTypes) {
    if (theirs == type) return own;
  }
  return std::nullopt;
}

}  // namespace assay::torch_runner
