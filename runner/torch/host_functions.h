// Host functions: Python operations on numbers and scopes, as instructions of a Program.
// Thread safety: the functions touch their stack and the calling thread's state only.
#pragma once

#include <string_view>

#include "runner/torch/program.h"

namespace assay::torch_runner {

extern const HostFunction kItem;    // tensor.item()
extern const HostFunction kNegate;  // -number
extern const HostFunction kSymInt;  // torch.sym_int(number)

// "+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=" on two numbers; nullptr for another operator.
const HostFunction* Arithmetic(std::string_view op);

extern const HostFunction kTensorOfNumbers;  // torch.tensor(list): numbers …, shape, dtype
extern const HostFunction kAssertScalar;     // (number, message)
extern const HostFunction kPushVmapLevel;    // (batch_size, randomness)
extern const HostFunction kPopVmapLevel;     // ()
extern const HostFunction kAddBatchDim;      // (tensor, batch_dim, level)
extern const HostFunction kRemoveBatchDim;   // (tensor, level, batch_size, out_dim)
extern const HostFunction kEnterAutocast;    // (device type, dtype, enabled, cache)
extern const HostFunction kExitAutocast;     // ()
extern const HostFunction kSetGradEnabled;   // (enabled)

}  // namespace assay::torch_runner
