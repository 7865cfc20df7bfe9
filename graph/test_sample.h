// A small sample that uses every form of the grammar; for tests.
#pragma once

#include <string>
#include <string_view>

#include "graph/parse.h"
#include "graph/text.h"
#include "gtest/gtest.h"

namespace assay::graph {

inline std::string ModelOf(std::string_view parameters, std::string_view body) {
  return Cat(
      "import torch\n\nfrom torch import device\nfrom torch import inf\n\n\n"
      "class GraphModule(torch.nn.Module):\n    def forward(self, ",
      parameters, "):\n", body);
}

inline std::string MetaOf(std::string_view name, std::string_view shape = "[2, 3]",
                          std::string_view dtype = "torch.float32", std::string_view more = "") {
  return Cat("class Program_weight_tensor_meta_", name, ":\n    name = \"", name, "\"\n    shape = ", shape,
             "\n    dtype = \"", dtype, "\"\n    device = \"cuda:0\"\n    mean = 0.5\n    std = 1.250\n", more, "\n\n");
}

inline constexpr std::string_view kInfo = R"({"framework": "torch", "num_devices_required": 1, "num_nodes_required": 1,
  "model_name": "made/up", "source": "tests", "heuristic_tag": "other", "original_tag": ["a"]})";

// Fails the test where the sample is not accepted.
inline Graph MustParse(const Sample& sample) {
  absl::StatusOr<Graph> graph = Parse(sample);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph{};
}

// One parameter x and one operation on it.
inline Sample SampleWithBody(std::string_view body) {
  return {.model = ModelOf("x: torch.Tensor", body), .weight_meta = MetaOf("x"), .info = std::string(kInfo)};
}

inline Sample ReluSample() {
  return {
      .model = ModelOf("L_x_: torch.Tensor", "        relu = torch.nn.functional.relu(L_x_)\n        return (relu,)\n"),
      .weight_meta = MetaOf("L_x_", "[4]"),
      .info = std::string(kInfo)};
}

inline Sample FullSample() {
  Sample sample;
  sample.model = ModelOf(R"(
        L_x_: torch.Tensor,
        L_weight_: torch.nn.parameter.Parameter,
        s0: torch.SymInt,
        L_mask_: torch.Tensor,
    )",
                         R"(        l_x = L_x_
        l_weight = (
            L_weight_
        )
        # A comment.
        linear = torch._C._nn.linear(l_x, l_weight, None)
        l_weight = L_weight_ = None
        view = linear.view(
            -1,
            s0,
        )
        linear = None
        y = view[(slice(None, None, None), slice(0, s0, None), None)]
        z = y[Ellipsis, -1]
        item = y[0]
        y[(slice(None, 1, None), 0)] = -2
        y[L_mask_] = item
        alias = y
        y += 1
        y *= -1.5
        alias -= y
        full = torch.full((2, 3), -inf, device=device(type="cuda", index=0), dtype=torch.float16)
        ones = torch.ones(2, 3, device="cuda", dtype=torch.bool)
        neg = -full
        inv = ~ones
        pow_1 = (-2) ** neg
        pow_2 = 2.0 ** neg
        rsub = 1e-05 - pow_1
        transposed = rsub.T
        compare = transposed >= 3.4028234663852886e+38
        listed = [None] * s0
        einsum = torch.functional.einsum("i,\"j\\->ij", compare, inv)
        contiguous = einsum.contiguous(memory_format=torch.channels_last)
        where_1 = view = (
            _unused
        ) = None
        stacked = torch.stack([z, item, (neg)], dim=-1)
        max_1 = torch.max(stacked, -1, keepdim=True)
        values = max_1[0]
        return (values, contiguous, listed, values, L_x_, pow_2,)
)");
  sample.weight_meta = MetaOf("L_x_", "[4, 8]") +
                       MetaOf("L_weight_", "[8, 8]", "torch.bfloat16", "    min_val = 0\n    data = None\n") +
                       "class Program_weight_tensor_meta_s0:\n    name = (\n        \"s0\"\n    )\n    shape = []\n"
                       "    dtype = \"torch.int64\"\n    device = \"cpu\"\n    mean = None\n    std = None\n"
                       "    data = [4]\n";
  sample.input_meta = MetaOf("L_mask_", "[4]", "torch.bool",
                             "    data = [\n        True,\n        0,\n        1.0,\n"
                             "        False,\n    ]");
  sample.info = kInfo;
  return sample;
}

}  // namespace assay::graph
