// What the fuzz targets share: a failed requirement ends the process, so that libFuzzer keeps the input, and the peak
// of the memory that a piece of work took is held against the input's size. Thread safety: none; a target has one
// thread.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>

namespace assay::fuzz {

inline void Require(bool condition, std::string_view what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// The most bytes of the heap that were in use at once during `work`, beyond those that were in use before it.
size_t PeakMemory(const std::function<void()>& work);

// Two bytes of text (`0,`) make an argument of 40 bytes, or a JSON value of 24, in a vector that doubles as it grows,
// and while it is moved to its new place the old one is there too: 60 times the text is reached by texts as short as a
// fuzzer's, no more may be. Longer ones are held to ten times (graph::Limits, tests/bench/parse_memory_test.cc).
inline constexpr size_t kMemoryFactor = 64;
inline constexpr size_t kMemorySlack = 64 << 10;  // messages, tables that are made at the first call

inline void RequireBoundedMemory(size_t input_bytes, const std::function<void()>& work) {
  const size_t peak = PeakMemory(work);
  if (peak <= kMemoryFactor * input_bytes + kMemorySlack) return;
  std::fprintf(stderr, "fuzz: %zu bytes of memory for %zu bytes of input\n", peak, input_bytes);
  std::abort();
}

}  // namespace assay::fuzz
