// A bound graph as a torch::jit::Graph, optimised and run by TorchScript's executor.
// Thread safety: none.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runner/torch/program.h"

namespace assay::torch_runner {

struct TorchScriptOptions {
  bool freeze = true;    // parameters become constants, and what they allow is folded
  bool optimize = true;  // the executor's own optimisation
  bool fuse = true;      // TorchScript's tensor expression fuser, where the build has one for the device
};

class TorchScript {
 public:
  // `constant[i]` says whether parameter i may be frozen. Throws Unsupported where TorchScript has nothing for an
  // instruction.
  TorchScript(const Program& program, std::span<const at::Tensor> inputs, const std::vector<bool>& constant,
              const TorchScriptOptions& options);
  ~TorchScript();

  // How many runs the executor wants before what it runs is final.
  int warm_up_runs() const;
  std::vector<c10::IValue> Run(std::span<const at::Tensor> inputs);
  // The graph that the last Run() of this thread executed, as text.
  std::string Text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::torch_runner
