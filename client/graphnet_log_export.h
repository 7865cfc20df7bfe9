// An evaluation as a log of GraphNet's own runner.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"

namespace assay::client {

// One graph's block, from its outcome and the measurements of it. FailedPrecondition where the outcome's own
// measurement is not among them. Precondition: the outcome's class is scored, so not `skipped`.
absl::StatusOr<std::string> ExportGraph(const v1::Evaluation& evaluation, const v1::Outcome& outcome,
                                        const v1::ListMeasurementsResponse& measurements);

}  // namespace assay::client
