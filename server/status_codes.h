// The one table from a status to what each front says. absl's and gRPC's codes have the same numbers.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace assay::server {

// As google.rpc.Code's documentation maps them: 400, 401, 403, 404, 409, 429, 499, 500, 501, 503, 504.
int HttpCode(absl::StatusCode code);

// google.rpc.Status as JSON.
std::string StatusJson(const absl::Status& status);

}  // namespace assay::server
