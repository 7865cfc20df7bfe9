// Evaluations that another program measured: stored with their outcomes, complete from the start, and marked.
// Thread safety: works in the caller's transaction.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "server/database.h"
#include "server/queue.h"
#include "server/submission.h"

namespace assay::server {

// The evaluation's id. A request that was carried out before under the same client key gives the same id.
// InvalidArgument: an outcome contradicts itself, or the suite has graphs but not one that is named.
absl::StatusOr<int64_t> ImportEvaluation(Transaction& transaction, const Queue& queue, const SubmissionLimits& limits,
                                         int64_t submitter, const v1::ImportEvaluationRequest& request);

}  // namespace assay::server
