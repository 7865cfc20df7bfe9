// Elements to float64 and back, for the float64 reference (worker/reference.h).
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <span>

#include "graph/dtype.h"

namespace assay::measure {

// Each element of `from` as float64 (complex128 of a complex one), exactly. `dtype` is floating-point or complex; both
// have the same number of elements, at any alignment.
void ToFloat64(graph::DType dtype, std::span<const std::byte> from, std::span<std::byte> to);

// The other way: to the nearest value of `dtype`, ties to even; beyond the largest one to infinity. Precondition:
// `dtype` is not fp8.
void FromFloat64(graph::DType dtype, std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace assay::measure
