// Reading evaluations, their outcomes and measurements.
// Thread safety: works in the caller's transaction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "server/database.h"
#include "server/queue.h"

namespace assay::server {

// Evaluations by id, in the order given; ids that do not exist are left out.
std::vector<v1::Evaluation> LoadEvaluations(Transaction& transaction, const std::vector<int64_t>& ids);

// One evaluation, with what is left to do and why nothing runs. NotFound.
absl::StatusOr<v1::Evaluation> LoadEvaluation(Transaction& transaction, const Queue& queue, int64_t id);

// Newest first. InvalidArgument: the page token is not one of this list.
absl::Status ListEvaluations(Transaction& transaction, const v1::ListEvaluationsRequest& request,
                             v1::ListEvaluationsResponse* response);

// Condition of SQL: the graph of the outcome `o` is one whose outputs prove nothing, with whichever compiler that was
// seen, on tensors filled by the same rule. So the same graphs are left out for all compilers.
inline constexpr char kIsDegenerate[] =
    "EXISTS (SELECT 1 FROM outcomes d WHERE d.graph_hash = o.graph_hash AND d.replay = o.replay AND d.degenerate)";

absl::Status ListOutcomes(Transaction& transaction, const v1::ListOutcomesRequest& request,
                          v1::ListOutcomesResponse* response);

absl::Status ListMeasurements(Transaction& transaction, const v1::ListMeasurementsRequest& request,
                              v1::ListMeasurementsResponse* response);

// The number in an id that a user gave. NotFound where it is none.
absl::StatusOr<int64_t> EvaluationId(const std::string& id);

// What GetEvaluation waits for, of several evaluations at once.
struct Progress {
  int64_t id = 0;
  bool final = false;
  int finished = 0;
};
std::vector<Progress> LoadProgress(Transaction& transaction, const std::vector<int64_t>& ids);

}  // namespace assay::server
