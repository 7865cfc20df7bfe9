#include "client/rerun.h"

#include "client/follow_shown.h"
#include "client/pages.h"
#include "client/target.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {

absl::Status CheckRerunnable(const v1::Evaluation& evaluation) {
  if (evaluation.imported().empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("evaluation {} was imported from a log: nothing of it can be measured again here", evaluation.id()));
}

v1::CreateEvaluationRequest RerunRequest(const v1::Evaluation& evaluation, const std::set<std::string>& graphs) {
  v1::CreateEvaluationRequest request;
  request.set_suite(evaluation.suite());
  request.set_suite_version(evaluation.suite_version());
  *request.mutable_candidate() = evaluation.candidate();
  if (evaluation.has_baseline()) *request.mutable_baseline() = evaluation.baseline();
  *request.mutable_policy() = evaluation.policy();
  for (const std::string& graph : graphs) request.add_graphs(graph);
  request.set_fresh(true);
  return request;
}

absl::StatusOr<v1::Evaluation> StartRerun(Api& api, const v1::Evaluation& evaluation,
                                          const v1::CreateEvaluationRequest& request) {
  absl::StatusOr<v1::Evaluation> rerun = api.Call(request);
  if (!rerun.ok()) return rerun;
  for (const auto& [then, now] : {std::pair(&evaluation.candidate(), &rerun->candidate()),
                                  std::pair(&evaluation.baseline(), &rerun->baseline())}) {
    if (FullTarget(*then) == FullTarget(*now)) continue;
    v1::CancelEvaluationRequest cancel;
    cancel.set_id(rerun->id());
    if (const auto cancelled = api.Call(cancel); !cancelled.ok()) return cancelled.status();
    return absl::FailedPreconditionError(fmt::format("evaluation {} measured {}, but what is offered now is {}",
                                                     evaluation.id(), FullTarget(*then), FullTarget(*now)));
  }
  return rerun;
}

absl::StatusOr<v1::ListOutcomesResponse> FinishRerun(Api& api, v1::Evaluation& rerun, const std::string& what) {
  absl::StatusOr<v1::Evaluation> followed = FollowShown(api, rerun.id(), what);
  if (!followed.ok()) return followed.status();
  rerun = *std::move(followed);
  if (rerun.state() != v1::COMPLETED) {
    return absl::AbortedError(fmt::format("evaluation {} was cancelled ({})", rerun.id(), what));
  }
  return AllOutcomes(api, rerun.id());
}

}  // namespace assay::client
