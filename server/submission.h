// Makes evaluations: checks a request, stores the evaluation and queues its trials.
// Thread safety: works in the caller's transaction.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "server/database.h"
#include "server/queue.h"

namespace assay::server {

struct SubmissionLimits {
  int trials = 50000;  // of one evaluation
};

// The policy with every field decided. InvalidArgument names the field that is out of range and the range.
absl::StatusOr<v1::Policy> CompletePolicy(const v1::Policy& request);

// The evaluation's id. A request that was carried out before under the same client key gives the same id.
absl::StatusOr<int64_t> Submit(Transaction& transaction, const Queue& queue, const SubmissionLimits& limits,
                               int64_t submitter, const v1::CreateEvaluationRequest& request);

}  // namespace assay::server
