// weight_meta.py: what is accepted describes tensors within the limits.
#include "graph/meta_parser.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const graph::Limits limits;
  absl::StatusOr<std::vector<graph::ParsedMeta>> metas;
  fuzz::RequireBoundedMemory(size, [&] { metas = graph::ParseMetaFile(text, "weight_meta.py", limits); });
  if (!metas.ok()) {
    fuzz::Require(graph::DiagnosticOf(metas.status()).has_value(), "a refusal names no place");
    return 0;
  }
  for (const graph::ParsedMeta& parsed : *metas) {
    const graph::TensorMeta& meta = parsed.meta;
    int64_t bytes = graph::ElementSize(meta.dtype);
    for (const int64_t dim : meta.shape) {
      fuzz::Require(dim >= 0 && !__builtin_mul_overflow(bytes, dim, &bytes), "a shape overflows");
    }
    fuzz::Require(bytes <= limits.tensor_bytes, "a tensor passes the limit");
    if (meta.data.has_value()) {
      fuzz::Require(static_cast<int64_t>(meta.data->size()) == graph::ElementCount(meta.shape),
                    "data of another count");
    }
  }
  return 0;
}
