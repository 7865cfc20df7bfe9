// The fast path of tolerance.h: whether a run of elements all hold the current bounds, with their largest and summed
// difference, in vector registers. Written once with portable vector types and compiled for each x86-64 level; the best
// that this processor has is chosen at run time.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/dtype.h"

namespace assay::measure::internal {

struct BlockSums {
  double sum = 0;         // of |x - y|
  double largest = 0;     // of |x - y|; infinite where one is
  bool exceeded = false;  // some |x - y| is NaN or above atol + rtol * |y|; `sum` and `largest` then mean nothing
};

// x and y point at `count` elements of the dtype each, at any alignment.
using BlockFunction = BlockSums (*)(const std::byte* x, const std::byte* y, int64_t count, double atol, double rtol);

// The best for this processor; nullptr for a dtype without a fast path (exact and complex ones).
BlockFunction FindBlockFunction(graph::DType dtype);
// All that this processor can run, the plainest first (for tests); empty for a dtype without a fast path.
std::span<const BlockFunction> BlockFunctions(graph::DType dtype);

// The value of a float16 and of the two fp8 formats.
float HalfToFloat(uint16_t bits);
float Float8E4M3FNToFloat(uint8_t bits);
float Float8E5M2ToFloat(uint8_t bits);

}  // namespace assay::measure::internal
