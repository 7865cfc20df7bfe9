// Comparison of the outputs of two arms: dtypes, shapes, and the critical tolerance t*, the smallest real t at which
// |x - y| <= atol(t) + rtol(t)|y| holds for every element (x of the candidate, y of the baseline).
//
// Elements are compared as real numbers, in double precision. Equal elements are close at every t, equal infinities
// included; a NaN is close to nothing, not even to a NaN; an infinity is close only to its equal. -0 equals +0. Complex
// elements are compared by modulus. bool, integers and fp8 must be equal. A quantised output is compared dequantised,
// as float32, whose bounds are those of quantised types.
//
// Thread safety: pure functions; CompareOutputs starts and joins its own threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/dtype.h"
#include "measure/error_class.h"

namespace assay::measure {

struct Tolerance {
  double atol = 0;
  double rtol = 0;
};

// atol(t) = 10^(t * atol_slope), rtol(t) = 10^(t * rtol_slope); both 0 where exact.
struct ToleranceRule {
  bool exact = false;
  double atol_slope = 0;
  double rtol_slope = 0;
};

ToleranceRule RuleOf(graph::DType dtype);
// By the name after "torch."; knows complex32 and the quantised types (quint8, qint8, qint32 …), which graphs' own
// dtypes lack. Any other name has the exact rule, as in the public scoring code.
ToleranceRule RuleOf(std::string_view dtype_name);
Tolerance At(const ToleranceRule& rule, double t);

// The smallest t at which a difference is allowed: the solution of atol(t) + rtol(t) * magnitude = difference.
// -infinity for a difference of 0, +infinity where no t will do (an exact rule, a NaN, an infinite difference).
// Precondition: difference and magnitude are not negative.
double CriticalTolerance(const ToleranceRule& rule, double difference, double magnitude);

// The level at and above which a result that is not close is an accuracy failure.
inline constexpr double kAccuracyLevel = 1.0;

// One output tensor as a runner returned it: contiguous, row-major, native byte order. `data` need not be aligned.
struct OutputView {
  graph::DType dtype = graph::DType::kFloat32;
  std::span<const int64_t> shape;
  std::span<const std::byte> data;
};

struct OutputComparison {
  // kCorrect (t* <= 1), kTypeMismatch, kShapeMismatch, kNan, kInf or kAccuracy.
  ErrorClass error_class = ErrorClass::kCorrect;
  // t*: -infinity where every element is equal, +infinity where there is none (mismatches, NaN, infinities, exact
  // dtypes that differ). May be above 1 for an accuracy failure.
  double critical_t = 0;
  // Over the elements whose difference is finite; 0 where there is none.
  double max_abs_diff = 0;
  double mean_abs_diff = 0;
  int64_t elements = 0;
  int64_t finite_elements = 0;   // elements that are equal or whose difference is finite
  int64_t first_bad_index = -1;  // flat index of the first element that differs; -1: none. A NaN differs.
  int64_t worst_index = -1;      // flat index of the element that sets t*; -1: none differs
  int64_t candidate_nan = 0;     // elements; a complex one counts once
  int64_t baseline_nan = 0;
  int64_t candidate_inf = 0;
  int64_t baseline_inf = 0;
};

// Compares one output in a single pass, on up to `threads` threads (at least 1; small outputs use one). An error only
// where a view contradicts itself (the data is shorter or longer than shape and dtype say, or a dimension is negative):
// the message says which side.
absl::StatusOr<OutputComparison> CompareOutputs(const OutputView& candidate, const OutputView& baseline, int threads);

// As above for two outputs of one dtype and shape.
absl::StatusOr<OutputComparison> CompareOutputs(graph::DType dtype, std::span<const int64_t> shape,
                                                std::span<const std::byte> candidate,
                                                std::span<const std::byte> baseline, int threads);

struct GraphComparison {
  // The first of kTypeMismatch, kShapeMismatch, kNan, kInf, kAccuracy that an output has; else kCorrect.
  ErrorClass error_class = ErrorClass::kCorrect;
  double critical_t = 0;     // the largest of the outputs; -infinity without outputs
  double max_abs_diff = 0;   // the largest
  double mean_abs_diff = 0;  // over all elements of all outputs
  int worst_output = -1;     // the output that sets class, then t*; -1 where every one is equal
  std::vector<OutputComparison> outputs;
};

// Folds the outputs of a graph. `baseline_outputs` is the number of outputs that the baseline gave: where it differs
// from the candidate's the class is kShapeMismatch, unless an output has another dtype (pass the comparisons of those
// that both have).
GraphComparison FoldOutputs(std::vector<OutputComparison> outputs, int candidate_outputs, int baseline_outputs);

// What makes an output a poor witness of correctness.
struct Degenerate {
  bool all_equal = false;  // at least two elements, all of one value (NaN is not equal to itself)
  bool all_zero = false;   // at least one element, all zero
  bool has_nan = false;
  bool has_inf = false;
};
absl::StatusOr<Degenerate> InspectOutput(const OutputView& output);

}  // namespace assay::measure
