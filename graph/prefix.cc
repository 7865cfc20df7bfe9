#include "graph/prefix.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "graph/callees.h"
#include "graph/signature.h"

namespace assay::graph {
namespace {

bool HasFlag(const Operation& operation, char flag) {
  return operation.callee->flags.find(flag) != std::string_view::npos;
}

// The argument bound to the parameter; nullptr where it has its default.
const Argument* ArgumentOf(const Operation& operation, std::string_view parameter) {
  const absl::StatusOr<Binding> binding = Bind(operation);
  if (!binding.ok()) return nullptr;
  const int index = binding->signature->Find(parameter);
  const int argument = index < 0 ? -1 : binding->arguments[index];
  if (argument < 0) return nullptr;
  const size_t positional = operation.positional.size();
  const auto at = static_cast<size_t>(argument);
  return at < positional ? &operation.positional[at] : &operation.keyword[at - positional].value;
}

bool IsTrue(const Argument* argument) {
  const bool* truth = argument == nullptr ? nullptr : std::get_if<bool>(&argument->v);
  return truth != nullptr && *truth;
}

bool HasSequenceOrOther(const Operation& operation, const std::vector<ValueKind>& kinds) {
  return std::any_of(operation.positional.begin(), operation.positional.end(), [&](const Argument& argument) {
    const auto* value = std::get_if<ValueRef>(&argument.v);
    return std::holds_alternative<Sequence>(argument.v) ||
           (value != nullptr && (kinds[value->value] == ValueKind::kTuple || kinds[value->value] == ValueKind::kOther));
  });
}

ValueKind KindOfItem(const Operation& operation, const std::vector<ValueKind>& kinds) {
  const auto* receiver = std::get_if<ValueRef>(&operation.positional[0].v);
  const ValueKind kind = receiver == nullptr ? ValueKind::kOther : kinds[receiver->value];
  const bool whole = kind == ValueKind::kUnwritten || std::holds_alternative<SliceLiteral>(operation.positional[1].v);
  return whole ? kind : ValueKind::kTensor;
}

ValueKind KindOfResult(const Operation& operation, const std::vector<ValueKind>& kinds) {
  const std::string_view target = operation.callee->target;
  if (HasFlag(operation, 't')) return ValueKind::kTuple;
  if (HasFlag(operation, 'o')) return ValueKind::kOther;
  if (HasFlag(operation, 'n')) return ValueKind::kUnwritten;
  if (target == "composite::operator_getitem") return KindOfItem(operation, kinds);
  if (operation.callee->kind == CalleeKind::kOperator) {
    return HasSequenceOrOther(operation, kinds) ? ValueKind::kOther : ValueKind::kTensor;
  }
  if (target == "composite::size") {
    return ArgumentOf(operation, "dim") == nullptr ? ValueKind::kOther : ValueKind::kTensor;
  }
  if (HasFlag(operation, 'a')) {
    // A second tensor may stand in the same place as a dimension.
    const Argument* dimension = ArgumentOf(operation, "dim");
    const bool along = dimension != nullptr && std::holds_alternative<int64_t>(dimension->v);
    return along ? ValueKind::kTuple : ValueKind::kTensor;
  }
  return IsTrue(ArgumentOf(operation, "return_indices")) ? ValueKind::kTuple : ValueKind::kTensor;
}

// Of each value number.
std::vector<ValueKind> ValueKinds(const Graph& graph) {
  std::vector<ValueKind> kinds(graph.value_count, ValueKind::kTensor);
  for (const Operation& operation : graph.operations) {
    if (operation.result >= 0) kinds[operation.result] = KindOfResult(operation, kinds);
  }
  return kinds;
}

// Whether it may write to a tensor that it was given.
bool MayWrite(const Operation& operation) {
  return HasFlag(operation, 'm') || (HasFlag(operation, 'i') && IsTrue(ArgumentOf(operation, "inplace"))) ||
         // Running statistics.
         IsTrue(ArgumentOf(operation, "training")) || IsTrue(ArgumentOf(operation, "use_input_stats"));
}

// What it opens less what it closes, of regions that a graph cannot end within.
int ScopeChange(const Operation& operation) {
  const std::string_view target = operation.callee->target;
  if (target == "composite::enter_autocast" || target == "composite::vmap_increment_nesting") return 1;
  if (target == "composite::exit_autocast" || target == "composite::vmap_decrement_nesting") return -1;
  return 0;
}

// Of `x[3]`: x, where the index is a number.
bool TakesElement(const Operation& operation, int32_t tuple) {
  if (operation.callee->target != "composite::operator_getitem") return false;
  const auto* receiver = std::get_if<ValueRef>(&operation.positional[0].v);
  return receiver != nullptr && receiver->value == tuple && std::holds_alternative<int64_t>(operation.positional[1].v);
}

Argument Renumbered(const Argument& argument, const std::map<int32_t, int32_t>& numbers) {
  Argument out = argument;
  if (auto* reference = std::get_if<ValueRef>(&out.v)) {
    reference->value = numbers.at(reference->value);
  } else if (auto* slice = std::get_if<SliceLiteral>(&out.v)) {
    for (Argument& item : slice->items) item = Renumbered(item, numbers);
  } else if (auto* sequence = std::get_if<Sequence>(&out.v)) {
    for (Argument& item : sequence->items) item = Renumbered(item, numbers);
  }
  return out;
}

Operation Renumbered(const Operation& operation, const std::map<int32_t, int32_t>& numbers) {
  Operation out = operation;
  for (Argument& argument : out.positional) argument = Renumbered(argument, numbers);
  for (KeywordArgument& argument : out.keyword) argument.value = Renumbered(argument.value, numbers);
  return out;
}

}  // namespace

GraphCutter::GraphCutter(const Graph& graph)
    : graph_(graph),
      kinds_(ValueKinds(graph)),
      uses_(graph.value_count),
      made_by_(graph.value_count, 0),
      first_write_(graph.operations.size()) {
  const size_t count = graph.operations.size();
  std::vector<bool> closed(count + 1, true);
  int depth = 0;
  for (size_t i = 0; i < count; ++i) {
    const Operation& operation = graph.operations[i];
    for (const int32_t value : ValuesOf(operation)) uses_[value].push_back(i);
    if (operation.result >= 0) made_by_[operation.result] = i + 1;
    if (first_write_ == count && MayWrite(operation)) first_write_ = i;
    depth += ScopeChange(operation);
    closed[i + 1] = depth == 0;
  }
  for (const int32_t value : graph.outputs) uses_[value].push_back(count);
  for (size_t cut = 1; cut < count; ++cut) {
    if (!closed[cut]) continue;
    const Boundary boundary = BoundaryAt(cut);
    if (boundary.possible && !(boundary.values.empty() && boundary.elements.empty())) cuts_.push_back(cut);
  }
  cuts_.push_back(count);
}

GraphCutter::Boundary GraphCutter::BoundaryAt(size_t cut) const {
  Boundary out;
  const auto parameters = static_cast<int32_t>(graph_.parameters.size());
  for (int32_t value = 0; value < graph_.value_count; ++value) {
    const std::vector<size_t>& uses = uses_[value];
    if (made_by_[value] > cut || uses.empty() || uses.back() < cut) continue;
    if (value < parameters) {
      // An output that is a parameter, too, can only have changed where something was written.
      if (graph_.parameters[value].annotation != Annotation::kSymInt && first_write_ < cut && uses.front() < cut) {
        out.values.push_back(value);
      }
    } else if (kinds_[value] == ValueKind::kTensor) {
      out.values.push_back(value);
    } else if (kinds_[value] == ValueKind::kTuple) {
      std::set<int64_t> taken;
      for (auto use = std::lower_bound(uses.begin(), uses.end(), cut); use != uses.end(); ++use) {
        if (*use == graph_.operations.size() || !TakesElement(graph_.operations[*use], value)) {
          out.possible = false;
        } else if (taken.insert(std::get<int64_t>(graph_.operations[*use].positional[1].v)).second) {
          out.elements.push_back({value, *use});
        }
      }
    }
  }
  return out;
}

Graph GraphCutter::Build(size_t cut, const Boundary& boundary, const std::vector<int32_t>& operands) const {
  std::vector<bool> needed(graph_.value_count, false);
  for (size_t i = 0; i < cut; ++i) {
    for (const int32_t value : ValuesOf(graph_.operations[i])) needed[value] = true;
  }
  for (const int32_t value : boundary.values) needed[value] = true;

  Graph out;
  out.info.framework = graph_.info.framework;
  std::map<int32_t, int32_t> numbers;
  for (size_t i = 0; i < graph_.parameters.size(); ++i) {
    if (!needed[i]) continue;
    numbers[static_cast<int32_t>(i)] = out.value_count++;
    out.parameters.push_back(graph_.parameters[i]);
  }
  const auto add = [&](const Operation& operation) {
    Operation& added = out.operations.emplace_back(Renumbered(operation, numbers));
    if (operation.result >= 0) added.result = out.value_count++;
    return added.result;
  };
  for (size_t i = 0; i < cut; ++i) {
    const int32_t result = add(graph_.operations[i]);
    if (result >= 0) numbers[graph_.operations[i].result] = result;
  }
  for (const int32_t value : boundary.values) out.outputs.push_back(numbers.at(value));
  for (const Element& element : boundary.elements) out.outputs.push_back(add(graph_.operations[element.operation]));
  for (const int32_t value : operands) out.outputs.push_back(numbers.at(value));
  return out;
}

std::vector<int32_t> GraphCutter::Operands(size_t previous, size_t cut, const Boundary& boundary) const {
  const auto parameters = static_cast<int32_t>(graph_.parameters.size());
  std::set<int32_t> read, left_out(boundary.values.begin(), boundary.values.end());
  for (size_t i = previous; i < cut; ++i) {
    const Operation& operation = graph_.operations[i];
    for (const int32_t value : ValuesOf(operation)) {
      if (value >= parameters && made_by_[value] <= previous && kinds_[value] == ValueKind::kTensor) read.insert(value);
    }
    if (!MayWrite(operation)) continue;
    if (const auto* receiver = std::get_if<ValueRef>(&operation.positional[0].v)) left_out.insert(receiver->value);
  }
  std::vector<int32_t> out;
  std::set_difference(read.begin(), read.end(), left_out.begin(), left_out.end(), std::back_inserter(out));
  return out;
}

Prefix GraphCutter::At(size_t previous, size_t cut, bool operands) const {
  const Boundary boundary = cut == graph_.operations.size() ? Boundary{.values = graph_.outputs} : BoundaryAt(cut);
  const std::vector<int32_t> more = operands ? Operands(previous, cut, boundary) : std::vector<int32_t>();
  // What is written in place may be known by other names that are returned.
  const bool writes = std::any_of(graph_.operations.begin() + static_cast<ptrdiff_t>(previous),
                                  graph_.operations.begin() + static_cast<ptrdiff_t>(cut), MayWrite);
  Prefix out{Build(cut, boundary, more), {}};
  for (const int32_t value : boundary.values) out.is_result.push_back(writes || made_by_[value] > previous);
  for (const Element& element : boundary.elements)
    out.is_result.push_back(writes || made_by_[element.tuple] > previous);
  out.is_result.resize(out.graph.outputs.size(), false);
  return out;
}

}  // namespace assay::graph
