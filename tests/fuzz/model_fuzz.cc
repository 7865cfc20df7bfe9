// model.py: what is accepted has a canonical form, which is accepted again and is its own canonical form.
#include "graph/canonical.h"
#include "graph/parse.h"
#include "graph/signature.h"
#include "tests/fuzz/fuzz.h"

// Made before memory is counted.
[[maybe_unused]] const bool kTables =
    assay::graph::SignaturesOf(assay::graph::Callees()[0]).empty() || assay::graph::FindCallee("torch.relu") == nullptr;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<graph::Graph> graph;
  fuzz::RequireBoundedMemory(size, [&] { graph = graph::ParseModel(text); });
  if (!graph.ok()) {
    fuzz::Require(graph::DiagnosticOf(graph.status()).has_value(), "a refusal names no place");
    return 0;
  }
  for (const graph::Operation& operation : graph->operations) {
    fuzz::Require(operation.callee != nullptr && operation.result < graph->value_count, "an operation is not whole");
  }
  for (const int32_t value : graph->outputs) {
    fuzz::Require(value >= 0 && value < graph->value_count, "an output is no value");
  }
  const std::string canonical = graph::CanonicalModel(*graph);
  const absl::StatusOr<graph::Graph> again = graph::ParseModel(canonical);
  fuzz::Require(again.ok(), std::string(again.status().message()));
  fuzz::Require(graph::CanonicalModel(*again) == canonical, "the canonical form is not its own");
  return 0;
}
