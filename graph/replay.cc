// Compiled like normals.cc with -ffp-contract=off.
#include "graph/replay.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

#include "graph/convert.h"
#include "graph/normals.h"
#include "graph/role.h"
#include "graph/sha256.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

constexpr int64_t kBlock = 64 * kGroup;       // elements made at once, in cache
constexpr int64_t kChunk = int64_t{1} << 20;  // elements that a thread takes at once; a multiple of kBlock
constexpr float kLargest = 100.0f;
constexpr std::string_view kStreamVersion = "assay-replay-1";  // of the random numbers, before they are scaled

PhiloxKey KeyOf(std::string_view graph_hash, std::string_view name, std::string_view seed) {
  // The lengths keep the parts apart.
  const auto digest = Sha256(
      Cat(kStreamVersion, "\n", graph_hash.size(), " ", name.size(), " ", seed.size(), "\n", graph_hash, name, seed));
  uint32_t words[4] = {};
  for (int i = 0; i < 16; ++i) words[i / 4] |= uint32_t{digest[i]} << (8 * (i % 4));
  return {{words[0], words[1]}, {words[2], words[3]}};
}

// What a tensor is filled by.
enum class Rule { kUniform, kData, kBool, kNormal };

Rule RuleOf(const TensorMeta& meta) {
  if (IsIntegral(meta.dtype) && meta.min_val.has_value() && meta.max_val.has_value()) return Rule::kUniform;
  if (meta.data.has_value()) return Rule::kData;
  return meta.dtype == DType::kBool ? Rule::kBool : Rule::kNormal;
}

// Calls visit(T{}) with the type that holds an element of an integer dtype.
template <typename Visit>
void WithInteger(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::kUInt8:
      return visit(uint8_t{});
    case DType::kInt8:
      return visit(int8_t{});
    case DType::kInt16:
      return visit(int16_t{});
    case DType::kInt32:
      return visit(int32_t{});
    default:
      return visit(int64_t{});
  }
}

// Writes floats as elements; complex numbers are pairs.
void Store(const float* from, int64_t count, DType dtype, std::byte* to) {
  const auto each = [&](auto sample, const auto& convert) {
    using T = decltype(sample);
    // Through memcpy, for `to` need not be aligned.
    for (int64_t i = 0; i < count; ++i) {
      const T value = convert(from[i]);
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
  };
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      std::memcpy(to, from, count * sizeof(float));
      return;
    case DType::kFloat64:
    case DType::kComplex128:
      return each(double{}, [](float x) { return static_cast<double>(x); });
    case DType::kFloat16:
      return each(uint16_t{}, ToFloat16);
    case DType::kBFloat16:
      return each(uint16_t{}, ToBFloat16);
    case DType::kFloat8E4M3FN:
      return each(uint8_t{}, ToFloat8E4M3FN);
    case DType::kFloat8E5M2:
      return each(uint8_t{}, ToFloat8E5M2);
    case DType::kBool:
      return each(uint8_t{}, [](float x) { return static_cast<uint8_t>(x > 0.5f); });
    default:
      // Values are within ±100 here, which all integer types hold but the unsigned one.
      return WithInteger(dtype, [&](auto sample) {
        using T = decltype(sample);
        each(sample, [](float x) { return static_cast<T>(std::is_unsigned_v<T> && x < 0 ? 0.0f : x); });
      });
  }
}

// What a normal number is multiplied by, and what is added.
struct Spread {
  double mean = 0, scale = 0;
};

Spread SpreadOf(const TensorMeta& meta, ReplayMode mode) {
  const double mean = meta.mean.value_or(0.0), std = meta.std.value_or(0.1);
  if (mode == ReplayMode::kGraphNet) return {mean, std == 0 ? 0.0 : std * 0.2};
  if (!IsFloatingPoint(meta.dtype) && !IsComplex(meta.dtype)) return {mean, std};
  const bool unknown = std == 0 || !std::isfinite(std);
  if (IsRunningVariance(meta.name)) {
    if (!(mean > 0)) return {1, TypicalStd(meta.name, meta.shape, 1)};
    // No normal number passes six.
    return {mean, std::min(unknown ? TypicalStd(meta.name, meta.shape, mean) : std, mean / 6)};
  }
  return {mean, unknown ? TypicalStd(meta.name, meta.shape, mean) : std};
}

// Normal numbers to values: scaled, shifted, clamped. NaN passes a clamp and is then replaced.
void Shape(const TensorMeta& meta, const Spread& spread, float* values, int64_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto scale = static_cast<float>(spread.scale), mean = static_cast<float>(spread.mean);
  const float low = static_cast<float>(meta.min_val.value_or(-kInfinity));
  const float high = static_cast<float>(meta.max_val.value_or(kInfinity));
  for (int64_t i = 0; i < count; ++i) {
    const float normal = values[i];
    float value = normal * scale + mean;
    value = value < low ? low : value;
    value = value > high ? high : value;
    value = std::abs(value) < kInfinity ? value : normal * 0.01f;
    value = value < -kLargest ? -kLargest : value;
    values[i] = value > kLargest ? kLargest : value;
  }
}

void FillNormal(const PhiloxKey& key, const TensorMeta& meta, const Spread& spread, int64_t begin, int64_t end,
                std::byte* out) {
  // A complex element is two numbers.
  const int64_t numbers = IsComplex(meta.dtype) ? 2 : 1;
  const int64_t bytes = ElementSize(meta.dtype) / numbers;
  begin *= numbers;
  end *= numbers;
  const bool constant = meta.dtype != DType::kBool && spread.scale == 0 && std::isfinite(spread.mean);
  alignas(64) float block[kBlock];
  if (constant) {
    std::fill_n(block, kBlock, 0.0f);
    Shape(meta, spread, block, kBlock);
  }
  for (int64_t i = begin; i < end; i += kBlock) {
    const int64_t count = std::min(kBlock, end - i);
    if (!constant) {
      NormalNumbers(key, static_cast<uint64_t>(i / kGroup), (count + kGroup - 1) / kGroup, block);
      if (meta.dtype != DType::kBool) Shape(meta, spread, block, (count + kGroup - 1) / kGroup * kGroup);
    }
    Store(block, count, meta.dtype, out + (i - begin) * bytes);
  }
}

// Uniform in [min, max]: the upper half of the product of 64 random bits and the number of values.
void FillUniform(const PhiloxKey& key, const TensorMeta& meta, int64_t begin, int64_t end, std::byte* out) {
  const auto low = static_cast<int64_t>(*meta.min_val), high = static_cast<int64_t>(*meta.max_val);
  const uint64_t values = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;  // 0 means 2^64
  WithInteger(meta.dtype, [&](auto sample) {
    using T = decltype(sample);
    for (int64_t i = begin; i < end; ++i) {
      const std::array<uint32_t, 4> words = Philox(key, static_cast<uint64_t>(i));
      const uint64_t random = uint64_t{words[1]} << 32 | words[0];
      __extension__ using Wide = unsigned __int128;
      const uint64_t step = values == 0 ? random : static_cast<uint64_t>(static_cast<Wide>(random) * values >> 64);
      const T value = static_cast<T>(static_cast<uint64_t>(low) + step);
      std::memcpy(out + (i - begin) * sizeof(T), &value, sizeof(T));
    }
  });
}

void FillData(const TensorMeta& meta, int64_t begin, int64_t end, std::byte* out) {
  const auto put = [&](int64_t i, auto value) {
    std::memcpy(out + (i - begin) * sizeof(value), &value, sizeof(value));
  };
  for (int64_t i = begin; i < end; ++i) {
    const std::variant<int64_t, double, bool>& number = (*meta.data)[i];
    const auto as_double = std::visit([](auto value) { return static_cast<double>(value); }, number);
    switch (meta.dtype) {
      case DType::kFloat64:
        put(i, as_double);
        break;
      case DType::kComplex64:
        put(i, std::array<float, 2>{static_cast<float>(as_double), 0.0f});
        break;
      case DType::kComplex128:
        put(i, std::array<double, 2>{as_double, 0.0});
        break;
      case DType::kBool:
        put(i, static_cast<uint8_t>(as_double != 0));
        break;
      default:
        if (IsIntegral(meta.dtype)) {
          const auto as_integer = std::visit([](auto value) { return static_cast<int64_t>(value); }, number);
          WithInteger(meta.dtype, [&](auto sample) { put(i, static_cast<decltype(sample)>(as_integer)); });
        } else {
          const auto as_float = static_cast<float>(as_double);
          Store(&as_float, 1, meta.dtype, out + (i - begin) * ElementSize(meta.dtype));
        }
    }
  }
}

// A run of one tensor's elements.
struct Chunk {
  const TensorMeta* meta;
  Spread spread;
  PhiloxKey key;
  int64_t begin, end;
  std::byte* out;  // of element `begin`
};

void AddChunks(std::string_view graph_hash, const TensorMeta& meta, std::string_view seed, ReplayMode mode,
               std::byte* out, std::vector<Chunk>* chunks) {
  const PhiloxKey key = KeyOf(graph_hash, meta.name, seed);
  const Spread spread = SpreadOf(meta, mode);
  const int64_t elements = ElementCount(meta.shape);
  for (int64_t begin = 0; begin < elements; begin += kChunk) {
    chunks->push_back(
        {&meta, spread, key, begin, std::min(begin + kChunk, elements), out + begin * ElementSize(meta.dtype)});
  }
}

void Fill(const Chunk& chunk) {
  switch (RuleOf(*chunk.meta)) {
    case Rule::kUniform:
      return FillUniform(chunk.key, *chunk.meta, chunk.begin, chunk.end, chunk.out);
    case Rule::kData:
      return FillData(*chunk.meta, chunk.begin, chunk.end, chunk.out);
    case Rule::kBool:
    case Rule::kNormal:
      return FillNormal(chunk.key, *chunk.meta, chunk.spread, chunk.begin, chunk.end, chunk.out);
  }
}

void FillAll(const std::vector<Chunk>& chunks, int threads) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < chunks.size(); i = next++) Fill(chunks[i]);
  };
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads && static_cast<size_t>(i) < chunks.size(); ++i) helpers.emplace_back(work);
  work();
}

bool IsIn(const Parameter& parameter, ReplayPart part) {
  return part == ReplayPart::kAll || VariesWithInputSet(parameter);
}

}  // namespace

std::string_view Name(ReplayMode mode) { return mode == ReplayMode::kGraphNet ? "graphnet" : "assay"; }

std::optional<ReplayMode> ReplayModeFromName(std::string_view name) {
  for (const ReplayMode mode : {ReplayMode::kGraphNet, ReplayMode::kAssay}) {
    if (name == Name(mode)) return mode;
  }
  return std::nullopt;
}

std::string_view ReplayVersion(ReplayMode mode) { return mode == ReplayMode::kGraphNet ? "graphnet-1" : "assay-1"; }

bool VariesWithInputSet(const Parameter& parameter) {
  return parameter.annotation == Annotation::kTensor && RuleOf(parameter.meta) != Rule::kData;
}

void ReplayTensor(std::string_view graph_hash, const TensorMeta& meta, std::string_view seed, ReplayMode mode,
                  std::span<std::byte> out, int threads) {
  std::vector<Chunk> chunks;
  AddChunks(graph_hash, meta, seed, mode, out.data(), &chunks);
  FillAll(chunks, threads);
}

TensorLayout PlanReplay(const Graph& graph, ReplayPart part) {
  std::vector<TensorSpec> specs;
  for (const Parameter& parameter : graph.parameters) {
    if (IsIn(parameter, part)) specs.push_back({parameter.name, parameter.meta.dtype, parameter.meta.shape});
  }
  return PlanTensors(specs);
}

void ReplayInto(const Graph& graph, std::string_view graph_hash, std::string_view seed, ReplayMode mode,
                const TensorLayout& layout, std::span<std::byte> file, int threads, int64_t most_bytes) {
  std::memcpy(file.data(), layout.header.data(), layout.header.size());
  // The entries are the parameters of the plan's part, in their order.
  std::vector<Chunk> chunks;
  auto entry = layout.entries.begin();
  int64_t written = static_cast<int64_t>(layout.header.size());
  for (const Parameter& parameter : graph.parameters) {
    if (entry == layout.entries.end() || entry->spec.name != parameter.name) continue;
    std::memset(file.data() + written, 0, entry->offset - written);
    written = entry->offset + entry->bytes;
    if (entry->bytes <= most_bytes) {
      AddChunks(graph_hash, parameter.meta, VariesWithInputSet(parameter) ? seed : kPublicSet, mode,
                file.data() + entry->offset, &chunks);
    }
    ++entry;
  }
  FillAll(chunks, threads);
}

}  // namespace assay::graph
