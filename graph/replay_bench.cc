// How fast tensors are written, against memset and memcpy of as many bytes in the same run. `of_memset` and `of_memcpy`
// are shares of their speeds. Pages are new in every iteration and shared, as those of a trial's memory file.
//   graph_replay_bench --benchmark_filter=Replay/float32
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <span>
#include <vector>

#include "graph/replay.h"

namespace assay::graph {
namespace {

constexpr size_t kBytes = size_t{256} << 20;
constexpr int kThreads = 2;

// Zeroed pages that are not there yet.
class FreshPages {
 public:
  FreshPages()
      : data_(static_cast<std::byte*>(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~FreshPages() { ::munmap(data_, kBytes); }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;

  bool ok() const { return data_ != MAP_FAILED; }
  std::span<std::byte> bytes() { return {data_, kBytes}; }

 private:
  std::byte* data_;
};

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <typename Write>
double Seconds(const Write& write) {
  FreshPages pages;
  if (!pages.ok()) return 0;
  const double start = Now();
  write(pages.bytes());
  benchmark::ClobberMemory();
  return Now() - start;
}

TensorMeta Meta(DType dtype) {
  TensorMeta meta;
  meta.name = "L_self_modules_fc_parameters_weight_";
  meta.dtype = dtype;
  meta.shape = {static_cast<int64_t>(kBytes) / ElementSize(dtype)};
  meta.mean = 0.01;
  meta.std = 0.02;
  if (IsIntegral(dtype)) meta.min_val = 0, meta.max_val = 30000;
  return meta;
}

void Replay(benchmark::State& state, DType dtype, ReplayMode mode) {
  const TensorMeta meta = Meta(dtype);
  const std::vector<std::byte> source(kBytes, std::byte{1});
  double replay = 0, memset = 0, memcpy = 0;
  for (auto _ : state) {
    const double seconds =
        Seconds([&](std::span<std::byte> out) { ReplayTensor("hash", meta, kPublicSet, mode, out, kThreads); });
    state.SetIterationTime(seconds);
    replay += seconds;
    memset += Seconds([](std::span<std::byte> out) { std::memset(out.data(), 1, out.size()); });
    memcpy += Seconds([&](std::span<std::byte> out) { std::memcpy(out.data(), source.data(), out.size()); });
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kBytes));
  state.counters["of_memset"] = memset / replay;
  state.counters["of_memcpy"] = memcpy / replay;
}

BENCHMARK_CAPTURE(Replay, float32_assay, DType::kFloat32, ReplayMode::kAssay)->UseManualTime();
BENCHMARK_CAPTURE(Replay, float32_graphnet, DType::kFloat32, ReplayMode::kGraphNet)->UseManualTime();
BENCHMARK_CAPTURE(Replay, bfloat16_assay, DType::kBFloat16, ReplayMode::kAssay)->UseManualTime();
BENCHMARK_CAPTURE(Replay, float16_assay, DType::kFloat16, ReplayMode::kAssay)->UseManualTime();
BENCHMARK_CAPTURE(Replay, int64_assay, DType::kInt64, ReplayMode::kAssay)->UseManualTime();

}  // namespace
}  // namespace assay::graph
