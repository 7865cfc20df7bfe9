// Follows an evaluation to its end, showing how far it is. Thread safety: one thread.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/api.h"

namespace assay::client {

// On standard error; `what` stands before the progress.
absl::StatusOr<v1::Evaluation> FollowShown(Api& api, const std::string& id, const std::string& what = "");

// On standard output: the evaluation as a line of JSON at every change.
absl::StatusOr<v1::Evaluation> FollowAsJson(Api& api, const std::string& id);

}  // namespace assay::client
