#include "worker/lowered_store.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <tuple>
#include <vector>

#include "fmt/format.h"
#include "graph/sha256.h"
#include "spdlog/spdlog.h"
#include "worker/compression.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

v1::LoweringKey KeyOf(const KnownRunner& runner, std::string_view graph_hash) {
  v1::LoweringKey key;
  key.set_graph_hash(std::string(graph_hash));
  key.set_lowering(runner.lowering);
  key.set_environment_hash(runner.offer.environment_hash());
  return key;
}

// Runners that do not ship with Assay have entries of their own: neither they nor others read what the other wrote.
std::string FileName(const KnownRunner& runner, const v1::LoweringKey& key) {
  return graph::Sha256Hex(fmt::format("{}\n{}\n{}\n{}", runner.config.trusted ? "" : runner.config.name,
                                      key.graph_hash(), key.environment_hash(), key.lowering()));
}

}  // namespace

std::optional<std::string> LoweredStore::Read(const KnownRunner& runner, std::string_view graph_hash) const {
  const v1::LoweringKey key = KeyOf(runner, graph_hash);
  const fs::path file = folder_ / FileName(runner, key);
  if (std::ifstream in(file, std::ios::binary); in) {
    const std::string packed(std::istreambuf_iterator<char>(in), {});
    std::error_code error;
    fs::last_write_time(file, fs::file_time_type::clock::now(), error);
    if (std::optional<std::string> bytes = Decompress(packed, kMaximumEntryBytes)) return bytes;
  }
  if (service_ == nullptr || !runner.config.trusted) return std::nullopt;
  const absl::StatusOr<std::string> packed = service_->GetLowering(key);
  if (!packed.ok()) {
    // Unimplemented by a service of the version before.
    if (!absl::IsNotFound(packed.status()) && !absl::IsUnimplemented(packed.status()))
      spdlog::warn("{}", std::string(packed.status().message()));
    return std::nullopt;
  }
  std::optional<std::string> bytes = Decompress(*packed, kMaximumEntryBytes);
  if (bytes) Keep(file, *packed);
  return bytes;
}

void LoweredStore::Write(const KnownRunner& runner, std::string_view graph_hash, std::string_view bytes) const {
  if (static_cast<int64_t>(bytes.size()) > kMaximumEntryBytes) return;
  const std::string packed = Compress(bytes);
  if (packed.empty()) return;
  const v1::LoweringKey key = KeyOf(runner, graph_hash);
  Keep(folder_ / FileName(runner, key), packed);
  if (service_ == nullptr || !runner.config.trusted) return;
  if (absl::Status status = service_->PutLowering(key, packed); !status.ok() && !absl::IsUnimplemented(status)) {
    spdlog::warn("{}", std::string(status.message()));
  }
}

void LoweredStore::Keep(const fs::path& file, std::string_view packed) const {
  // Written beside its place and moved there whole.
  static std::atomic<int> counter = 0;
  const fs::path temporary = folder_ / fmt::format("new-{}-{}", ::getpid(), ++counter);
  std::error_code error;
  fs::create_directories(folder_, error);
  std::ofstream out(temporary, std::ios::binary);
  out.write(packed.data(), static_cast<std::streamsize>(packed.size()));
  out.close();
  if (out) fs::rename(temporary, file, error);
  fs::remove(temporary, error);
  Prune();
}

void LoweredStore::Prune() const {
  using Entry = std::tuple<fs::file_time_type, int64_t, fs::path>;
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(folder_, error)) {
    std::error_code gone;  // another thread may prune as well
    const int64_t size = static_cast<int64_t>(file.file_size(gone));
    const fs::file_time_type used = file.last_write_time(gone);
    if (gone) continue;
    entries.emplace_back(used, size, file.path());
    total += size;
  }
  std::sort(entries.begin(), entries.end());
  for (const auto& [used, size, path] : entries) {
    if (total <= maximum_bytes_) return;
    fs::remove(path, error);
    total -= size;
  }
}

}  // namespace assay::worker
