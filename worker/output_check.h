// Comparison of what two arms returned, and the tricks that show in it.
// Thread safety: pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "measure/tolerance.h"
#include "runner/memory_file.h"

namespace assay::worker {

// Reads the outputs that a runner wrote: exactly the tensors "0" … "outputs − 1". InvalidArgument says what is wrong.
absl::StatusOr<runner::TensorBytes> ReadOutputs(int fd, int64_t outputs, int64_t max_bytes);

// The comparisons of one input set, added to `measurement`, and folded.
absl::StatusOr<measure::GraphComparison> CompareSet(std::string_view input_set, const runner::TensorBytes& candidate,
                                                    const runner::TensorBytes& baseline, int threads,
                                                    v1::Measurement& measurement);

// Why agreement with such outputs proves nothing: every one is of one value or not finite, and this is the worst of
// them. DEGENERACY_UNSPECIFIED where one output proves something.
v1::Degeneracy DegeneracyOf(const runner::TensorBytes& baseline);

// The same bytes for each output.
bool SameBytes(const runner::TensorBytes& a, const runner::TensorBytes& b);

}  // namespace assay::worker
