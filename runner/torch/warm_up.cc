#include "runner/torch/warm_up.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>

#include "graph/parse.h"
#include "runner/torch/bind_graph.h"
#include "runner/torch/device.h"

namespace assay::torch_runner {

void WarmUp() {
  Devices();
  const absl::StatusOr<graph::Graph> graph = graph::ParseModel(
      "import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n"
      "        y = x + x\n        return (y,)\n");
  if (!graph.ok()) return;
  at::NoGradGuard no_grad;
  const at::Tensor input = at::ones({1});
  const Program program = BindGraph(*graph, {&input, 1}, c10::Device(c10::kCPU));
  std::vector<c10::IValue> slots;
  Run(program, {&input, 1}, slots);
}

}  // namespace assay::torch_runner
