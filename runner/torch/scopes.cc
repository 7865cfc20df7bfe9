#include "runner/torch/scopes.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/DynamicLayer.h>
#include <ATen/ops/movedim.h>

namespace assay::torch_runner {
namespace {

namespace functorch = at::functorch;

struct SavedAutocast {
  c10::DeviceType device;
  bool enabled;
  bool cache;
  c10::ScalarType dtype;
};
thread_local std::vector<SavedAutocast> saved_autocast;

// The tensor that `batched` has at `level`, and where its batch dimension stands (functorch/init.cpp).
std::pair<at::Tensor, int64_t> RemoveExistingBatchDim(const functorch::BatchedTensorImpl* batched, int64_t level) {
  if (batched->level() == level) return {batched->value(), batched->bdim()};
  const auto* inner = functorch::maybeGetBatchedImpl(batched->value());
  TORCH_CHECK(inner != nullptr, "no batch dimension of level ", level);
  auto [value, dim] = RemoveExistingBatchDim(inner, level);
  const int64_t outer_dim = batched->bdim();
  const int64_t new_outer = dim <= outer_dim ? outer_dim + 1 : outer_dim;
  const int64_t exposed = outer_dim < dim ? dim - 1 : dim;
  return {functorch::makeBatched(value, new_outer, batched->level()), exposed};
}

}  // namespace

ScopeGuard::ScopeGuard()
    : levels_(functorch::getDynamicLayerStack().size()),
      autocast_(saved_autocast.size()),
      grad_mode_(at::GradMode::is_enabled()) {}

ScopeGuard::~ScopeGuard() {
  while (functorch::getDynamicLayerStack().size() > levels_) functorch::popDynamicLayerAndDeleteMetadata();
  while (saved_autocast.size() > autocast_) ExitAutocast();
  at::GradMode::set_enabled(grad_mode_);
}

int64_t PushVmapLevel(int64_t batch_size, std::string_view randomness) {
  const auto kind = randomness == "error"  ? functorch::RandomnessType::Error
                    : randomness == "same" ? functorch::RandomnessType::Same
                                           : functorch::RandomnessType::Different;
  return functorch::initAndPushDynamicLayer(functorch::TransformType::Vmap, c10::SymInt(batch_size), kind);
}

int64_t PopVmapLevel() {
  TORCH_CHECK(!functorch::getDynamicLayerStack().empty(), "no vmap level to leave");
  return functorch::popDynamicLayerAndDeleteMetadata().layerId();
}

at::Tensor AddBatchDim(const at::Tensor& self, int64_t batch_dim, int64_t level) {
  return functorch::addBatchDim(self, batch_dim < 0 ? self.dim() + batch_dim : batch_dim, level);
}

at::Tensor RemoveBatchDim(const at::Tensor& self, int64_t level, int64_t batch_size, int64_t out_dim) {
  const auto* batched = functorch::maybeGetBatchedImpl(self);
  if (batched == nullptr || batched->level() < level) {
    auto sizes = self.sizes().vec();
    sizes.insert(sizes.begin() + (out_dim < 0 ? out_dim + self.dim() + 1 : out_dim), batch_size);
    return self.expand(sizes);
  }
  auto [value, dim] = RemoveExistingBatchDim(batched, level);
  return at::movedim(value, dim, out_dim);
}

void EnterAutocast(c10::DeviceType device, std::optional<c10::ScalarType> dtype, bool enabled,
                   std::optional<bool> cache) {
  saved_autocast.push_back({device, at::autocast::is_autocast_enabled(device),
                            at::autocast::is_autocast_cache_enabled(), at::autocast::get_autocast_dtype(device)});
  at::autocast::set_autocast_enabled(device, enabled);
  at::autocast::set_autocast_dtype(device, dtype.value_or(at::autocast::get_autocast_dtype(device)));
  at::autocast::increment_nesting();
  at::autocast::set_autocast_cache_enabled(cache.value_or(at::autocast::is_autocast_cache_enabled()));
}

void ExitAutocast() {
  TORCH_CHECK(!saved_autocast.empty(), "no autocast region to leave");
  const SavedAutocast saved = saved_autocast.back();
  saved_autocast.pop_back();
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(saved.device, saved.enabled);
  at::autocast::set_autocast_dtype(saved.device, saved.dtype);
  at::autocast::set_autocast_cache_enabled(saved.cache);
}

}  // namespace assay::torch_runner
