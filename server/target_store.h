// Targets: written once when an evaluation first names them, never changed.
// Thread safety: works in the caller's transaction.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "assay/v1/common.pb.h"
#include "server/database.h"
#include "server/offers.h"

namespace assay::server {

// The id of the target, which is stored if it is new.
int64_t StoreTarget(Transaction& transaction, const ResolvedTarget& target);

// Every id must exist.
std::map<int64_t, v1::Target> LoadTargets(Transaction& transaction, const std::set<int64_t>& ids);

}  // namespace assay::server
