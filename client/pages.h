// Lists that the server gives in pages, whole.
// Thread safety: as Api.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/api.h"

namespace assay::client {

absl::StatusOr<v1::ListOutcomesResponse> AllOutcomes(Api& api, const std::string& evaluation,
                                                     bool without_degenerate = false);

}  // namespace assay::client
