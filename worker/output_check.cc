#include "worker/output_check.h"

#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "worker/words.h"

namespace assay::worker {
namespace {

using graph::TensorLayout;

measure::OutputView ViewOf(const runner::TensorBytes& tensors, const TensorLayout::Entry& entry) {
  return {entry.spec.dtype, entry.spec.shape, tensors.Data(entry)};
}

std::string Describe(const TensorLayout::Entry& entry) {
  return fmt::format("{}[{}]", graph::Name(entry.spec.dtype), fmt::join(entry.spec.shape, ", "));
}

const TensorLayout::Entry& Entry(const runner::TensorBytes& tensors, int index) {
  return *tensors.layout.Find(std::to_string(index));
}

absl::StatusOr<v1::Degeneracy> Inspect(const measure::OutputView& output) {
  const absl::StatusOr<measure::Degenerate> found = measure::InspectOutput(output);
  if (!found.ok()) return found.status();
  if (found->has_nan) return v1::HAS_NAN;
  if (found->has_inf) return v1::HAS_INF;
  if (!found->all_equal) return v1::DEGENERACY_UNSPECIFIED;
  return found->all_zero ? v1::ALL_ZERO : v1::ALL_EQUAL;
}

}  // namespace

absl::StatusOr<runner::TensorBytes> ReadOutputs(int fd, int64_t outputs, int64_t max_bytes) {
  absl::StatusOr<runner::TensorBytes> tensors = runner::ReadTensors(fd, max_bytes);
  if (!tensors.ok()) return tensors.status();
  if (static_cast<int64_t>(tensors->layout.entries.size()) != outputs) {
    return absl::InvalidArgumentError(
        fmt::format("the runner told of {} outputs and wrote {} tensors", outputs, tensors->layout.entries.size()));
  }
  for (int64_t i = 0; i < outputs; ++i) {
    if (tensors->layout.Find(std::to_string(i)) == nullptr) {
      return absl::InvalidArgumentError(fmt::format("the runner wrote no output named \"{}\"", i));
    }
  }
  return tensors;
}

absl::StatusOr<measure::GraphComparison> CompareSet(std::string_view input_set, const runner::TensorBytes& candidate,
                                                    const runner::TensorBytes& baseline, int threads,
                                                    v1::Measurement& measurement) {
  const int candidate_outputs = static_cast<int>(candidate.layout.entries.size());
  const int baseline_outputs = static_cast<int>(baseline.layout.entries.size());
  std::vector<measure::OutputComparison> comparisons;
  for (int i = 0; i < std::min(candidate_outputs, baseline_outputs); ++i) {
    const TensorLayout::Entry& ours = Entry(candidate, i);
    const TensorLayout::Entry& theirs = Entry(baseline, i);
    absl::StatusOr<measure::OutputComparison> compared =
        measure::CompareOutputs(ViewOf(candidate, ours), ViewOf(baseline, theirs), threads);
    if (!compared.ok()) return compared.status();
    absl::StatusOr<v1::Degeneracy> degeneracy = Inspect(ViewOf(baseline, theirs));
    if (!degeneracy.ok()) return degeneracy.status();
    v1::OutputComparison& told = *measurement.add_comparisons();
    told.set_input_set(std::string(input_set));
    told.set_output(i);
    told.set_dtype(std::string(graph::Name(theirs.spec.dtype)));
    for (const int64_t size : theirs.spec.shape) told.add_shape(size);
    told.set_output_class(ToProto(compared->error_class));
    told.set_critical_t(compared->critical_t);
    told.set_max_abs_diff(compared->max_abs_diff);
    told.set_mean_abs_diff(compared->mean_abs_diff);
    told.set_first_bad_index(compared->first_bad_index);
    told.set_degenerate(*degeneracy != v1::DEGENERACY_UNSPECIFIED);
    told.set_degeneracy(*degeneracy);
    if (compared->error_class == measure::ErrorClass::kTypeMismatch ||
        compared->error_class == measure::ErrorClass::kShapeMismatch) {
      told.set_message(fmt::format("candidate {}, baseline {}", Describe(ours), Describe(theirs)));
    }
    comparisons.push_back(*std::move(compared));
  }
  return measure::FoldOutputs(std::move(comparisons), candidate_outputs, baseline_outputs);
}

v1::Degeneracy DegeneracyOf(const runner::TensorBytes& baseline) {
  v1::Degeneracy worst = v1::ALL_EQUAL;  // of no outputs
  for (const TensorLayout::Entry& entry : baseline.layout.entries) {
    const absl::StatusOr<v1::Degeneracy> degeneracy = Inspect(ViewOf(baseline, entry));
    if (!degeneracy.ok() || *degeneracy == v1::DEGENERACY_UNSPECIFIED) return v1::DEGENERACY_UNSPECIFIED;
    worst = std::max(worst, *degeneracy);
  }
  return worst;
}

bool SameBytes(const runner::TensorBytes& a, const runner::TensorBytes& b) {
  return a.layout.entries.size() == b.layout.entries.size() &&
         std::equal(a.layout.entries.begin(), a.layout.entries.end(), b.layout.entries.begin(),
                    [&](const auto& x, const auto& y) {
                      const auto left = a.Data(x), right = b.Data(y);
                      return x.spec.name == y.spec.name &&
                             std::equal(left.begin(), left.end(), right.begin(), right.end());
                    });
}

}  // namespace assay::worker
