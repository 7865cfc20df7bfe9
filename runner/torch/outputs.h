// What a call gave, written as the protocol's tensors.
// Thread safety: none.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <vector>

#include "absl/status/statusor.h"

namespace assay::torch_runner {

// The outputs as contiguous tensors on the host; numbers become 0-dim ones. `copy` where later calls may write to the
// same memory.
std::vector<at::Tensor> ToHost(const std::vector<c10::IValue>& outputs, bool copy);

// Writes tensors "0", "1", … to `fd`. Their bytes, all together.
absl::StatusOr<int64_t> WriteOutputs(int fd, const std::vector<at::Tensor>& outputs);

}  // namespace assay::torch_runner
