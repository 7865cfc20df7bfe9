#include "measure/tolerance.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

namespace assay::measure {
namespace {

using graph::DType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr ToleranceRule kExactRule = {true, 0, 0};
constexpr ToleranceRule kFloat16Rule = {false, 1, 3.0 / 5};
constexpr ToleranceRule kBFloat16Rule = {false, 1, 1.796 / 5};
constexpr ToleranceRule kFloat32Rule = {false, 1, 5.886 / 5};
constexpr ToleranceRule kFloat64Rule = {false, 7.0 / 5, 7.0 / 5};

}  // namespace

ToleranceRule RuleOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return kFloat16Rule;
    case DType::kBFloat16:
      return kBFloat16Rule;
    case DType::kFloat32:
    case DType::kComplex64:
      return kFloat32Rule;
    case DType::kFloat64:
    case DType::kComplex128:
      return kFloat64Rule;
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2:
      return kExactRule;
  }
  return kExactRule;
}

ToleranceRule RuleOf(std::string_view dtype_name) {
  if (const std::optional<DType> dtype = graph::DTypeFromName(dtype_name)) return RuleOf(*dtype);
  if (dtype_name == "complex32") return kFloat16Rule;
  constexpr std::string_view kQuantised[] = {"quint8", "qint8", "qint32", "quint4x2", "quint2x4"};
  if (std::find(std::begin(kQuantised), std::end(kQuantised), dtype_name) != std::end(kQuantised)) return kFloat32Rule;
  return kExactRule;
}

Tolerance At(const ToleranceRule& rule, double t) {
  if (rule.exact) return {0, 0};
  return {std::pow(10.0, t * rule.atol_slope), std::pow(10.0, t * rule.rtol_slope)};
}

double CriticalTolerance(const ToleranceRule& rule, double difference, double magnitude) {
  if (difference == 0) return -kInfinity;
  if (rule.exact || !std::isfinite(difference) || !std::isfinite(magnitude)) return kInfinity;
  // Each bound alone allows the difference at some t, so the solution is not above the smaller of the two. From there
  // Newton's method on the logarithm, which is convex and increasing in t, falls to the solution without passing it.
  double t = std::log10(difference) / rule.atol_slope;
  if (magnitude > 0) {
    t = std::min(t, (std::log10(difference) - std::log10(magnitude)) / rule.rtol_slope);
    const double log_difference = std::log(difference);
    const double log_magnitude = std::log(magnitude);
    for (int step = 0; step < 50; ++step) {
      const double log_atol = t * rule.atol_slope * std::numbers::ln10;
      const double log_rtol = t * rule.rtol_slope * std::numbers::ln10 + log_magnitude;
      const double larger = std::max(log_atol, log_rtol);
      const double share_atol = std::exp(log_atol - larger);
      const double share_rtol = std::exp(log_rtol - larger);
      const double value = larger + std::log(share_atol + share_rtol) - log_difference;
      const double slope = std::numbers::ln10 * (share_atol * rule.atol_slope + share_rtol * rule.rtol_slope) /
                           (share_atol + share_rtol);
      const double next = t - value / slope;
      if (!(next < t)) break;
      t = next;
    }
  }
  // The bounds as they are computed must allow the difference: step over the rounding.
  for (;;) {
    const Tolerance bounds = At(rule, t);
    if (difference <= bounds.atol + bounds.rtol * magnitude || !std::isfinite(bounds.atol + bounds.rtol)) return t;
    t += std::max(std::abs(t), 1.0) * std::numeric_limits<double>::epsilon();
  }
}

GraphComparison FoldOutputs(std::vector<OutputComparison> outputs, int candidate_outputs, int baseline_outputs) {
  constexpr ErrorClass kOrder[] = {ErrorClass::kTypeMismatch, ErrorClass::kShapeMismatch, ErrorClass::kNan,
                                   ErrorClass::kInf,          ErrorClass::kAccuracy,      ErrorClass::kCorrect};
  const auto rank = [&](ErrorClass error_class) {
    return std::find(std::begin(kOrder), std::end(kOrder), error_class) - std::begin(kOrder);
  };
  GraphComparison graph;
  graph.critical_t = -kInfinity;
  double sum = 0;
  int64_t finite = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputComparison& output = outputs[i];
    const bool worse = rank(output.error_class) < rank(graph.error_class);
    const bool same = output.error_class == graph.error_class;
    // The witness is the first of the outputs of the worst class with the largest t*.
    const double witness_t =
        graph.worst_output < 0 ? -kInfinity : outputs[static_cast<size_t>(graph.worst_output)].critical_t;
    if (worse || (same && output.critical_t > witness_t)) graph.worst_output = static_cast<int>(i);
    if (worse) graph.error_class = output.error_class;
    graph.critical_t = std::max(graph.critical_t, output.critical_t);
    graph.max_abs_diff = std::max(graph.max_abs_diff, output.max_abs_diff);
    sum += output.mean_abs_diff * static_cast<double>(output.finite_elements);
    finite += output.finite_elements;
  }
  if (finite > 0) graph.mean_abs_diff = sum / static_cast<double>(finite);
  if (candidate_outputs != baseline_outputs) {
    graph.critical_t = kInfinity;
    if (rank(ErrorClass::kShapeMismatch) < rank(graph.error_class)) {
      graph.error_class = ErrorClass::kShapeMismatch;
      graph.worst_output = -1;
    }
  }
  graph.outputs = std::move(outputs);
  return graph;
}

}  // namespace assay::measure
