#include "worker/lowered_store.h"

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <tuple>
#include <vector>

#include "fmt/format.h"
#include "graph/sha256.h"

namespace assay::worker {

namespace fs = std::filesystem;

std::string LoweredStore::KeyOf(const v1::Runner& runner, std::string_view device, std::string_view graph_hash) {
  // JSON strings would do as well; none of these holds a newline but by a runner's own fault, which harms itself alone.
  return graph::Sha256Hex(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", runner.name(), runner.version(), runner.build(),
                                      runner.environment_hash(), device, graph_hash));
}

std::optional<std::string> LoweredStore::Read(const std::string& key) const {
  const fs::path file = folder_ / key;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string packed(std::istreambuf_iterator<char>(in), {});
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > static_cast<unsigned long long>(kMaximumEntryBytes)) return std::nullopt;  // the codes of errors as well
  std::string bytes(size, '\0');
  const size_t read = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(read) || read != bytes.size()) return std::nullopt;
  std::error_code error;
  fs::last_write_time(file, fs::file_time_type::clock::now(), error);
  return bytes;
}

void LoweredStore::Write(const std::string& key, std::string_view bytes) const {
  if (static_cast<int64_t>(bytes.size()) > kMaximumEntryBytes) return;
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3);
  if (ZSTD_isError(size)) return;
  // Written beside its place and moved there whole.
  static std::atomic<int> counter = 0;
  const fs::path temporary = folder_ / fmt::format("new-{}-{}", ::getpid(), ++counter);
  std::error_code error;
  fs::create_directories(folder_, error);
  std::ofstream out(temporary, std::ios::binary);
  out.write(packed.data(), static_cast<std::streamsize>(size));
  out.close();
  if (out) fs::rename(temporary, folder_ / key, error);
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
