// Follows an evaluation to its end. A server that goes away for a while (a restart) is waited for.
// Thread safety: one thread.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"

namespace assay::client {

using GetEvaluation = std::function<absl::StatusOr<v1::Evaluation>(const v1::GetEvaluationRequest&)>;

struct FollowOptions {
  double patience_seconds = 600;  // with a server that answered before and does not now
  std::function<void(double seconds)> sleep;
  std::function<void(const v1::Evaluation&)> on_change;     // at first, whenever something has changed, and at the end
  std::function<void(const absl::Status&)> on_unreachable;  // each time that it was asked in vain
};

absl::StatusOr<v1::Evaluation> Follow(const std::string& id, const GetEvaluation& get, const FollowOptions& options);

}  // namespace assay::client
