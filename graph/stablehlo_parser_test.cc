#include "graph/stablehlo_parser.h"

#include <string>

#include "gmock/gmock.h"
#include "graph/canonical.h"
#include "graph/parse.h"
#include "graph/structure.h"
#include "graph/text.h"
#include "gtest/gtest.h"

namespace assay::graph {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kInfo[] = R"({"framework": "stablehlo"})";

// Every form of the grammar.
constexpr char kWhole[] = R"(#loc = loc(unknown)
module @jit_f attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  // A comment.
  func.func public @main(%arg0: tensor<4x8xf32> {mhlo.sharding = "{replicated}"} loc("x"), %arg1: tensor<8xf32>, %arg2: tensor<3x1xi32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<3x8xf32>) attributes {a.b = "c"} {
    %c = stablehlo.constant dense<0> : tensor<i32> loc(#loc1)
    %c_0 = stablehlo.constant dense<[[1, 2], [-3, 4]]> : tensor<2x2xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
    %z = stablehlo.constant dense<(1.0, -2.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<4x8xf32>
    %2 = call @relu(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = "stablehlo.gather"(%2, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> {mhlo.note = {a = "stablehlo.custom_call"}} : (tensor<4x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
    %5:2 = stablehlo.while(%iterArg = %c, %iterArg_2 = %3) : tensor<i32>, tensor<4xf32>
     cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %9 = stablehlo.compare  LT, %iterArg, %c_3,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = stablehlo.add %iterArg, %c : tensor<i32>
      stablehlo.return %9, %iterArg_2 : tensor<i32>, tensor<4xf32>
    }
    %6 = "stablehlo.reduce_window"(%1, %cst) <{window_dimensions = array<i64: 1, 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %9 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x7xf32>
    %7 = stablehlo.reduce(%5#1 init: %cst) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
     reducer(%arg3: tensor<f32>, %arg4: tensor<f32>)  {
      %9 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }
    %8 = stablehlo.slice %1 [0:2, 0:8:2] : (tensor<4x8xf32>) -> tensor<2x4xf32>
    return %5#1, %4 : tensor<4xf32>, tensor<3x8xf32>
  }
  func.func private @relu(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
} loc(#loc)
#loc1 = loc("f"(#loc))
)";

std::string ModuleOf(std::string_view body, std::string_view arguments = "%arg0: tensor<4xf32>") {
  return Cat("module {\n  func.func public @main(", arguments, ") -> (tensor<4xf32>) {\n", body, "\n  }\n}\n");
}

std::string Error(std::string_view text, const Limits& limits = {}) {
  const auto graph = ParseStableHloText(text, limits);
  return graph.ok() ? "accepted" : std::string(graph.status().message());
}

TEST(StableHlo, ReadsEveryFormAndPrintsItInOneFixedForm) {
  const auto graph = Parse({.model = kWhole, .info = kInfo});
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->parameters.size(), 3u);
  EXPECT_EQ(graph->parameters[0].name, "arg0");
  EXPECT_EQ(graph->parameters[0].meta.shape, (std::vector<int64_t>{4, 8}));
  EXPECT_EQ(graph->parameters[2].meta.dtype, DType::kInt32);
  EXPECT_EQ(graph->operation_count(), 28);
  const Sample canonical = Canonical(*graph);
  EXPECT_THAT(canonical.model, HasSubstr("    %5 = stablehlo.broadcast_in_dim %arg1, dims = [1]: (tensor<8xf32>) -> "
                                         "tensor<4x8xf32>\n"));
  EXPECT_THAT(canonical.model, HasSubstr("func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8xf32>, %arg2: "
                                         "tensor<3x1xi32>) -> (tensor<4xf32>, tensor<3x8xf32>) {\n"));
  for (const char* gone : {"loc", "jax", "mhlo", "sharding", "custom_call", "//", "iterArg"}) {
    EXPECT_THAT(canonical.model, Not(HasSubstr(gone)));
  }
  const auto again = Parse(canonical);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << canonical.model;
  const Sample twice = Canonical(*again);
  EXPECT_EQ(twice.model, canonical.model);
  EXPECT_EQ(twice.weight_meta, canonical.weight_meta);
  EXPECT_EQ(twice.input_meta, canonical.input_meta);
  EXPECT_EQ(twice.info, canonical.info);
}

TEST(StableHlo, NamesSpacesAndLocationsAreNotPartOfTheHash) {
  const auto a = Parse(
      {.model = ModuleOf("%0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\nreturn %0 : tensor<4xf32>"), .info = kInfo});
  const auto b =
      Parse({.model = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %sum   = stablehlo.add %x,%x "
                      ": tensor<4xf32> loc(\"y\")\n  func.return %sum : tensor<4xf32>\n}\n",
             .info = kInfo});
  ASSERT_TRUE(a.ok()) << a.status();
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_NE(Hash(*a), Hash(*b)) << "func.return is spelt out";
  const auto c =
      Parse({.model = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %sum   = stablehlo.add %x,%x "
                      ": tensor<4xf32> loc(\"y\")\n  return %sum : tensor<4xf32>\n}\n",
             .info = kInfo});
  EXPECT_EQ(Hash(*a), Hash(*c));
}

TEST(StableHlo, AStructureHasNoSizesAndNumbers) {
  const auto graph = [](std::string_view size, std::string_view number, std::string_view operation) {
    return Parse(
        {.model = Cat("func.func @main(%x: tensor<", size, "xf32>) -> tensor<", size,
                      "xf32> {\n%c = stablehlo.constant dense<", number, "> : tensor<", size, "xf32>\n%0 = stablehlo.",
                      operation, " %x, %c : tensor<", size, "xf32>\nreturn %0 : tensor<", size, "xf32>\n}"),
         .info = kInfo});
  };
  const std::string hash = StructureHash(*graph("4", "1.0", "add"));
  EXPECT_EQ(StructureHash(*graph("8", "2.5", "add")), hash);
  EXPECT_NE(StructureHash(*graph("4", "1.0", "multiply")), hash);
  EXPECT_NE(StructureHash(*graph("4x1", "1.0", "add")), hash);
}

TEST(StableHlo, ArgumentsAreDescribedByTheirNames) {
  const std::string body = "return %arg0 : tensor<4xf32>";
  const std::string arguments = "%arg0: tensor<4xf32>, %w: tensor<2x2xbf16>, %i: tensor<i32>, %b: tensor<i1>";
  const auto meta = [](std::string_view name, std::string_view shape, std::string_view dtype) {
    return Cat("class M", name, ":\n    name = \"", name, "\"\n    shape = ", shape, "\n    dtype = \"torch.", dtype,
               "\"\n    device = \"cpu\"\n    mean = 0.5\n    std = 0.25\n    data = None\n");
  };
  const auto graph =
      Parse({.model = ModuleOf(body, arguments), .weight_meta = meta("arg1", "[2, 2]", "bfloat16"), .info = kInfo});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->parameters[0].annotation, Annotation::kTensor);
  EXPECT_EQ(graph->parameters[0].meta.std, 1);
  EXPECT_EQ(graph->parameters[1].annotation, Annotation::kParameter);
  EXPECT_EQ(graph->parameters[1].meta.std, 0.25);
  EXPECT_EQ(graph->parameters[2].meta.max_val, 1);
  EXPECT_FALSE(graph->parameters[3].meta.mean);
  const auto inputs =
      Parse({.model = ModuleOf(body, arguments), .input_meta = meta("arg1", "[2, 2]", "bfloat16"), .info = kInfo});
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_EQ(inputs->parameters[1].annotation, Annotation::kTensor);
  EXPECT_NE(Hash(*graph), Hash(*inputs)) << "weights are the same in every set of inputs";
  for (const auto& wrong :
       {meta("arg1", "[2, 3]", "bfloat16"), meta("arg1", "[2, 2]", "float32"), meta("w", "[2, 2]", "bfloat16")}) {
    const auto refused = Parse({.model = ModuleOf(body, arguments), .weight_meta = wrong, .info = kInfo});
    EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << wrong;
    EXPECT_EQ(DiagnosticOf(refused.status())->file, "weight_meta.py");
  }
}

struct Refused {
  const char* body;
  const char* message;
};

class StableHloRefuses : public testing::TestWithParam<Refused> {};

TEST_P(StableHloRefuses, WithThePlaceAndTheReason) {
  const std::string text = ModuleOf(GetParam().body);
  EXPECT_THAT(Error(text), HasSubstr(GetParam().message)) << text;
  EXPECT_THAT(Error(text), HasSubstr("model.stablehlo.mlir:"));
}

INSTANTIATE_TEST_SUITE_P(
    All, StableHloRefuses,
    testing::Values(
        Refused{"%0 = stablehlo.custom_call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>", "'stablehlo.custom_call'"},
        Refused{"%0 = \"stablehlo.custom_call\"(%arg0) <{call_target_name = \"f\"}> : (tensor<4xf32>) -> tensor<4xf32>",
                "'stablehlo.custom_call'"},
        // An operation where none is looked for.
        Refused{"%0 = stablehlo.abs %arg0 : tensor<4xf32> stablehlo.custom_call @f()", "an operation begins a line"},
        Refused{"%0 = stablehlo.abs %arg0 : tensor<4xf32> \"stablehlo.custom_call\"() : () -> ()", "expected a value"},
        Refused{"%0 = stablehlo.abs %arg0 : tensor<4xf32> call @main(%arg0)", "an operation begins a line"},
        Refused{"%0 = stablehlo.reduce(%arg0 init: %arg0) applies stablehlo.custom_call across",
                "an operation that a graph"},
        Refused{"%0 = \"stablehlo.sort\"(%arg0) ({ stablehlo.custom_call @f()\n}) : ()", "an operation begins a line"},
        Refused{"%0 = \"stablehlo.sort\"(%arg0) ({\nstablehlo.custom_call @f()\n}) : ()", "'stablehlo.custom_call'"},
        Refused{"%0 = stablehlo.abs %arg0 {backend_config = \"x\"} : tensor<4xf32>", "attribute 'backend_config'"},
        Refused{"%0 = stablehlo.abs %arg0 {value = @f} : tensor<4xf32>", "expected a value, a type or an attribute"},
        Refused{"%0 = stablehlo.abs %arg0 {value = \"/etc/passwd\"} : tensor<4xf32>", "expected a value, a type"},
        Refused{"%0 = stablehlo.abs %arg0 {value = #llvm<x>} : tensor<4xf32>", "an attribute of StableHLO"},
        Refused{"%0 = stablehlo.all_reduce %arg0", "'stablehlo.all_reduce'"},
        Refused{"%0 = stablehlo.rng %arg0", "'stablehlo.rng'"},
        Refused{"%0 = stablehlo.infeed %arg0", "'stablehlo.infeed'"},
        Refused{"%c = stablehlo.constant dense_resource<x> : tensor<4xf32>", "dense_resource"},
        Refused{"%c = stablehlo.constant dense<@f> : tensor<4xf32>", "must be numbers"},
        Refused{"%0 = stablehlo.abs %1 : tensor<4xf32>", "%1 is not defined here"},
        Refused{"%0 = stablehlo.abs %0 : tensor<4xf32>", "%0 is not defined here"},
        Refused{"%arg0 = stablehlo.abs %arg0 : tensor<4xf32>", "%arg0 is defined already"},
        Refused{"%0:2 = stablehlo.abs %arg0 : tensor<4xf32>\nreturn %0#2 : tensor<4xf32>", "%0 has 2 results"},
        Refused{"%0 = stablehlo.abs %arg0 : tensor<?xf32>", "sizes must be numbers"},
        Refused{"%0 = stablehlo.abs %arg0 : tensor<4xf32, #stablehlo.bounds<4>>", "sizes must be numbers"},
        Refused{"%0 = stablehlo.abs %arg0 : tensor<4x!quant.uniform<i8:f32>>", "sizes must be numbers"},
        Refused{"%0 = stablehlo.abs %arg0 : tensor<99999999999x99999999999xf32>", "more bytes than the limit"},
        Refused{"%0 = stablehlo.abs %arg0 : tensor<99999999999999999999xf32>", "dimension that is no number"},
        Refused{"%0 = stablehlo.abs %arg0 : !stablehlo.token", "found '!'"},
        Refused{"return %arg0 : tensor<4xf32>\n^bb1:\nreturn %arg0 : tensor<4xf32>", "a region has one block"},
        Refused{"%0 = call @nowhere(%arg0) : (tensor<4xf32>) -> tensor<4xf32>", "@nowhere, which is not defined"},
        Refused{"%0 = call @main(%arg0) : (tensor<4xf32>) -> tensor<4xf32>", "in a circle"},
        Refused{"%0 = \"func.call\"(%arg0) <{callee = @main}> : ()", "short form"},
        Refused{"%0 = stablehlo.abs %arg0 : tensor<4xf32", "'>' on this line"},
        Refused{"%0 = stablehlo.abs (%arg0", "expected a value"},
        Refused{"%c = stablehlo.constant dense<\"0x00\n", "on this line"}));

TEST(StableHlo, RefusesWhatIsNoModule) {
  EXPECT_THAT(Error(""), HasSubstr("no function @main"));
  EXPECT_THAT(Error("import os\n"), HasSubstr("expected module or func.func, found 'import'"));
  EXPECT_THAT(Error("ML\xefR\x01"), HasSubstr("bytecode"));
  EXPECT_THAT(Error("module {\n  func.func @f() -> tensor<f32> {\n  }\n}"), HasSubstr("no function @main"));
  EXPECT_THAT(Error("module {\n  sdy.mesh @mesh = <[\"x\"=2]>\n}"),
              HasSubstr("expected func.func or '}', found 'sdy.mesh'"));
  EXPECT_THAT(Error("module attributes {mhlo.num_partitions = 2 : i32} {\n}"), HasSubstr("must be 1"));
  EXPECT_THAT(Error("#map = affine_map<(d0) -> (d0)>\n"), HasSubstr("a location"));
  EXPECT_THAT(Error(ModuleOf("", "%k: tensor<2xui32>")), HasSubstr("ui32"));
  EXPECT_THAT(Error(ModuleOf("") + "module {\n}\n"), HasSubstr("expected the end of the file"));
}

TEST(StableHlo, IsBounded) {
  Limits limits;
  limits.operations = 100;
  limits.parameters = 2;
  limits.rank = 3;
  limits.total_bytes = 1000;
  limits.tensor_bytes = 2000;
  std::string many;
  for (int i = 0; i < 101; ++i) many += Cat("%", i, " = stablehlo.abs %arg0 : tensor<4xf32>\n");
  EXPECT_THAT(Error(ModuleOf(many), limits), HasSubstr("more than 100 operations"));
  EXPECT_THAT(Error(ModuleOf("", "%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>"), limits),
              HasSubstr("2 arguments"));
  EXPECT_THAT(Error(ModuleOf("", "%a: tensor<1x1x1x1xf32>"), limits), HasSubstr("3 dimensions"));
  EXPECT_THAT(Error(ModuleOf("", "%a: tensor<200xf32>, %b: tensor<200xf32>"), limits),
              HasSubstr("arguments up to here"));
  EXPECT_THAT(Error(ModuleOf("", "%a: tensor<501xf32>"), limits), HasSubstr("limit of 2000"));
  const std::string deep(100'000, '(');
  EXPECT_THAT(Error(ModuleOf("%0 = stablehlo.abs " + deep)), HasSubstr("nested more than 64"));
  EXPECT_THAT(Error("module attributes {a = " + std::string(100'000, '[')), HasSubstr("nested more than 64"));
  std::string regions;
  for (int i = 0; i < 100; ++i) regions += "\"stablehlo.sort\"(%arg0) ({\n";
  EXPECT_THAT(Error(ModuleOf(regions)), HasSubstr("nested more than 64"));
  limits.file_bytes = 10;
  EXPECT_THAT(Error(ModuleOf(""), limits), HasSubstr("more than the limit of 10"));
}

TEST(StableHlo, CallsThatMultiplyAreCounted) {
  // f0 calls f1 twice, that calls f2 twice …: 2^40 operations where calls are expanded.
  std::string text = "module {\n";
  for (int i = 0; i < 40; ++i) {
    const std::string name = i == 0 ? "main" : Cat("f", i);
    text += Cat("func.func @", name, "(%arg0: tensor<f32>) -> tensor<f32> {\n");
    const std::string callee = i == 39 ? "" : Cat("f", i + 1);
    for (const char* result : {"%0", "%1"}) {
      text += callee.empty() ? Cat(result, " = stablehlo.abs %arg0 : tensor<f32>\n")
                             : Cat(result, " = call @", callee, "(%arg0) : (tensor<f32>) -> tensor<f32>\n");
    }
    text += "return %1 : tensor<f32>\n}\n";
  }
  EXPECT_THAT(Error(text + "}"), HasSubstr("where calls are expanded"));
}

}  // namespace
}  // namespace assay::graph
