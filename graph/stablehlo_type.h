// The types that values of a StableHLO module may have: tensors of numbers, with static shapes.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/dtype.h"
#include "graph/parse.h"

namespace assay::graph {

struct StableHloElement {
  std::string_view name;
  int bytes;                   // that one takes
  std::optional<DType> dtype;  // none where no graph's own tensor has it
};

struct TensorType {
  std::vector<int64_t> shape;
  const StableHloElement* element = nullptr;
};

// `inside`: what stands between the brackets of tensor<4x8xf32>. InvalidArgument says what is wrong; ResourceExhausted
// where the rank or the bytes pass a limit.
absl::StatusOr<TensorType> ParseTensorType(std::string_view inside, const Limits& limits);

// The whole text as a number.
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace assay::graph
