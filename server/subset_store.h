// Makes a suite of graphs that represent another one within a time budget (subset.h).
// Thread safety: works in the caller's transaction.
#pragma once

#include "absl/status/status.h"
#include "assay/v1/suites.pb.h"
#include "server/database.h"

namespace assay::server {

// Costs come from stored outcomes, callees from stored graphs. InvalidArgument: a value of the request. NotFound: no
// such suite. FailedPrecondition: nothing fits.
absl::Status CreateSubset(Transaction& transaction, const v1::CreateSubsetRequest& request,
                          v1::CreateSubsetResponse* response);

}  // namespace assay::server
