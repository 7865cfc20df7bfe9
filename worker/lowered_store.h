// What runners keep of a graph between trials (`lower` of runner/protocol.md): opaque bytes, compressed on disk. An
// entry is found by the graph and by all that tells one runner from another, and only a trial of that graph in that
// runner writes it: what one trial leaves there reaches no other graph. Runners never see the folder. Thread safety:
// all methods may be called from any thread; the folder belongs to one worker.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "assay/v1/workers.pb.h"

namespace assay::worker {

class LoweredStore {
 public:
  static constexpr int64_t kMaximumEntryBytes = int64_t{256} << 20;  // before compression

  // `maximum_bytes` bounds the files together: the least recently used go first.
  explicit LoweredStore(std::filesystem::path folder, int64_t maximum_bytes = int64_t{1} << 30)
      : folder_(std::move(folder)), maximum_bytes_(maximum_bytes) {}

  static std::string KeyOf(const v1::Runner& runner, std::string_view device, std::string_view graph_hash);

  // Nothing where there is no entry, or a damaged one.
  std::optional<std::string> Read(const std::string& key) const;
  // A store that cannot be written costs time only.
  void Write(const std::string& key, std::string_view bytes) const;

 private:
  void Prune() const;

  std::filesystem::path folder_;
  int64_t maximum_bytes_;
};

}  // namespace assay::worker
