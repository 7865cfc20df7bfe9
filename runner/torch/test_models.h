// Small graphs for tests.
#pragma once

#include <string>
#include <string_view>

#include "graph/parse.h"
#include "gtest/gtest.h"

namespace assay::torch_runner {

// A forward() with these parameters ("x: torch.Tensor, n: torch.SymInt") and lines.
inline graph::Graph Model(std::string_view parameters, std::string_view lines) {
  std::string text = "import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, ";
  text.append(parameters).append("):\n        ");
  for (char c : lines) {
    text += c;
    if (c == '\n') text += "        ";
  }
  text += '\n';
  absl::StatusOr<graph::Graph> graph = graph::ParseModel(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? std::move(*graph) : graph::Graph();
}

}  // namespace assay::torch_runner
