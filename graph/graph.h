// A computation graph as Assay holds it in memory: parameters with the description of their tensors, a flat list of
// operations over value numbers, and the values returned; or a StableHLO module. Everything in it was checked against
// the callee table (callees.h, stablehlo_names.h): a Graph can only be made by Parse() (parse.h), never by executing
// anything.
//
// Value numbers: parameter i is value i; every operation that has a result defines the next free number in order, so
// the result of operations[k] is `operations[k].result`. A value is never redefined. Aliases in the source
// (`l_x = L_x`) and names freed (`x = None`) are resolved away; LastUses() says where a value may be freed.
// Thread safety: a const Graph may be read from any number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "graph/dtype.h"

namespace assay::graph {

struct Callee;  // callees.h

// Where something stands in its source file; 1-based. Not part of a graph's identity.
struct Location {
  int line = 0;
  int column = 0;
};

struct Argument;

struct NoneLiteral {
  bool operator==(const NoneLiteral&) const = default;
};
struct EllipsisLiteral {
  bool operator==(const EllipsisLiteral&) const = default;
};
// `device(type=…, index=…)`: a placeholder, replaced by the target's device.
struct DevicePlaceholder {
  bool operator==(const DevicePlaceholder&) const = default;
};
// A value number.
struct ValueRef {
  int32_t value = 0;
  bool operator==(const ValueRef&) const = default;
};
// Python's slice(start, stop, step); exactly three items, each None, an int or a value.
struct SliceLiteral {
  std::vector<Argument> items;
  bool operator==(const SliceLiteral&) const = default;
};
// A tuple or a list.
struct Sequence {
  bool tuple = true;
  std::vector<Argument> items;
  bool operator==(const Sequence&) const = default;
};
// torch.strided, torch.preserve_format, torch.contiguous_format, torch.channels_last …: kept by name ("strided").
struct TorchConstant {
  std::string name;
  bool operator==(const TorchConstant&) const = default;
};

struct Argument {
  std::variant<NoneLiteral, bool, int64_t, double, std::string, DType, DevicePlaceholder, EllipsisLiteral,
               TorchConstant, ValueRef, SliceLiteral, Sequence>
      v;
  bool operator==(const Argument&) const = default;
};

struct KeywordArgument {
  std::string name;
  Argument value;
  bool operator==(const KeywordArgument&) const = default;
};

struct Operation {
  const Callee* callee = nullptr;        // never null; a row of the callee table, compared by identity
  std::vector<Argument> positional;      // a method's receiver, an operator's left operand, come first
  std::vector<KeywordArgument> keyword;  // as written: in source order, no duplicates
  int32_t result = -1;                   // value number, -1 for `x[i] = v`
  Location location;
};

enum class Annotation : uint8_t { kParameter, kTensor, kSymInt };

// The description of a tensor from which its contents are replayed (replay.h), as in weight_meta.py.
struct TensorMeta {
  std::string name;            // the forward parameter that it is passed to
  std::vector<int64_t> shape;  // empty: 0-dim
  DType dtype = DType::kFloat32;
  std::optional<double> mean, std, min_val, max_val;  // nan and inf occur
  // Flat contents, element count equal to the shape's; integers up to 2^63 are exact.
  std::optional<std::vector<std::variant<int64_t, double, bool>>> data;
};

struct Parameter {
  std::string name;
  Annotation annotation = Annotation::kTensor;
  TensorMeta meta;
};

inline constexpr char kTorchFramework[] = "torch";
inline constexpr char kStableHloFramework[] = "stablehlo";

// A StableHLO module, checked and printed in one fixed form (stablehlo_parser.h).
struct StableHlo {
  std::string text;
  std::string structure;  // the same without sizes, numbers and contents
  int64_t operations = 0;
};

// What graph_net.json says, as far as it is kept; none of it is part of the graph's identity but `framework`.
struct SampleInfo {
  std::string framework = kTorchFramework;
  std::string model_name, source, heuristic_tag;
};

// Of a StableHLO graph there are the parameters, the arguments of its @main, and the module in `stablehlo`; operations
// and outputs are empty.
struct Graph {
  std::vector<Parameter> parameters;  // parameter i defines value i
  std::vector<Operation> operations;
  std::vector<int32_t> outputs;  // value numbers, in order, repeats allowed
  SampleInfo info;
  int32_t value_count = 0;
  std::optional<StableHlo> stablehlo;

  int64_t operation_count() const {
    return stablehlo ? stablehlo->operations : static_cast<int64_t>(operations.size());
  }

  // Sum of the bytes of all parameters.
  int64_t parameter_bytes() const;
};

// The values that an operation's arguments hold, in order, repeats and all.
std::vector<int32_t> ValuesOf(const Operation& operation);

// For each operation, the values whose last use it is (results never used are listed at their own operation);
// outputs are never listed.
std::vector<std::vector<int32_t>> LastUses(const Graph& graph);

int64_t ElementCount(const std::vector<int64_t>& shape);  // shape already checked: no overflow

}  // namespace assay::graph
