// Graphs measured once more, as an evaluation measured them: the same targets, baseline and policy.
// Thread safety: one thread.
#pragma once

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "client/api.h"

namespace assay::client {

// FailedPrecondition where nothing can be measured as the evaluation was: it was imported.
absl::Status CheckRerunnable(const v1::Evaluation& evaluation);

// Queues these graphs of the evaluation's suite, measured afresh. `policy` and suite may be changed before it is sent.
v1::CreateEvaluationRequest RerunRequest(const v1::Evaluation& evaluation, const std::set<std::string>& graphs);

// Sends it. FailedPrecondition, and nothing is left queued, where the compiler that is offered now under the target's
// name is not the one that the evaluation measured.
absl::StatusOr<v1::Evaluation> StartRerun(Api& api, const v1::Evaluation& evaluation,
                                          const v1::CreateEvaluationRequest& request);

// Waits for its end with its progress on standard error, `what` before it. Aborted where it was cancelled.
absl::StatusOr<v1::ListOutcomesResponse> FinishRerun(Api& api, v1::Evaluation& rerun, const std::string& what);

}  // namespace assay::client
