// Graphs, by the hash of their canonical form, and the suites made of them.
// Thread safety: works in the caller's transaction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "assay/v1/suites.pb.h"
#include "server/database.h"

namespace assay::server {

std::vector<std::string> MissingGraphs(Transaction& transaction, const std::vector<std::string>& hashes);

// Stores canonical samples whose output fields are set; those there already are left alone. Returns the number of new
// ones.
int StoreGraphs(Transaction& transaction, const std::vector<v1::GraphSample>& graphs);

// By hash or a unique prefix of at least 8 digits. NotFound, InvalidArgument (too short, or not unique).
absl::StatusOr<v1::GraphSample> LoadGraph(Transaction& transaction, const std::string& hash);

// [a-z0-9][a-z0-9._-]{0,63}; `field` begins the message.
absl::Status CheckSuiteName(std::string_view field, const std::string& name);

// The next version, or the newest where its contents are the same. FailedPrecondition where a graph is not stored.
absl::StatusOr<v1::Suite> StoreSuite(Transaction& transaction, const v1::CreateSuiteRequest& request);

std::vector<v1::Suite> ListSuites(Transaction& transaction);

// With `graphs`: in order. `version` 0: the newest. NotFound. A graph that is known by its name alone (from an imported
// log) has no hash.
absl::StatusOr<v1::Suite> LoadSuite(Transaction& transaction, const std::string& name, int version, bool graphs,
                                    int64_t* id = nullptr);

}  // namespace assay::server
