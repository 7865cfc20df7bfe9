// Reads a GraphNet sample: four files of text in, a checked Graph out. A closed grammar; nothing is executed,
// imported or evaluated. Depth and size are bounded (Limits), time is linear in the text.
//
// Errors are InvalidArgument (or ResourceExhausted where a limit is passed); the message says file, line, column,
// what was found and what would have been accepted, and DiagnosticOf() gives the same as fields.
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace assay::graph {

// The texts of a sample. input_meta may be empty (it is in every public torch sample). Where `info` says that the
// framework is stablehlo, `model` is a StableHLO module, whose arguments the others describe by the names arg0, arg1 …,
// weights in weight_meta, as far as they describe them at all.
struct Sample {
  std::string model;        // model.py, or model.stablehlo.mlir
  std::string weight_meta;  // weight_meta.py
  std::string input_meta;   // input_meta.py
  std::string info;         // graph_net.json
};

struct Limits {
  size_t file_bytes = 64u << 20;
  size_t line_bytes = 1u << 20;
  size_t info_bytes = 1u << 20;  // of graph_net.json
  int depth = 16;  // nesting of (), [] and calls
  size_t operations = 1u << 20;
  // Of the operations of a text and their arguments, in bytes allocated: the factor times the text and the floor. What
  // compilers write takes a fraction of it; `[0,0,0,…]` would take 60 times its text.
  size_t memory_factor = 8;
  size_t memory_floor = 4u << 20;
  size_t parameters = 1u << 16;
  int rank = 32;
  int64_t tensor_bytes = int64_t{64} << 30;  // of one tensor
  int64_t total_bytes = int64_t{64} << 30;   // of all parameters
};

struct Diagnostic {
  std::string file;  // "model.py"
  int line = 0;      // 1-based; 0 where the whole file is meant
  int column = 0;
  std::string message;  // without the place
};

absl::StatusOr<Graph> Parse(const Sample& sample, const Limits& limits = {});

// The place in the sample that a status of Parse() is about, if it has one.
std::optional<Diagnostic> DiagnosticOf(const absl::Status& status);

// model.py alone, for runners, who get their tensors elsewhere: parameters have a name and an annotation, and a meta
// that has only its name.
absl::StatusOr<Graph> ParseModel(std::string_view model, const Limits& limits = {});

}  // namespace assay::graph
