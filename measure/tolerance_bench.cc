// How fast CompareOutputs() is beside the memory bandwidth that the same threads get in the same run: reading both
// arrays once, and memcpy. `of_read` is the comparison's bandwidth as a share of reading's.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "measure/random.h"
#include "measure/tolerance.h"

namespace assay::measure {
namespace {

constexpr int64_t kElements = int64_t{32} << 20;

// Two float32 arrays that differ by rounding, as outputs of two compilers do; too large for any cache.
struct Arrays {
  std::vector<float> x = std::vector<float>(kElements);
  std::vector<float> y = std::vector<float>(kElements);
  Arrays() {
    Random random(1);
    for (int64_t i = 0; i < kElements; ++i) {
      const auto at = static_cast<size_t>(i);
      y[at] = static_cast<float>(2 * random.Uniform() - 1);
      x[at] = y[at] * (1 + static_cast<float>(random.Below(5)) * 1e-7f);
    }
  }
};
Arrays& Data() {
  static Arrays arrays;
  return arrays;
}

template <typename Work>
void OnThreads(int threads, const Work& work) {
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back(work, i);
  work(0);
}

// Reads all of both arrays, in wide registers.
double ReadSeconds(int threads) {
  using Wide [[gnu::vector_size(64)]] = uint64_t;
  const auto start = std::chrono::steady_clock::now();
  OnThreads(threads, [&](int part) {
    Wide sums[4] = {};
    for (const std::vector<float>* array : {&Data().x, &Data().y}) {
      const int64_t begin = kElements / 64 * part / threads * 64;
      const int64_t end = kElements / 64 * (part + 1) / threads * 64;
      for (int64_t i = begin; i < end; i += 64) {
        Wide words[4];
        std::memcpy(words, array->data() + i, sizeof(words));
        for (int k = 0; k < 4; ++k) sums[k] ^= words[k];
      }
    }
    benchmark::DoNotOptimize(sums);
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double CompareSeconds(int threads) {
  const std::vector<int64_t> shape = {kElements};
  const auto start = std::chrono::steady_clock::now();
  auto result = CompareOutputs(graph::DType::kFloat32, shape, std::as_bytes(std::span(Data().x)),
                               std::as_bytes(std::span(Data().y)), threads);
  benchmark::DoNotOptimize(result);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void BM_CompareOutputs(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  double read = 0, compare = 0;
  CompareSeconds(threads);
  for (auto _ : state) {
    read += ReadSeconds(threads);
    const double seconds = CompareSeconds(threads);
    compare += seconds;
    state.SetIterationTime(seconds);
  }
  state.SetBytesProcessed(state.iterations() * 2 * kElements * static_cast<int64_t>(sizeof(float)));
  state.counters["of_read"] = read / compare;
}
BENCHMARK(BM_CompareOutputs)->Arg(1)->Arg(2)->UseManualTime()->MinTime(1);

void BM_Read(benchmark::State& state) {
  for (auto _ : state) state.SetIterationTime(ReadSeconds(static_cast<int>(state.range(0))));
  state.SetBytesProcessed(state.iterations() * 2 * kElements * static_cast<int64_t>(sizeof(float)));
}
BENCHMARK(BM_Read)->Arg(1)->Arg(2)->UseManualTime();

// memcpy reads one array and writes another: bytes count once for each.
void BM_Memcpy(benchmark::State& state) {
  std::vector<float> target(kElements);
  for (auto _ : state) {
    std::memcpy(target.data(), Data().x.data(), kElements * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * kElements * static_cast<int64_t>(sizeof(float)));
}
BENCHMARK(BM_Memcpy)->UseRealTime();

}  // namespace
}  // namespace assay::measure
