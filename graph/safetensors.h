// Tensors in memory files: the safetensors format, every tensor at a multiple of 64 bytes. The format allows no holes,
// so padding is carried by dummy U8 tensors named "__pad__N", which readers here leave out.
//
// A reader trusts nothing: header length, JSON, dtype, shape overflow, offsets and overlaps are checked.
// Thread safety: pure functions; a TensorFile is immutable after it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/dtype.h"

namespace assay::graph {

inline constexpr int64_t kTensorAlignment = 64;

struct TensorSpec {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
};

// Where each tensor of a file lies.
struct TensorLayout {
  struct Entry {
    TensorSpec spec;
    int64_t offset = 0;  // from the start of the file
    int64_t bytes = 0;
  };
  std::vector<Entry> entries;  // in file order
  int64_t file_bytes = 0;
  std::string header;  // the 8-byte length, the JSON and its padding: what stands before the first tensor

  const Entry* Find(std::string_view name) const;  // nullptr where there is none
};

// Whether it only carries padding, as PlanTensors() makes them.
bool IsPadding(const TensorSpec& spec);

// Plans a file that holds these tensors in this order.
TensorLayout PlanTensors(const std::vector<TensorSpec>& specs);

// Reads the header of a file of `file_bytes` bytes whose first bytes are `head` (all of the header, at least).
// InvalidArgument says what is wrong.
absl::StatusOr<TensorLayout> ReadTensorHeader(std::string_view head, int64_t file_bytes);

}  // namespace assay::graph
