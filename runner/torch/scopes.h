// State of the thread that a graph may change while it runs: vmap levels, autocast, grad mode.
// Thread safety: everything here is of the calling thread.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::torch_runner {

// Restores on destruction what the graph left behind: levels and scopes it did not leave because of an error.
class ScopeGuard {
 public:
  ScopeGuard();
  ~ScopeGuard();
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  size_t levels_;
  size_t autocast_;
  bool grad_mode_;
};

// torch._C._functorch: _vmap_increment_nesting and so on.
int64_t PushVmapLevel(int64_t batch_size, std::string_view randomness);
int64_t PopVmapLevel();
at::Tensor AddBatchDim(const at::Tensor& self, int64_t batch_dim, int64_t level);
at::Tensor RemoveBatchDim(const at::Tensor& self, int64_t level, int64_t batch_size, int64_t out_dim);

// torch.amp.autocast_mode: _enter_autocast and _exit_autocast.
void EnterAutocast(c10::DeviceType device, std::optional<c10::ScalarType> dtype, bool enabled,
                   std::optional<bool> cache);
void ExitAutocast();

}  // namespace assay::torch_runner
