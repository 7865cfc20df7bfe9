// The tensors of a trial, replayed into sealed memory files: the public set, and a secret one that holds only the
// tensors that differ between sets, from a seed that is new for every trial.
// Thread safety: immutable after it is made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/replay.h"
#include "runner/memory_file.h"

namespace assay::worker {

struct InputSets {
  runner::MemoryFile public_set, secret_set;
  std::string secret_seed;  // 64 hex digits
  int64_t bytes = 0;        // of both files
};

// What ReplayInputs() will take, without making anything.
int64_t InputBytes(const graph::Graph& graph);

// 256 random bits in hex.
absl::StatusOr<std::string> NewSecretSeed();

absl::StatusOr<InputSets> ReplayInputs(const graph::Graph& graph, std::string_view graph_hash, std::string secret_seed,
                                       graph::ReplayMode mode, int threads);

// The public set of a graph that is only compiled: tensors that may steer that (numbers, small lists) have their
// values, the others are holes in the file and take no memory.
absl::StatusOr<runner::MemoryFile> ReplaySmallInputs(const graph::Graph& graph, std::string_view graph_hash,
                                                     graph::ReplayMode mode);

}  // namespace assay::worker
