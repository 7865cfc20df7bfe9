// Touches what every trial needs before the first fork, without starting a thread: the operator table, the list of
// devices, and the first call's one-time work. Thread safety: call it once, first.
#pragma once

namespace assay::torch_runner {

void WarmUp();

}  // namespace assay::torch_runner
