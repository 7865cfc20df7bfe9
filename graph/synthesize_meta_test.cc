#include "graph/synthesize_meta.h"

#include "gmock/gmock.h"
#include "graph/test_sample.h"

namespace assay::graph {
namespace {

using testing::HasSubstr;

constexpr std::string_view kHead = "from sympy import Symbol, Expr, Rel, Eq\n\nS0 = Symbol(\"S0\")\n\n";
constexpr std::string_view kExamples = "dynamic_dim_constraint_symbol2example_value = {S0: 7}\n";
constexpr std::string_view kShapes =
    "dynamic_dim_constraint_input_shapes = [\n    ([S0, 3], \"L_x_\"),\n    (\n        [5, 3],\n"
    "        \"L_self_modules_fc_parameters_weight_\",\n    ),\n"
    "    ([5], \"L_self_modules_bn_buffers_running_var_\"),\n    ([], "
    "\"L_self_modules_bn_buffers_num_batches_tracked_\"),\n"
    "]\n";

Sample TestSample() {
  return {.model = ModelOf("L_x_: torch.Tensor, L_self_modules_fc_parameters_weight_: torch.nn.parameter.Parameter, "
                           "L_self_modules_bn_buffers_running_var_: torch.Tensor, "
                           "L_self_modules_bn_buffers_num_batches_tracked_: torch.Tensor",
                           "        y = L_x_ + 1\n        return (y,)\n"),
          .info = std::string(kInfo)};
}

std::string Refusal(std::string_view model, std::string_view constraints) {
  return std::string(SynthesizeWeightMeta(model, constraints).status().message());
}

TEST(SynthesizeMetaTest, GivesEveryTensorItsRole) {
  Sample sample = TestSample();
  const absl::StatusOr<std::string> text =
      SynthesizeWeightMeta(sample.model, Cat(kHead, "dynamic_dim_constraint_symbols = [S0]\n\n", kExamples,
                                             "dynamic_dim_constraint_relations = [Eq(S0, 7), (S0 > 2)]\n\n", kShapes));
  ASSERT_TRUE(text.ok()) << text.status();
  sample.weight_meta = *text;
  const absl::StatusOr<Graph> graph = Parse(sample);
  ASSERT_TRUE(graph.ok()) << graph.status() << *text;
  const auto& parameters = graph->parameters;
  EXPECT_EQ(parameters[0].meta.shape, (std::vector<int64_t>{7, 3}));
  EXPECT_EQ(parameters[0].meta.mean, 0.0);
  EXPECT_EQ(parameters[0].meta.std, 1.0);
  EXPECT_EQ(parameters[1].meta.shape, (std::vector<int64_t>{5, 3}));
  EXPECT_NEAR(*parameters[1].meta.std, 1 / std::sqrt(3.0), 1e-12);
  EXPECT_EQ(parameters[2].meta.mean, 1.0);
  EXPECT_EQ(parameters[2].meta.min_val, 0.0);
  EXPECT_EQ(parameters[3].meta.dtype, DType::kInt64);
  EXPECT_EQ(parameters[3].meta.max_val, 0.0);
}

TEST(SynthesizeMetaTest, RefusesWhatTheFileDoesNotTell) {
  const std::string model = TestSample().model;
  const std::string good = Cat(kHead, kExamples, kShapes);
  EXPECT_THAT(Refusal(model, Cat(kHead, kShapes)),
              HasSubstr("input_tensor_constraints.py:6:7: the symbol 'S0' has no"));
  EXPECT_THAT(Refusal(model, Cat(kHead, kExamples)), HasSubstr("model.py:8:23: the parameter 'L_x_' has no shape"));
  EXPECT_THAT(Refusal(ModelOf("L_x_: torch.Tensor", "        return (L_x_,)\n"), good),
              HasSubstr("is not a parameter of forward"));
  EXPECT_THAT(Refusal(ModelOf("s0: torch.SymInt", "        return (s0,)\n"),
                      "dynamic_dim_constraint_input_shapes = [([], \"s0\")]\n"),
              HasSubstr("torch.SymInt"));
}

TEST(SynthesizeMetaTest, ExecutesNothing) {
  const std::string model = TestSample().model;
  for (const char* line : {"import os\n", "S1 = __import__('os').system('true')\n", "S1 = open('x')\n",
                           "dynamic_dim_constraint_input_shapes = shapes()\n",
                           "dynamic_dim_constraint_input_shapes = [([S0 * 2], \"L_x_\")]\n",
                           "dynamic_dim_constraint_relations = [Eq(S0, 7)\n", "dynamic_dim_constraint_symbols = {}\n",
                           "from os import path\n", "    S1 = Symbol(\"S1\")\n"}) {
    EXPECT_THAT(Refusal(model, Cat(kHead, kExamples, line)), HasSubstr("expected ")) << line;
  }
  EXPECT_THAT(Refusal(model, "dynamic_dim_constraint_input_shapes = [([1048576, 1048576, 1048576], \"L_x_\")]\n"),
              HasSubstr("means more bytes"));
  EXPECT_THAT(Refusal(model, "dynamic_dim_constraint_input_shapes = [([1], \"a\"), ([1], \"a\")]\n"),
              HasSubstr("listed twice"));
}

}  // namespace
}  // namespace assay::graph
