// A whole sample: model.py, weight_meta.py, input_meta.py and graph_net.json behind each other, parted by lines "%%".
// What is accepted has a hash that its canonical form has too, and its tensors can be replayed.
#include "graph/canonical.h"
#include "graph/parse.h"
#include "graph/replay.h"
#include "graph/signature.h"
#include "graph/structure.h"
#include "tests/fuzz/fuzz.h"

// Made before memory is counted.
[[maybe_unused]] const bool kTables =
    assay::graph::SignaturesOf(assay::graph::Callees()[0]).empty() || assay::graph::FindCallee("torch.relu") == nullptr;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;  // NOLINT
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  graph::Sample sample;
  constexpr std::string_view kSeparator = "%%\n";
  for (std::string* file : {&sample.model, &sample.weight_meta, &sample.input_meta, &sample.info}) {
    const size_t end = rest.find(kSeparator);
    *file = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + kSeparator.size());
  }
  absl::StatusOr<graph::Graph> graph;
  fuzz::RequireBoundedMemory(size, [&] { graph = graph::Parse(sample); });
  if (!graph.ok()) {
    fuzz::Require(graph::DiagnosticOf(graph.status()).has_value(), "a refusal names no place");
    return 0;
  }
  const graph::Sample canonical = graph::Canonical(*graph);
  const absl::StatusOr<graph::Graph> again = graph::Parse(canonical);
  fuzz::Require(again.ok(), std::string(again.status().message()));
  const std::string hash = graph::Hash(*graph);
  fuzz::Require(hash == graph::Hash(*again) && hash == graph::HashOfCanonical(canonical), "another hash");
  fuzz::Require(graph::StructureHash(*graph) == graph::StructureHash(*again), "another structure");
  const graph::TensorLayout layout = graph::PlanReplay(*graph, graph::ReplayPart::kAll);
  fuzz::Require(layout.file_bytes >= 0 && graph->parameter_bytes() <= graph::Limits().total_bytes, "a limit is passed");
  if (layout.file_bytes > 1 << 20) return 0;
  std::vector<std::byte> file(layout.file_bytes);
  graph::ReplayInto(*graph, hash, "fuzz", graph::ReplayMode::kAssay, layout, file, 1);
  const auto read =
      graph::ReadTensorHeader({reinterpret_cast<const char*>(file.data()), file.size()}, layout.file_bytes);
  fuzz::Require(read.ok() && read->entries.size() == graph->parameters.size(), "replayed tensors are not read back");
  return 0;
}
