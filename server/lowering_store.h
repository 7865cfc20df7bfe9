// Lowered graphs: what workers' runners made of a graph once, for all workers. The content is opaque here.
// Thread safety: works in the caller's transaction.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "assay/v1/workers.pb.h"
#include "server/database.h"

namespace assay::server {

inline constexpr size_t kMostLoweringBytes = size_t{32} << 20;

// NotFound where there is none.
absl::StatusOr<std::string> LoadLowering(Transaction& transaction, const v1::LoweringKey& key);

// The first content of a key holds: a later one changes nothing. InvalidArgument says what is wrong with the key or the
// content.
absl::Status StoreLowering(Transaction& transaction, const v1::LoweringKey& key, const std::string& content);

}  // namespace assay::server
