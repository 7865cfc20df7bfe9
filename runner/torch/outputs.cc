#include "runner/torch/outputs.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>

#include "graph/safetensors.h"
#include "graph/text.h"
#include "runner/memory_file.h"
#include "runner/torch/dtypes.h"

namespace assay::torch_runner {

std::vector<at::Tensor> ToHost(const std::vector<c10::IValue>& outputs, bool copy) {
  at::NoGradGuard no_grad;
  std::vector<at::Tensor> result;
  for (const c10::IValue& output : outputs) {
    if (output.isBool()) {
      result.push_back(at::scalar_tensor(output.toBool(), at::kBool));
    } else if (output.isInt()) {
      result.push_back(at::scalar_tensor(output.toInt(), at::kLong));
    } else if (output.isDouble()) {
      result.push_back(at::scalar_tensor(output.toDouble(), at::kDouble));
    } else {
      const at::Tensor& tensor = output.toTensor();
      TORCH_CHECK(tensor.defined(), "output ", result.size(), " is None, no tensor");
      at::Tensor host = (tensor.is_quantized() ? tensor.dequantize() : tensor.detach())
                            .cpu()
                            .resolve_conj()
                            .resolve_neg()
                            .contiguous();
      if (copy && host.data_ptr() == tensor.data_ptr()) host = host.clone();
      result.push_back(std::move(host));
    }
  }
  return result;
}

absl::StatusOr<int64_t> WriteOutputs(int fd, const std::vector<at::Tensor>& outputs) {
  std::vector<graph::TensorSpec> specs;
  int64_t bytes = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::optional<graph::DType> dtype = FromScalarType(outputs[i].scalar_type());
    if (!dtype) {
      return absl::UnimplementedError(graph::Cat("output ", i, " has dtype ", c10::toString(outputs[i].scalar_type()),
                                                 ", which the protocol does not have"));
    }
    specs.push_back({graph::Cat(i), *dtype, outputs[i].sizes().vec()});
    bytes += static_cast<int64_t>(outputs[i].nbytes());
  }
  const graph::TensorLayout layout = graph::PlanTensors(specs);
  std::vector<std::span<const std::byte>> data;
  for (const graph::TensorLayout::Entry& entry : layout.entries) {
    if (graph::IsPadding(entry.spec)) {
      static const std::byte zeros[graph::kTensorAlignment] = {};
      data.emplace_back(zeros, static_cast<size_t>(entry.bytes));
      continue;
    }
    const at::Tensor& output = outputs[std::stoul(entry.spec.name)];
    data.emplace_back(static_cast<const std::byte*>(output.data_ptr()), output.nbytes());
  }
  if (absl::Status status = runner::WriteTensors(fd, layout, data); !status.ok()) return status;
  return bytes;
}

}  // namespace assay::torch_runner
