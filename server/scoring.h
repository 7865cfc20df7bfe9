// Scores of evaluations from their outcomes, and the leaderboard from the packed curves of those that ended.
// Thread safety: works in the caller's transaction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "assay/v1/leaderboard.pb.h"
#include "server/database.h"

namespace assay::server {

// Where every trial of the evaluation has its outcome: state completed, and the packed curve is written, once. Else
// nothing.
absl::Status FinishEvaluation(Transaction& transaction, int64_t id, const std::string& now);

// Evaluations that are not in a final state and have nothing queued.
std::vector<int64_t> FinishableEvaluations(Transaction& transaction);

absl::Status GetCurve(Transaction& transaction, const v1::GetCurveRequest& request, v1::Curve* response);

absl::Status GetLeaderboard(Transaction& transaction, const v1::GetLeaderboardRequest& request,
                            v1::GetLeaderboardResponse* response);

}  // namespace assay::server
