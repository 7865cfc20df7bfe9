#include "graph/stablehlo_type.h"

#include <charconv>

#include "graph/diagnostic.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

constexpr StableHloElement kElements[] = {
    {"i1", 1, DType::kBool},
    {"i4", 1, std::nullopt},
    {"i8", 1, DType::kInt8},
    {"i16", 2, DType::kInt16},
    {"i32", 4, DType::kInt32},
    {"i64", 8, DType::kInt64},
    {"ui4", 1, std::nullopt},
    {"ui8", 1, DType::kUInt8},
    {"ui16", 2, std::nullopt},
    {"ui32", 4, std::nullopt},
    {"ui64", 8, std::nullopt},
    {"f16", 2, DType::kFloat16},
    {"bf16", 2, DType::kBFloat16},
    {"f32", 4, DType::kFloat32},
    {"f64", 8, DType::kFloat64},
    {"f8E4M3FN", 1, DType::kFloat8E4M3FN},
    {"f8E5M2", 1, DType::kFloat8E5M2},
    {"complex<f32>", 8, DType::kComplex64},
    {"complex<f64>", 16, DType::kComplex128},
};

}  // namespace

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

absl::StatusOr<TensorType> ParseTensorType(std::string_view inside, const Limits& limits) {
  const auto too_large = [&] {
    return absl::ResourceExhaustedError(Cat("a tensor of more bytes than the limit of ", limits.tensor_bytes));
  };
  TensorType type;
  std::string_view rest = inside;
  int64_t count = 1;
  while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
    const size_t x = rest.find('x');
    const std::optional<int64_t> size = x == std::string_view::npos ? std::nullopt : ParseInteger(rest.substr(0, x));
    if (!size) {
      return absl::InvalidArgumentError(Cat("the type tensor<", Quoted(inside), "> has a dimension that is no number"));
    }
    type.shape.push_back(*size);
    if (type.shape.size() > static_cast<size_t>(limits.rank)) {
      return absl::ResourceExhaustedError(Cat("a tensor of more than ", limits.rank, " dimensions"));
    }
    if (__builtin_mul_overflow(count, *size, &count) || count > limits.tensor_bytes) return too_large();
    rest.remove_prefix(x + 1);
  }
  for (const StableHloElement& element : kElements) {
    if (element.name == rest) type.element = &element;
  }
  if (type.element == nullptr) {
    return absl::InvalidArgumentError(Cat("the type tensor<", Quoted(inside),
                                          ">: sizes must be numbers, and the element type one such as f32, i64 or i1"));
  }
  if (count > limits.tensor_bytes / type.element->bytes) return too_large();
  return type;
}

}  // namespace assay::graph
