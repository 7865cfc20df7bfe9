#include "runner/torch/bind_graph.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/torch/errors.h"
#include "runner/torch/test_models.h"

namespace assay::torch_runner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const c10::Device kCpu(c10::kCPU);

Program Bind(const graph::Graph& graph, const std::vector<at::Tensor>& inputs) {
  return BindGraph(graph, inputs, kCpu);
}

std::vector<c10::IValue> Call(const Program& program, const std::vector<at::Tensor>& inputs) {
  std::vector<c10::IValue> slots;
  return Run(program, inputs, slots);
}

std::string UnsupportedMessage(const graph::Graph& graph, const std::vector<at::Tensor>& inputs) {
  try {
    Bind(graph, inputs);
  } catch (const Unsupported& e) {
    return e.what();
  }
  return "";
}

TEST(BindGraph, ChoosesTheOverloadThatPythonWouldChoose) {
  const at::Tensor x = at::ones({2, 2}), zero_dim = at::ones({});
  const graph::Graph graph =
      Model("x: torch.Tensor, t: torch.Tensor",
            "a = x + 1\nb = 1 - x\nc = x == t\nd = x == 2\ne = x.sum(dim=1)\nf = x.sum()\ng = x ** 2\n"
            "return (a, b, c, d, e, f, g)");
  const std::string text = ToText(Bind(graph, {x, zero_dim}));
  for (const char* line : {"aten::add.Tensor(%0, 1, 1)", "aten::rsub.Scalar(%0, 1, 1)", "aten::eq.Tensor(%0, %1)",
                           "aten::eq.Scalar(%0, 2)", "aten::sum.dim_IntList(%0, [1], ", "aten::sum(%0, ",
                           "aten::pow.Tensor_Scalar(%0, 2)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(BindGraph, ReflectedDivisionIsTheReciprocalTimesTheNumber) {
  const Program program = Bind(Model("x: torch.Tensor", "y = 3 / x\nreturn (y,)"), {at::ones({2})});
  ASSERT_EQ(program.instructions.size(), 2);
  EXPECT_EQ(program.instructions[0].name(), "aten::reciprocal");
  EXPECT_EQ(program.instructions[1].name(), "aten::mul.Tensor");
}

TEST(BindGraph, SubscriptsAreTheViewsThatPyTorchMakes) {
  const graph::Graph graph = Model(
      "x: torch.Tensor", "y = x[(slice(None, None, None), None, -1, slice(1, None, 2))]\nz = x[0]\nreturn (y, z)");
  const at::Tensor x = at::arange(24).reshape({2, 3, 4});
  const Program program = Bind(graph, {x});
  std::vector<std::string> names;
  for (const Instruction& instruction : program.instructions) names.push_back(instruction.name());
  EXPECT_THAT(names, ElementsAre("aten::unsqueeze", "aten::select.int", "aten::slice.Tensor", "aten::select.int"));
  EXPECT_TRUE(at::equal(Call(program, {x})[0].toTensor(), at::tensor({9, 11, 21, 23}, at::kLong).reshape({2, 1, 2})));
}

TEST(BindGraph, WritesThroughViewsReachTheParameterWhichIsThenMutated) {
  const graph::Graph graph =
      Model("w: torch.Tensor, x: torch.Tensor", "y = x[0]\ny += 1\nz = x\nz[(1, 0)] = 7\nreturn (y, x)");
  const Program program = Bind(graph, {at::zeros({2}), at::zeros({2, 2})});
  EXPECT_THAT(program.mutated, ElementsAre(1));
  const at::Tensor x = at::zeros({2, 2});
  const auto outputs = Call(program, {at::zeros({2}), x});
  EXPECT_TRUE(at::equal(x, at::tensor({1.0f, 1.0f, 7.0f, 0.0f}).reshape({2, 2})));
  EXPECT_EQ(outputs[0].toTensor().data_ptr(), x.data_ptr());
  EXPECT_TRUE(outputs[1].toTensor().is_same(x));
}

TEST(BindGraph, BatchNormInTrainingModeMutatesItsStatistics) {
  const graph::Graph graph =
      Model("x: torch.Tensor, m: torch.Tensor, v: torch.Tensor",
            "y = torch.nn.functional.batch_norm(x, m, v, None, None, True, 0.1, 1e-05)\nreturn (y,)");
  const std::vector<at::Tensor> inputs = {at::arange(12, at::kFloat).reshape({2, 2, 3}), at::zeros({2}), at::ones({2})};
  EXPECT_THAT(Bind(graph, inputs).mutated, ElementsAre(1, 2));
  EXPECT_FALSE(at::equal(inputs[1], at::zeros({2})));
}

TEST(BindGraph, GraphsThatOnlyReadMutateNothing) {
  const graph::Graph graph = Model("x: torch.Tensor", "y = x.clone()\ny += 1\nreturn (y,)");
  EXPECT_THAT(Bind(graph, {at::ones({2})}).mutated, IsEmpty());
}

TEST(BindGraph, ShapesThatDependOnDataAreTakenAnewInEachRun) {
  const graph::Graph graph =
      Model("x: torch.Tensor, m: torch.Tensor",
            "y = x[m]\nn = torch.ops.aten.sym_size.int(y, 0)\nk = n * 2\nz = torch.zeros((k, 3))\nreturn (y, n, z)");
  const at::Tensor x = at::ones({4});
  const Program program = Bind(graph, {x, at::tensor({1, 0, 0, 0}).to(at::kBool)});
  const auto outputs = Call(program, {x, at::tensor({1, 1, 0, 1}).to(at::kBool)});
  EXPECT_EQ(outputs[0].toTensor().numel(), 3);
  EXPECT_EQ(outputs[1].toInt(), 3);
  EXPECT_EQ(outputs[2].toTensor().size(0), 6);
}

TEST(BindGraph, SizesOfSettledShapesAreConstants) {
  const Program program =
      Bind(Model("x: torch.Tensor", "s = x.size()\na = s[0]\nb = a * 2\nc = a // 2\ny = x.view(b, c)\nreturn (y,)"),
           {at::ones({2, 2})});
  ASSERT_EQ(program.instructions.size(), 1);
  EXPECT_EQ(program.instructions[0].name(), "aten::view");
}

TEST(BindGraph, SymIntsArriveAsZeroDimTensors) {
  const graph::Graph graph = Model("x: torch.Tensor, n: torch.SymInt", "h = n // 2\ny = x.view(h, -1)\nreturn (y, h)");
  const auto outputs = Call(Bind(graph, {at::ones({6}), at::scalar_tensor(4, at::kLong)}),
                            {at::ones({6}), at::scalar_tensor(4, at::kLong)});
  EXPECT_EQ(outputs[0].toTensor().size(0), 2);
  EXPECT_TRUE(outputs[1].isTensor());
}

TEST(BindGraph, ValuesAreFreedAfterTheirLastUse) {
  const Program program =
      Bind(Model("x: torch.Tensor", "a = x + 1\nb = a + 1\nc = b + 1\nreturn (c,)"), {at::ones({2})});
  ASSERT_EQ(program.instructions.size(), 3);
  EXPECT_THAT(program.instructions[0].frees, IsEmpty());
  EXPECT_EQ(program.instructions[1].frees, program.instructions[0].results);
  EXPECT_EQ(program.instructions[2].frees, program.instructions[1].results);
}

TEST(BindGraph, ARefusalNamesTheCalleeAndItsLine) {
  const graph::Graph graph =
      Model("x: torch.Tensor", "y = torch.nn.functional.interpolate(x, size=(2, 2), mode=\"cubic\")\nreturn (y,)");
  EXPECT_THAT(UnsupportedMessage(graph, {at::ones({1, 1, 4, 4})}),
              HasSubstr("torch.nn.functional.interpolate in line 6: interpolate: mode cubic"));
}

TEST(BindGraph, AListOfAnotherLengthThanWhenItWasLoadedIsAnError) {
  const graph::Graph graph =
      Model("x: torch.Tensor, m: torch.Tensor", "y = x[m]\nz = y.unbind(0)\na = z[0]\nreturn (a,)");
  const Program program = Bind(graph, {at::ones({3}), at::tensor({1, 1, 0}).to(at::kBool)});
  EXPECT_THROW(Call(program, {at::ones({3}), at::tensor({1, 1, 1}).to(at::kBool)}), c10::Error);
}

TEST(BindGraph, AnErrorInsideAVmapLevelLeavesNoLevelBehind) {
  const graph::Graph graph = Model(
      "x: torch.Tensor, y: torch.Tensor",
      "l = torch._C._functorch._vmap_increment_nesting(3, \"error\")\nb = torch._C._functorch._add_batch_dim(x, 0, 1)\n"
      "c = b @ y\nr = torch._C._functorch._remove_batch_dim(c, 1, 3, 0)\nd = "
      "torch._C._functorch._vmap_decrement_nesting()\nreturn (r,)");
  const Program program = Bind(graph, {at::ones({3, 2}), at::ones({2, 4})});
  EXPECT_THROW(Call(program, {at::ones({3, 2}), at::ones({5, 4})}), c10::Error);
  EXPECT_TRUE(at::equal(Call(program, {at::ones({3, 2}), at::ones({2, 4})})[0].toTensor(), at::full({3, 4}, 2.0)));
  EXPECT_TRUE(program.scoped);
}

TEST(BindGraph, OnlyGraphsThatDrawRandomNumbersAreRandom) {
  EXPECT_TRUE(Bind(Model("x: torch.Tensor", "y = torch.rand((2,))\nreturn (y,)"), {at::ones({1})}).random);
  EXPECT_FALSE(Bind(Model("x: torch.Tensor", "y = x + x\nreturn (y,)"), {at::ones({1})}).random);
}

}  // namespace
}  // namespace assay::torch_runner
