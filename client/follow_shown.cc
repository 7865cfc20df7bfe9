#include "client/follow_shown.h"

#include <unistd.h>

#include "client/command.h"
#include "client/evaluation_text.h"
#include "client/follow.h"
#include "client/progress.h"
#include "client/text.h"

namespace assay::client {
namespace {

absl::StatusOr<v1::Evaluation> FollowWith(Api& api, const std::string& id, FollowOptions options) {
  options.sleep = [](double seconds) { ::usleep(static_cast<useconds_t>(seconds * 1e6)); };
  return Follow(
      id, [&](const v1::GetEvaluationRequest& request) { return api.Call(request); }, options);
}

}  // namespace

absl::StatusOr<v1::Evaluation> FollowShown(Api& api, const std::string& id, const std::string& what) {
  Progress progress = Progress::OnStandardError();
  Rate rate;
  FollowOptions options;
  options.on_change = [&](const v1::Evaluation& evaluation) {
    rate.Add(Clock::now(), evaluation.finished());
    progress.Show(what + ProgressLine(evaluation, rate), IsFinal(evaluation.state()));
  };
  options.on_unreachable = [&](const absl::Status& status) { progress.Show(MessageOf(status) + "; trying again"); };
  return FollowWith(api, id, std::move(options));
}

absl::StatusOr<v1::Evaluation> FollowAsJson(Api& api, const std::string& id) {
  FollowOptions options;
  options.on_change = [](const v1::Evaluation& evaluation) { PrintJson(evaluation); };
  options.on_unreachable = [](const absl::Status&) {};
  return FollowWith(api, id, std::move(options));
}

}  // namespace assay::client
