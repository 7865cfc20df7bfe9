// Empties the processors' caches before a timed call (`pair` with `cold`, runner/protocol.md): every processor that
// this process may use reads its share of a buffer twice as large as the last-level cache, and so throws out of its own
// caches, and of the shared one, what was there. It only reads: lines that were written would have to be written back
// while the call runs. Thread safety: none. Sweep() starts threads, which have ended when it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::runner {

struct CacheSizes {
  int64_t last_level = 0;  // the largest
  int64_t own = 0;         // of level 2: one processor's
};
// As `folder` (/sys/devices/system/cpu/cpu0/cache) tells; 32 MiB and 1 MiB where it tells nothing.
CacheSizes ReadCacheSizes(const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

class CacheSweep {
 public:
  explicit CacheSweep(CacheSizes sizes = ReadCacheSizes());

  void Sweep();

  int64_t bytes() const { return static_cast<int64_t>(words_.size() * sizeof(uint64_t)); }

 private:
  std::vector<uint64_t> words_;
  std::vector<int> cpus_;  // that this process may use
  int64_t share_ = 0;      // words that each of them reads
};

}  // namespace assay::runner
