#include "graph/float64.h"

#include <type_traits>
#include <utility>

#include "graph/callees.h"
#include "graph/signature.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

bool IsFp8(DType dtype) { return dtype == DType::kFloat8E4M3FN || dtype == DType::kFloat8E5M2; }

absl::Status No(std::string_view why) { return absl::UnimplementedError(Cat("no float64 form of the graph: ", why)); }

// Whether it holds a dtype, at any depth.
bool NamesDType(const Argument& argument) {
  if (std::holds_alternative<DType>(argument.v)) return true;
  const auto* sequence = std::get_if<Sequence>(&argument.v);
  if (sequence == nullptr) return false;
  for (const Argument& item : sequence->items) {
    if (NamesDType(item)) return true;
  }
  return false;
}

absl::Status Widen(Argument& argument) {
  if (auto* dtype = std::get_if<DType>(&argument.v)) {
    if (IsFp8(*dtype)) return No(Cat("it names ", Name(*dtype)));
    *dtype = Widened(*dtype);
  } else if (auto* sequence = std::get_if<Sequence>(&argument.v)) {
    for (Argument& item : sequence->items) {
      if (absl::Status status = Widen(item); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// The argument that a parameter takes; nullptr where it has its default.
const Argument* Bound(const Operation& operation, const Binding& binding, std::string_view parameter) {
  const int index = binding.signature->Find(parameter);
  const int argument = index < 0 ? -1 : binding.arguments[static_cast<size_t>(index)];
  if (argument < 0) return nullptr;
  const auto positional = static_cast<int>(operation.positional.size());
  return argument < positional ? &operation.positional[static_cast<size_t>(argument)]
                               : &operation.keyword[static_cast<size_t>(argument - positional)].value;
}

bool IsZero(const Argument& argument) {
  if (const auto* real = std::get_if<double>(&argument.v)) return *real == 0;
  if (const auto* integer = std::get_if<int64_t>(&argument.v)) return *integer == 0;
  return false;
}

// Dropout: its share is not 0 and `training` is not False. What a value decides counts as random.
absl::StatusOr<bool> DrawsNumbers(const Operation& operation) {
  const std::string_view flags = operation.callee->flags;
  if (flags.find('r') != std::string_view::npos) return true;
  if (flags.find('d') == std::string_view::npos) return false;
  const absl::StatusOr<Binding> binding = Bind(operation);
  if (!binding.ok()) return binding.status();
  const Argument* training = Bound(operation, *binding, "training");
  if (training == nullptr) training = Bound(operation, *binding, "train");
  if (training != nullptr && training->v == Argument{false}.v) return false;
  for (const char* name : {"dropout_p", "dropout", "p"}) {
    const int index = binding->signature->Find(name);
    if (index < 0) continue;
    const Argument* share = Bound(operation, *binding, name);
    const std::string_view otherwise = binding->signature->parameters[static_cast<size_t>(index)].default_text;
    return share != nullptr ? !IsZero(*share) : otherwise != "0.0" && otherwise != "0";
  }
  return true;
}

absl::Status WidenOperation(Operation& operation) {
  const std::string_view name = operation.callee->name;
  absl::StatusOr<bool> random = DrawsNumbers(operation);
  if (!random.ok()) return random.status();
  if (*random) return No(Cat("it draws random numbers (", name, ")"));
  if (name.ends_with("_enter_autocast")) return absl::OkStatus();
  bool names_dtype = false, names_text = false;
  for (const Argument& argument : operation.positional) {
    names_dtype |= NamesDType(argument);
    names_text |= std::holds_alternative<std::string>(argument.v);
  }
  if (name == ".view" && names_dtype) return No("`.view` reads the bits of a tensor as another dtype");
  if (name == ".type" && names_text) return No("`.type` names a tensor type by a text");
  if (name == ".float" || name == ".half" || name == ".bfloat16") {
    operation.callee = FindCallee(".to");
    operation.positional.push_back(Argument{DType::kFloat64});
    return absl::OkStatus();
  }
  for (Argument& argument : operation.positional) {
    if (absl::Status status = Widen(argument); !status.ok()) return status;
  }
  for (KeywordArgument& argument : operation.keyword) {
    if (name == ".view" && NamesDType(argument.value)) return No("`.view` reads the bits of a tensor as another dtype");
    if (absl::Status status = Widen(argument.value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

DType Widened(DType dtype) {
  if (IsComplex(dtype)) return DType::kComplex128;
  return IsFloatingPoint(dtype) ? DType::kFloat64 : dtype;
}

absl::StatusOr<Graph> InFloat64(const Graph& graph) {
  if (graph.info.framework != kTorchFramework) return No(Cat("it is no torch graph but ", graph.info.framework));
  Graph wide = graph;
  for (Parameter& parameter : wide.parameters) {
    if (IsFp8(parameter.meta.dtype)) {
      return No(Cat("parameter ", parameter.name, " is ", Name(parameter.meta.dtype)));
    }
    parameter.meta.dtype = Widened(parameter.meta.dtype);
  }
  for (Operation& operation : wide.operations) {
    if (absl::Status status = WidenOperation(operation); !status.ok()) return status;
  }
  return wide;
}

}  // namespace assay::graph
