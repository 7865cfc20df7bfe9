// CompareOutputs() and InspectOutput() of tolerance.h: the pass over the elements.
//
// A thread keeps the critical tolerance of what it has seen and its bounds. A block whose elements all hold the bounds
// needs no more than the fast path (tolerance_kernel.h); only a block with one that does not is looked at element by
// element, and only such an element is solved for. So nearly all of the work is the fast path, at the speed of memory.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>
#include <thread>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "fmt/format.h"
#include "measure/element.h"
#include "measure/tolerance.h"
#include "measure/tolerance_kernel.h"

namespace assay::measure {
namespace {

using graph::DType;
using internal::IsInf;
using internal::IsNan;
using internal::Magnitude;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Elements of a block: both sides of it stay in the first-level cache for the second look.
constexpr int64_t kBlock = 1024;
// A thread of its own is worth it for this many elements.
constexpr int64_t kElementsPerThread = int64_t{1} << 18;

// The bounds at t, never such that infinity times 0 is met.
Tolerance BoundsAt(const ToleranceRule& rule, double t) {
  if (t == -kInfinity) return {0, 0};
  if (t == kInfinity) return {kInfinity, 0};
  const Tolerance bounds = At(rule, t);
  if (!std::isfinite(bounds.atol) || !std::isfinite(bounds.rtol)) return {kInfinity, 0};
  return bounds;
}

// The critical tolerance of finite values whose difference or magnitude is too large for a double.
template <typename Value>
double OverflowingTolerance(const ToleranceRule& rule, Value x, Value y) {
  constexpr double kScale = 0.25;
  const double difference = Magnitude(x * kScale - y * kScale);
  const double magnitude = Magnitude(y * kScale);
  const double by_atol = (std::log10(difference) - std::log10(kScale)) / rule.atol_slope;
  if (magnitude == 0) return by_atol;
  return std::min(by_atol, (std::log10(difference) - std::log10(magnitude)) / rule.rtol_slope);
}

// What one thread found in its share of the elements.
struct Share {
  double critical_t = -kInfinity;
  double sum = 0;
  double largest = 0;
  int64_t finite = 0;
  int64_t first_bad = -1;
  int64_t worst = -1;
  int64_t candidate_nan = 0, baseline_nan = 0, candidate_inf = 0, baseline_inf = 0;
  bool inf_mismatch = false;
};

template <typename Element>
class Comparer {
 public:
  Comparer(DType dtype, const std::byte* x, const std::byte* y)
      : rule_(RuleOf(dtype)), fast_(internal::FindBlockFunction(dtype)), x_(x), y_(y) {}

  Share Run(int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += kBlock) Block(at, std::min(at + kBlock, end));
    return share_;
  }

 private:
  using Value = typename Element::Value;
  static constexpr int64_t kBytes = Element::kBytes;
  static constexpr bool kIntegral = std::is_integral_v<Value>;

  void Block(int64_t begin, int64_t end) {
    const std::byte* x = x_ + begin * kBytes;
    const std::byte* y = y_ + begin * kBytes;
    if (fast_ != nullptr) {
      const internal::BlockSums sums = fast_(x, y, end - begin, bounds_.atol, bounds_.rtol);
      if (!sums.exceeded && std::isfinite(sums.largest)) {
        share_.sum += sums.sum;
        share_.largest = std::max(share_.largest, sums.largest);
        share_.finite += end - begin;
        if (share_.first_bad < 0 && sums.largest > 0) FindFirstBad(begin, end);
        return;
      }
    } else if (kIntegral && std::memcmp(x, y, static_cast<size_t>((end - begin) * kBytes)) == 0) {
      share_.finite += end - begin;
      return;
    }
    for (int64_t i = begin; i < end; ++i) Look(i, Element::Read(x_, i), Element::Read(y_, i));
  }

  void FindFirstBad(int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && share_.first_bad < 0; ++i) {
      if (Element::Read(x_, i) != Element::Read(y_, i)) share_.first_bad = i;
    }
  }

  void Look(int64_t index, Value x, Value y) {
    if constexpr (!kIntegral) {
      share_.candidate_nan += IsNan(x);
      share_.baseline_nan += IsNan(y);
      share_.candidate_inf += IsInf(x);
      share_.baseline_inf += IsInf(y);
    }
    if (x == y) {
      ++share_.finite;
      return;
    }
    if (share_.first_bad < 0) share_.first_bad = index;
    double magnitude = 0;  // an exact rule does not use it
    if constexpr (!kIntegral) {
      if (IsNan(x) || IsNan(y) || IsInf(x) || IsInf(y)) {
        share_.inf_mismatch |= !IsNan(x) && !IsNan(y);
        Raise(index, kInfinity);
        return;
      }
      magnitude = Magnitude(y);
    }
    const double difference = internal::Difference(x, y);
    if constexpr (!kIntegral) {
      if (!std::isfinite(difference) || !std::isfinite(magnitude)) {
        if (std::isfinite(difference)) AddDifference(difference);
        Raise(index, OverflowingTolerance(rule_, x, y));
        return;
      }
    }
    AddDifference(difference);
    if (!(difference <= bounds_.atol + bounds_.rtol * magnitude)) {
      Raise(index, CriticalTolerance(rule_, difference, magnitude));
    }
  }

  void AddDifference(double difference) {
    ++share_.finite;
    share_.sum += difference;
    share_.largest = std::max(share_.largest, difference);
  }

  void Raise(int64_t index, double t) {
    if (!(t > share_.critical_t)) return;
    share_.critical_t = t;
    share_.worst = index;
    bounds_ = BoundsAt(rule_, t);
  }

  const ToleranceRule rule_;
  const internal::BlockFunction fast_;
  const std::byte* const x_;
  const std::byte* const y_;
  Tolerance bounds_;
  Share share_;
};

// `begin` and `end` of each share: whole blocks, except at the end.
std::vector<Share> CompareShares(DType dtype, const std::byte* x, const std::byte* y, int64_t elements, int threads) {
  const int64_t parts = std::clamp<int64_t>(elements / kElementsPerThread, 1, std::max(threads, 1));
  const int64_t blocks = (elements + kBlock - 1) / kBlock;
  const auto boundary = [&](int64_t part) { return std::min(blocks * part / parts * kBlock, elements); };
  std::vector<Share> shares(static_cast<size_t>(parts));
  internal::VisitElement(dtype, [&](auto element) {
    const auto compare = [&](int64_t part) {
      Comparer<decltype(element)> comparer(dtype, x, y);
      shares[static_cast<size_t>(part)] = comparer.Run(boundary(part), boundary(part + 1));
    };
    std::vector<std::jthread> helpers;
    int64_t next = 1;
    try {
      for (; next < parts; ++next) helpers.emplace_back(compare, next);
    } catch (const std::system_error&) {
      // The system gives no more threads, and `threads` is an upper limit: this one does what is left.
      for (; next < parts; ++next) compare(next);
    }
    compare(0);
  });
  return shares;
}

absl::StatusOr<int64_t> CheckView(const OutputView& view, std::string_view side) {
  int64_t elements = 1;
  int64_t bytes = 0;
  bool overflow = false;
  for (int64_t size : view.shape) {
    if (size < 0) {
      return absl::InvalidArgumentError(
          fmt::format("the {} output has a negative dimension: [{}]", side, absl::StrJoin(view.shape, ", ")));
    }
    overflow |= __builtin_mul_overflow(elements, size, &elements);
  }
  // A later dimension of 0 makes an overflowing product empty after all.
  if (std::find(view.shape.begin(), view.shape.end(), 0) != view.shape.end()) {
    elements = 0;
    overflow = false;
  }
  overflow |= __builtin_mul_overflow(elements, int64_t{graph::ElementSize(view.dtype)}, &bytes);
  if (overflow || static_cast<uint64_t>(bytes) != view.data.size()) {
    return absl::InvalidArgumentError(
        fmt::format("the {} output is {} bytes long, but its dtype {} and shape [{}] need {}: it was not written whole",
                    side, view.data.size(), graph::Name(view.dtype), absl::StrJoin(view.shape, ", "),
                    overflow ? "more" : fmt::format("{}", bytes)));
  }
  return elements;
}

}  // namespace

absl::StatusOr<OutputComparison> CompareOutputs(const OutputView& candidate, const OutputView& baseline, int threads) {
  if (absl::StatusOr<int64_t> checked = CheckView(candidate, "candidate's"); !checked.ok()) return checked.status();
  const absl::StatusOr<int64_t> elements = CheckView(baseline, "baseline's");
  if (!elements.ok()) return elements.status();

  OutputComparison result;
  result.elements = *elements;
  if (candidate.dtype != baseline.dtype) {
    result.error_class = ErrorClass::kTypeMismatch;
  } else if (!std::equal(candidate.shape.begin(), candidate.shape.end(), baseline.shape.begin(),
                         baseline.shape.end())) {
    result.error_class = ErrorClass::kShapeMismatch;
  }
  if (result.error_class != ErrorClass::kCorrect) {
    result.critical_t = kInfinity;
    return result;
  }

  result.critical_t = -kInfinity;
  bool inf_mismatch = false;
  double sum = 0;
  for (const Share& share :
       CompareShares(baseline.dtype, candidate.data.data(), baseline.data.data(), *elements, threads)) {
    if (share.critical_t > result.critical_t) {
      result.critical_t = share.critical_t;
      result.worst_index = share.worst;
    }
    if (result.first_bad_index < 0) result.first_bad_index = share.first_bad;
    result.max_abs_diff = std::max(result.max_abs_diff, share.largest);
    result.finite_elements += share.finite;
    sum += share.sum;
    result.candidate_nan += share.candidate_nan;
    result.baseline_nan += share.baseline_nan;
    result.candidate_inf += share.candidate_inf;
    result.baseline_inf += share.baseline_inf;
    inf_mismatch |= share.inf_mismatch;
  }
  if (result.finite_elements > 0) result.mean_abs_diff = sum / static_cast<double>(result.finite_elements);
  if (result.candidate_nan + result.baseline_nan > 0) {
    result.error_class = ErrorClass::kNan;
  } else if (inf_mismatch) {
    result.error_class = ErrorClass::kInf;
  } else if (result.critical_t > kAccuracyLevel) {
    result.error_class = ErrorClass::kAccuracy;
  }
  return result;
}

absl::StatusOr<OutputComparison> CompareOutputs(DType dtype, std::span<const int64_t> shape,
                                                std::span<const std::byte> candidate,
                                                std::span<const std::byte> baseline, int threads) {
  return CompareOutputs(OutputView{dtype, shape, candidate}, OutputView{dtype, shape, baseline}, threads);
}

absl::StatusOr<Degenerate> InspectOutput(const OutputView& output) {
  const absl::StatusOr<int64_t> elements = CheckView(output, "inspected");
  if (!elements.ok()) return elements.status();
  Degenerate degenerate;
  if (*elements == 0) return degenerate;
  internal::VisitElement(output.dtype, [&](auto element) {
    using Element = decltype(element);
    const std::byte* data = output.data.data();
    const typename Element::Value first = Element::Read(data, 0);
    bool all_equal = true;
    for (int64_t i = 0; i < *elements; ++i) {
      const typename Element::Value value = Element::Read(data, i);
      all_equal &= value == first;
      if constexpr (!std::is_integral_v<typename Element::Value>) {
        degenerate.has_nan |= IsNan(value);
        degenerate.has_inf |= IsInf(value);
      }
    }
    degenerate.all_zero = all_equal && first == typename Element::Value();
    degenerate.all_equal = all_equal && *elements > 1;
  });
  return degenerate;
}

}  // namespace assay::measure
