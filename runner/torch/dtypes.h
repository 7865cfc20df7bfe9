// Element types of graphs in LibTorch's terms. Thread safety: pure functions.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "graph/dtype.h"

namespace assay::torch_runner {

c10::ScalarType ToScalarType(graph::DType dtype);
// Nothing for types that the protocol's tensors cannot have (quantised ones, uint16 …).
std::optional<graph::DType> FromScalarType(c10::ScalarType type);

}  // namespace assay::torch_runner
