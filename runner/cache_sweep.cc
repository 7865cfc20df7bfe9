#include "runner/cache_sweep.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace assay::runner {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLineWords = 64 / sizeof(uint64_t);
constexpr int64_t kLargest = int64_t{4} << 30;

std::string FirstWord(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

// "1024K", "32M"
int64_t BytesOf(const std::string& text) {
  char* unit = nullptr;
  const int64_t number = ::strtoll(text.c_str(), &unit, 10);
  return *unit == 'K' ? number << 10 : *unit == 'M' ? number << 20 : number;
}

}  // namespace

CacheSizes ReadCacheSizes(const std::string& folder) {
  CacheSizes sizes;
  std::error_code error;
  for (const fs::directory_entry& cache : fs::directory_iterator(folder, error)) {
    if (FirstWord(cache.path() / "type") == "Instruction") continue;
    const int64_t bytes = BytesOf(FirstWord(cache.path() / "size"));
    sizes.last_level = std::max(sizes.last_level, bytes);
    if (FirstWord(cache.path() / "level") == "2") sizes.own = bytes;
  }
  if (sizes.last_level <= 0) sizes.last_level = int64_t{32} << 20;
  if (sizes.own <= 0) sizes.own = int64_t{1} << 20;
  return sizes;
}

CacheSweep::CacheSweep(CacheSizes sizes) {
  const int64_t bytes = std::min(2 * sizes.last_level, kLargest);
  words_.assign(static_cast<size_t>(bytes) / sizeof(uint64_t), 1);  // written once: each page is one of its own
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus_.push_back(cpu);
    }
  }
  if (cpus_.empty()) cpus_.push_back(-1);
  const auto words = static_cast<int64_t>(words_.size());
  share_ = std::min(words, std::max<int64_t>(words / static_cast<int64_t>(cpus_.size()),
                                             2 * sizes.own / static_cast<int64_t>(sizeof(uint64_t))));
}

void CacheSweep::Sweep() {
  std::atomic<uint64_t> sum = 0;  // so that nothing is left out
  std::vector<std::thread> threads;
  const auto words = static_cast<int64_t>(words_.size());
  for (size_t i = 0; i < cpus_.size(); ++i) {
    threads.emplace_back([&, i] {
      if (cpus_[i] >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpus_[i], &set);
        ::sched_setaffinity(0, sizeof(set), &set);  // of this thread; where it is refused, the thread reads elsewhere
      }
      uint64_t here = 0;
      int64_t at = static_cast<int64_t>(i) * (words / static_cast<int64_t>(cpus_.size()));
      for (int64_t read = 0; read < share_; read += kLineWords, at += kLineWords) {
        if (at >= words) at = 0;
        here += words_[static_cast<size_t>(at)];
      }
      sum += here;
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace assay::runner
