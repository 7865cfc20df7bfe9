#include "worker/graph_cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "fmt/format.h"
#include "graph/canonical.h"
#include "graph/sample_folder.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

bool IsHash(std::string_view text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

fs::path GraphCache::FolderOf(std::string_view hash) const { return folder_ / hash.substr(0, 2) / hash; }

std::optional<graph::Sample> GraphCache::Read(std::string_view hash) const {
  absl::StatusOr<graph::Sample> sample = graph::ReadSampleFolder(FolderOf(hash));
  if (!sample.ok() || graph::HashOfCanonical(*sample) != hash) return std::nullopt;
  return *std::move(sample);
}

void GraphCache::Write(std::string_view hash, const graph::Sample& sample) const {
  // Written beside its place and moved there whole. A cache that cannot be written costs a fetch each time, no more.
  static std::atomic<int> counter = 0;
  const fs::path target = FolderOf(hash);
  const fs::path temporary = folder_ / fmt::format("new-{}-{}", ::getpid(), ++counter);
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (graph::WriteSampleFolder(temporary, sample).ok()) {
    fs::remove_all(target, error);
    fs::rename(temporary, target, error);
  }
  fs::remove_all(temporary, error);
}

absl::StatusOr<graph::Sample> GraphCache::Get(std::string_view hash) const {
  if (!IsHash(hash)) return absl::InvalidArgumentError(fmt::format("\"{}\" is not a graph's hash", hash));
  if (std::optional<graph::Sample> sample = Read(hash)) return *std::move(sample);
  absl::StatusOr<graph::Sample> sample = fetch_(hash);
  if (!sample.ok()) return sample;
  if (graph::HashOfCanonical(*sample) != hash) {
    return absl::DataLossError(
        fmt::format("the graph that was sent for {} has the hash {}", hash, graph::HashOfCanonical(*sample)));
  }
  Write(hash, *sample);
  return sample;
}

}  // namespace assay::worker
