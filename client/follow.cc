#include "client/follow.h"

#include <google/protobuf/util/message_differencer.h>

#include "client/evaluation_text.h"

namespace assay::client {

absl::StatusOr<v1::Evaluation> Follow(const std::string& id, const GetEvaluation& get, const FollowOptions& options) {
  constexpr double kWaitSeconds = 5;  // progress within a graph (what runs, what is waited for) is seen this often
  constexpr double kRetrySeconds = 1;
  v1::GetEvaluationRequest request;
  request.set_id(id);
  absl::StatusOr<v1::Evaluation> last = get(request);
  if (!last.ok()) return last.status();
  options.on_change(*last);
  double unreachable = 0;
  while (!IsFinal(last->state())) {
    request.set_wait_seconds(kWaitSeconds);
    request.set_after_finished(last->finished());
    absl::StatusOr<v1::Evaluation> next = get(request);
    if (absl::IsUnavailable(next.status()) && unreachable < options.patience_seconds) {
      options.on_unreachable(next.status());
      options.sleep(kRetrySeconds);
      unreachable += kRetrySeconds;
      continue;
    }
    if (!next.ok()) return next.status();
    unreachable = 0;
    if (!google::protobuf::util::MessageDifferencer::Equals(*next, *last)) options.on_change(*next);
    last = std::move(next);
  }
  return last;
}

}  // namespace assay::client
