// Brings the samples of a folder into a suite: parses them here, sends the server only the graphs that it lacks, and
// makes the suite's next version in one step at the end. Stopped half-way it leaves graphs that no suite names, and
// that the next import need not send again.
// Thread safety: one thread calls; parsing uses several.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/api.h"
#include "client/sample_check.h"

namespace assay::client {

// The server, as far as an import needs it.
class ImportTarget {
 public:
  virtual ~ImportTarget() = default;
  virtual absl::StatusOr<v1::FindMissingGraphsResponse> FindMissing(const v1::FindMissingGraphsRequest& request) = 0;
  virtual absl::StatusOr<v1::UploadGraphsResponse> Upload(const v1::UploadGraphsRequest& request) = 0;
  virtual absl::StatusOr<v1::Suite> Create(const v1::CreateSuiteRequest& request) = 0;
};

struct ImportOptions {
  std::filesystem::path folder;
  std::string suite;
  int threads = 1;
  bool strict = false;             // make no suite where a sample is refused
  bool synthesize = false;         // make up a weight_meta.py that is missing (graph/synthesize_meta.h)
  size_t batch_bytes = 16u << 20;  // of one upload, about
  std::function<void(const CheckedSample&)> on_refused;
  std::function<void(size_t done, size_t total, size_t refused)> on_progress;
};

struct ImportResult {
  size_t samples = 0, accepted = 0, refused = 0;
  size_t synthesized = 0;  // of the accepted
  size_t graphs = 0;       // distinct ones among the accepted
  size_t sent = 0;         // of these, how many the server did not have
  int64_t sent_bytes = 0;
  bool made = false;  // `suite` was made, or found to be the newest version already
  v1::Suite suite;
};

absl::StatusOr<ImportResult> Import(const ImportOptions& options, ImportTarget& target);

// [a-z0-9][a-z0-9._-]{0,63}
absl::Status CheckSuiteName(std::string_view name);

}  // namespace assay::client
