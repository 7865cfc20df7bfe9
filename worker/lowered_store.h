// What runners lowered of graphs (`lower` of runner/protocol.md), so that a graph is lowered once in a cluster: opaque
// bytes, compressed, in a folder of this worker's and, for trusted runners, in the service's store. An entry is found
// by the graph, the lowering's version and the contents of the runner environment, and is only written after a trial of
// that graph in that environment: what one trial leaves there reaches no other graph. Runners never see the folder.
// Thread safety: all methods may be called from any thread; the folder belongs to one worker.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "worker/runner_pool.h"
#include "worker/service.h"

namespace assay::worker {

class LoweredStore {
 public:
  static constexpr int64_t kMaximumEntryBytes = int64_t{256} << 20;  // before compression

  // `service` is nullptr where there is none. `maximum_bytes` bounds the files together: the least recently used go
  // first.
  LoweredStore(std::filesystem::path folder, Service* service, int64_t maximum_bytes = int64_t{1} << 30)
      : folder_(std::move(folder)), service_(service), maximum_bytes_(maximum_bytes) {}

  // Nothing where there is no entry, or a damaged one.
  std::optional<std::string> Read(const KnownRunner& runner, std::string_view graph_hash) const;
  // A store that cannot be written costs time only.
  void Write(const KnownRunner& runner, std::string_view graph_hash, std::string_view bytes) const;

 private:
  void Keep(const std::filesystem::path& file, std::string_view packed) const;
  void Prune() const;

  std::filesystem::path folder_;
  Service* service_;
  int64_t maximum_bytes_;
};

}  // namespace assay::worker
