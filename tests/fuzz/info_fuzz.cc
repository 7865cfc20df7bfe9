// graph_net.json.
#include "graph/info_parser.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<graph::SampleInfo> info;
  fuzz::RequireBoundedMemory(size, [&] { info = graph::ParseInfoFile(text, {}); });
  if (info.ok()) {
    fuzz::Require(info->framework == graph::kTorchFramework || info->framework == graph::kStableHloFramework,
                  "another framework was accepted");
  }
  if (!info.ok()) fuzz::Require(graph::DiagnosticOf(info.status()).has_value(), "a refusal names no place");
  return 0;
}
