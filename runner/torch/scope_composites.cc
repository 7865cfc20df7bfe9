// vmap levels, autocast regions and grad mode.
#include <c10/util/StringUtil.h>

#include "runner/torch/composites.h"
#include "runner/torch/errors.h"
#include "runner/torch/host_functions.h"

namespace assay::torch_runner {
namespace {

Value AddLevel(Binder& binder, const Arguments& a) {
  binder.MarkScoped();
  return binder.Host(kPushVmapLevel, {binder.Number(a["batch_size"]), a["randomness"]});
}

Value RemoveLevel(Binder& binder, const Arguments&) { return binder.Host(kPopVmapLevel, {}); }

Value AddDim(Binder& binder, const Arguments& a) {
  return binder.Host(kAddBatchDim, {a["self"], binder.Number(a["batch_dim"]), binder.Number(a["level"])});
}

Value RemoveDim(Binder& binder, const Arguments& a) {
  return binder.Host(kRemoveBatchDim, {a["self"], binder.Number(a["level"]), binder.Number(a["batch_size"]),
                                       binder.Number(a["out_dim"])});
}

Value EnterAutocast(Binder& binder, const Arguments& a) {
  binder.MarkScoped();
  const c10::DeviceType device = c10::Device(std::string(a.String("device_type"))).type();
  const auto* dtype = a["dtype"].literal_if<Dtype>();
  return binder.Host(kEnterAutocast,
                     {Value::Constant(static_cast<int64_t>(device)),
                      dtype == nullptr ? Value::None() : Value::Constant(static_cast<int64_t>(dtype->dtype)),
                      a["enabled"], a["cache_enabled"]});
}

Value ExitAutocast(Binder& binder, const Arguments&) { return binder.Host(kExitAutocast, {}); }

Value SetGradEnabled(Binder& binder, const Arguments& a) {
  binder.MarkScoped();
  return binder.Host(kSetGradEnabled, {a["enabled"]});
}

}  // namespace

std::vector<NamedComposite> ScopeComposites() {
  return {
      {"vmap_increment_nesting", AddLevel}, {"vmap_decrement_nesting", RemoveLevel}, {"add_batch_dim", AddDim},
      {"remove_batch_dim", RemoveDim},      {"enter_autocast", EnterAutocast},       {"exit_autocast", ExitAutocast},
      {"set_grad_enabled", SetGradEnabled}};
}

}  // namespace assay::torch_runner
