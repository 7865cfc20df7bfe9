// Graphs by hash on disk. What is read is hashed again, so that a damaged file is fetched anew and never run.
// Thread safety: all methods may be called from any thread, and by several workers with one folder.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/parse.h"

namespace assay::worker {

class GraphCache {
 public:
  using Fetch = std::function<absl::StatusOr<graph::Sample>(std::string_view hash)>;

  // `fetch` gives what the folder does not have.
  GraphCache(std::filesystem::path folder, Fetch fetch) : folder_(std::move(folder)), fetch_(std::move(fetch)) {}

  // The canonical sample with this hash. InvalidArgument where `hash` is not 64 hex digits, DataLoss where what was
  // fetched has another hash.
  absl::StatusOr<graph::Sample> Get(std::string_view hash) const;

 private:
  std::optional<graph::Sample> Read(std::string_view hash) const;
  void Write(std::string_view hash, const graph::Sample& sample) const;
  std::filesystem::path FolderOf(std::string_view hash) const;

  std::filesystem::path folder_;
  Fetch fetch_;
};

}  // namespace assay::worker
