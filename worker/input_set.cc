#include "worker/input_set.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "fmt/format.h"
#include "graph/replay.h"

namespace assay::worker {
namespace {

constexpr int64_t kSmallTensorBytes = 4096;

absl::StatusOr<runner::MemoryFile> Replay(const graph::Graph& graph, std::string_view graph_hash, std::string_view seed,
                                          graph::ReplayMode mode, graph::ReplayPart part, int threads,
                                          int64_t most_bytes, int64_t& bytes) {
  const graph::TensorLayout layout = graph::PlanReplay(graph, part);
  absl::StatusOr<runner::MemoryFile> file =
      runner::MemoryFile::Filled("assay-inputs", layout.file_bytes, [&](std::span<std::byte> to) {
        graph::ReplayInto(graph, graph_hash, seed, mode, layout, to, threads, most_bytes);
      });
  if (file.ok()) bytes += layout.file_bytes;
  return file;
}

}  // namespace

int64_t InputBytes(const graph::Graph& graph) {
  return graph::PlanReplay(graph, graph::ReplayPart::kAll).file_bytes +
         graph::PlanReplay(graph, graph::ReplayPart::kVarying).file_bytes;
}

absl::StatusOr<std::string> NewSecretSeed() {
  unsigned char bytes[32];
  if (::getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
    return absl::InternalError(fmt::format("getrandom: {}", strerror(errno)));
  }
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

absl::StatusOr<InputSets> ReplayInputs(const graph::Graph& graph, std::string_view graph_hash, std::string secret_seed,
                                       graph::ReplayMode mode, int threads) {
  int64_t bytes = 0;
  absl::StatusOr<runner::MemoryFile> public_set =
      Replay(graph, graph_hash, graph::kPublicSet, mode, graph::ReplayPart::kAll, threads, graph::kEveryTensor, bytes);
  if (!public_set.ok()) return public_set.status();
  absl::StatusOr<runner::MemoryFile> secret_set =
      Replay(graph, graph_hash, secret_seed, mode, graph::ReplayPart::kVarying, threads, graph::kEveryTensor, bytes);
  if (!secret_set.ok()) return secret_set.status();
  return InputSets{*std::move(public_set), *std::move(secret_set), std::move(secret_seed), bytes};
}

absl::StatusOr<runner::MemoryFile> ReplaySmallInputs(const graph::Graph& graph, std::string_view graph_hash,
                                                     graph::ReplayMode mode) {
  int64_t bytes = 0;
  return Replay(graph, graph_hash, graph::kPublicSet, mode, graph::ReplayPart::kAll, /*threads=*/1, kSmallTensorBytes,
                bytes);
}

}  // namespace assay::worker
