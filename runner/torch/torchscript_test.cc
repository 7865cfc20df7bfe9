#include "runner/torch/torchscript.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/torch/bind_graph.h"
#include "runner/torch/errors.h"
#include "runner/torch/test_models.h"

namespace assay::torch_runner {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<at::Tensor> Copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.clone());
  return copies;
}

Program Bind(const graph::Graph& graph, const std::vector<at::Tensor>& inputs) {
  return BindGraph(graph, Copies(inputs), c10::Device(c10::kCPU));
}

// The same outputs as eager, run after run.
void ExpectEager(const graph::Graph& graph, const std::vector<at::Tensor>& inputs, const std::vector<bool>& constant) {
  const Program program = Bind(graph, inputs);
  std::vector<c10::IValue> slots;
  const std::vector<c10::IValue> wanted = Run(program, Copies(inputs), slots);
  for (bool optimize : {false, true}) {
    const std::vector<at::Tensor> own = Copies(inputs);
    TorchScript script(program, own, constant, {.freeze = optimize, .optimize = optimize});
    for (int run = 0; run < 4; ++run) {
      std::vector<at::Tensor> fresh = own;
      for (int32_t i : program.mutated) fresh[i] = inputs[i].clone();
      const std::vector<c10::IValue> got = script.Run(fresh);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        if (wanted[i].isTensor()) {
          EXPECT_TRUE(at::equal(got[i].toTensor(), wanted[i].toTensor())) << "output " << i << " of run " << run;
        } else {
          EXPECT_EQ(got[i].toInt(), wanted[i].toInt());
        }
      }
    }
  }
}

TEST(TorchScript, EqualsEagerOnViewsAndWritesThroughThem) {
  ExpectEager(Model("x: torch.Tensor, w: torch.nn.parameter.Parameter",
                    "y = torch._C._nn.linear(x, w, None)\nz = y[(slice(None, None, None), slice(1, None, None))]\nz *= "
                    "2\nx += 1\n"
                    "p = y.chunk(2, dim=1)\na = p[0]\nb = torch.cat((a, a), dim=0)\nreturn (y, x, b)"),
              {at::arange(6, at::kFloat).reshape({2, 3}), at::arange(12, at::kFloat).reshape({4, 3})}, {false, true});
}

TEST(TorchScript, EqualsEagerOnSizesThatDependOnData) {
  ExpectEager(Model("x: torch.Tensor, m: torch.Tensor, n: torch.SymInt",
                    "y = x[m]\ns = torch.ops.aten.sym_size.int(y, 0)\nk = s + 1\nz = torch.ones((k, 2))\ni = "
                    "n.item()\nw = x.view(i, -1)\nreturn (y, k, z, w)"),
              {at::arange(4), at::tensor({1, 0, 1, 1}).to(at::kBool), at::scalar_tensor(2, at::kLong)},
              {false, false, false});
}

TEST(TorchScript, EqualsEagerOnTensorsFilledWithBooleans) {
  ExpectEager(Model("x: torch.Tensor",
                    "h = torch.full((3, 3), True, dtype=torch.bool)\nu = torch.triu(h, diagonal=1)\n"
                    "y = x.masked_fill(u, False)\nreturn (y, u)"),
              {at::arange(9, at::kFloat).reshape({3, 3})}, {false});
}

TEST(TorchScript, FreezingFoldsBatchNormIntoTheConvolution) {
  const graph::Graph graph = Model(
      "x: torch.Tensor, w: torch.nn.parameter.Parameter, m: torch.nn.parameter.Parameter, v: "
      "torch.nn.parameter.Parameter",
      "c = torch.conv2d(x, w, None, (1, 1), (1, 1), (1, 1), 1)\n"
      "y = torch.nn.functional.batch_norm(c, m, v, m, m, False, 0.1, 1e-05)\nreturn (y,)");
  const std::vector<at::Tensor> inputs = {at::arange(16, at::kFloat).reshape({1, 1, 4, 4}), at::ones({2, 1, 3, 3}),
                                          at::ones({2}), at::ones({2})};
  const Program program = Bind(graph, inputs);
  std::vector<c10::IValue> slots;
  const at::Tensor wanted = torch_runner::Run(program, inputs, slots)[0].toTensor();
  TorchScript frozen(program, inputs, {false, true, true, true}, {});
  for (int i = 0; i < frozen.warm_up_runs(); ++i) {
    EXPECT_TRUE(at::allclose(frozen.Run(inputs)[0].toTensor(), wanted, 1e-4, 1e-4));
  }
  EXPECT_THAT(frozen.Text(), Not(HasSubstr("aten::batch_norm")));
  TorchScript open(program, inputs, {false, true, true, true}, {.freeze = false});
  for (int i = 0; i < open.warm_up_runs(); ++i) open.Run(inputs);
  EXPECT_THAT(open.Text(), HasSubstr("aten::batch_norm"));
}

TEST(TorchScript, AParameterThatTheGraphChangesIsNotFrozen) {
  ExpectEager(Model("w: torch.nn.parameter.Parameter", "y = w * 2\nw += 1\nreturn (y, w)"), {at::arange(3, at::kFloat)},
              {true});
}

TEST(TorchScript, EqualsEagerOnMasksMadeByNestedVmap) {
  ExpectEager(Model("q: torch.Tensor, k: torch.Tensor, m: torch.Tensor",
                    "l = torch._C._functorch._vmap_increment_nesting(2, \"error\")\n"
                    "a = torch._C._functorch._add_batch_dim(q, 0, 1)\n"
                    "n = torch._C._functorch._vmap_increment_nesting(3, \"error\")\n"
                    "b = torch._C._functorch._add_batch_dim(k, 0, 2)\n"
                    "c = b.le(a)\ni = torch.ops.aten.index(m, [a, b])\nw = c.__and__(i)\n"
                    "r = torch._C._functorch._remove_batch_dim(w, 2, 3, 0)\n"
                    "d = torch._C._functorch._vmap_decrement_nesting()\n"
                    "s = torch._C._functorch._remove_batch_dim(r, 1, 2, 0)\n"
                    "e = torch._C._functorch._vmap_decrement_nesting()\ny = s.sum((1,))\nreturn (s, y)"),
              {at::arange(2), at::arange(3), at::tensor({1, 1, 0, 0, 1, 1}).to(at::kBool).reshape({2, 3})},
              {false, false, false});
}

TEST(TorchScript, RefusesWhatItHasNothingFor) {
  const graph::Graph graph = Model(
      "x: torch.Tensor",
      "l = torch._C._functorch._vmap_increment_nesting(3, \"error\")\nb = torch._C._functorch._add_batch_dim(x, 0, 1)\n"
      "r = torch._C._functorch._remove_batch_dim(b, 1, 3, 0)\nd = "
      "torch._C._functorch._vmap_decrement_nesting()\nreturn (r,)");
  const std::vector<at::Tensor> inputs = {at::ones({3, 2})};
  const Program program = Bind(graph, inputs);
  try {
    TorchScript script(program, inputs, {false}, {});
    FAIL() << "not refused";
  } catch (const Unsupported& e) {
    EXPECT_THAT(e.what(), HasSubstr("vmap levels: what is mapped has more dimensions"));
  }
}

}  // namespace
}  // namespace assay::torch_runner
