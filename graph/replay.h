// Replays tensors from their description: the same bytes in every process, on every host, in any order, for any number
// of threads. A counter-based generator (Philox 4x32-10) is keyed by the SHA-256 of (a version, graph hash, tensor
// name, input set seed), and an element's number alone says which words of which counter it comes from (normals.h). So
// the order of the tensors means nothing: each has a random stream of its own.
//
// Rule: (1) integer dtype with both min_val and max_val: uniform in [min, max]; (2) else data, reshaped; (3) bool:
// normal > 0.5; (4) floating point and the rest: normal·scale + mean, clamped to min_val/max_val where present; a
// non-finite value becomes normal·0.01; clamped to [−100, 100]. Where mean is absent it is 0. The modes differ in (4):
//
//   kGraphNet  GraphNet's own distributions: scale = std·0.2 (std absent: 0.1); std == 0 → mean.
//   kAssay     scale = std. Descriptions round std to three digits, so that one of 0.000, or one that is not finite, is
//              unknown rather than 0: a floating-point tensor of several elements takes that of its role (role.h), lest
//              whole graphs give zeros. A running variance stays positive: scale is at most a sixth of the mean, and a
//              mean that is not above 0 becomes 1.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/safetensors.h"

namespace assay::graph {

enum class ReplayMode { kGraphNet, kAssay };

// "graphnet", "assay": as policies write it.
std::string_view Name(ReplayMode mode);
std::optional<ReplayMode> ReplayModeFromName(std::string_view name);
// "graphnet-1": the mode and the version of its rule. Other bytes for the same description mean another version.
std::string_view ReplayVersion(ReplayMode mode);

// The seed of the public input set.
inline constexpr std::string_view kPublicSet = "public";

// True for the tensors that differ between input sets: annotated torch.Tensor, neither given by `data` nor of a kind
// that steers control (SymInt). Parameters (weights) and data tensors are the same in every set.
bool VariesWithInputSet(const Parameter& parameter);

// Integers are uniform in [min_val, max_val] by 64 random bits each; integers without both bounds and data are cut off
// towards zero; a complex element is two numbers. Numbers are made in float32 and rounded once, to the nearest even.
//
// Fills `out` (ElementCount·ElementSize bytes, 64-byte aligned not required). `seed` is kPublicSet or a secret.
void ReplayTensor(std::string_view graph_hash, const TensorMeta& meta, std::string_view seed, ReplayMode mode,
                  std::span<std::byte> out, int threads = 1);

enum class ReplayPart {
  kAll,      // every parameter
  kVarying,  // only those that differ between sets
};
// The file that ReplayInto() fills: tensors named as parameters, in parameter order.
TensorLayout PlanReplay(const Graph& graph, ReplayPart part);
inline constexpr int64_t kEveryTensor = std::numeric_limits<int64_t>::max();
// Writes header and tensors into `file` (layout.file_bytes bytes). Tensors of more than `most_bytes` are left as they
// are.
void ReplayInto(const Graph& graph, std::string_view graph_hash, std::string_view seed, ReplayMode mode,
                const TensorLayout& layout, std::span<std::byte> file, int threads, int64_t most_bytes = kEveryTensor);

}  // namespace assay::graph
