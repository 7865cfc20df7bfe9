// The header of a file of tensors. The input's first byte says how it is read: as a file, or as the JSON of a header in
// front of as many bytes as the next six say.
#include "graph/safetensors.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace assay;  // NOLINT

void Read(std::string_view head, int64_t file_bytes) {
  absl::StatusOr<graph::TensorLayout> layout;
  fuzz::RequireBoundedMemory(head.size(), [&] { layout = graph::ReadTensorHeader(head, file_bytes); });
  if (!layout.ok()) return;
  int64_t end = static_cast<int64_t>(layout->header.size());
  for (const graph::TensorLayout::Entry& entry : layout->entries) {
    fuzz::Require(entry.bytes >= 0 && entry.offset >= end && entry.bytes <= file_bytes - entry.offset,
                  "a tensor lies outside of the file or in another");
    end = entry.offset + entry.bytes;
    int64_t bytes = graph::ElementSize(entry.spec.dtype);
    for (const int64_t dim : entry.spec.shape) {
      fuzz::Require(dim >= 0 && !__builtin_mul_overflow(bytes, dim, &bytes), "a shape overflows");
    }
    fuzz::Require(bytes == entry.bytes, "a tensor's bytes are not its shape's");
    fuzz::Require(layout->Find(entry.spec.name) != nullptr, "a tensor is not found");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  if (input[0] % 2 == 0 || size < 7) {
    Read(input.substr(1), static_cast<int64_t>(size) - 1);
    return 0;
  }
  int64_t data_bytes = 0;
  for (int i = 1; i < 7; ++i) data_bytes = data_bytes << 8 | static_cast<unsigned char>(input[i]);
  const std::string_view json = input.substr(7);
  std::string head(8, '\0');
  for (int i = 0; i < 8; ++i) head[i] = static_cast<char>(json.size() >> (8 * i));
  head += json;
  Read(head, static_cast<int64_t>(head.size()) + data_bytes);
  return 0;
}
