#include "graph/graph.h"

#include <algorithm>

namespace assay::graph {
namespace {

// Calls visit(value) for each value that an argument holds, in order.
template <typename Visit>
void ForEachValue(const Argument& argument, const Visit& visit) {
  if (const auto* reference = std::get_if<ValueRef>(&argument.v)) {
    visit(reference->value);
  } else if (const auto* slice = std::get_if<SliceLiteral>(&argument.v)) {
    for (const Argument& item : slice->items) ForEachValue(item, visit);
  } else if (const auto* sequence = std::get_if<Sequence>(&argument.v)) {
    for (const Argument& item : sequence->items) ForEachValue(item, visit);
  }
}

}  // namespace

int64_t ElementCount(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

int64_t Graph::parameter_bytes() const {
  int64_t bytes = 0;
  for (const Parameter& parameter : parameters) {
    bytes += ElementCount(parameter.meta.shape) * ElementSize(parameter.meta.dtype);
  }
  return bytes;
}

std::vector<int32_t> ValuesOf(const Operation& operation) {
  std::vector<int32_t> values;
  const auto visit = [&](int32_t value) { values.push_back(value); };
  for (const Argument& argument : operation.positional) ForEachValue(argument, visit);
  for (const KeywordArgument& argument : operation.keyword) ForEachValue(argument.value, visit);
  return values;
}

std::vector<std::vector<int32_t>> LastUses(const Graph& graph) {
  std::vector<std::vector<int32_t>> uses(graph.operations.size());
  std::vector<bool> seen(graph.value_count, false);
  for (const int32_t value : graph.outputs) seen[value] = true;
  for (size_t i = graph.operations.size(); i-- > 0;) {
    const Operation& operation = graph.operations[i];
    const auto visit = [&](int32_t value) {
      if (seen[value]) return;
      seen[value] = true;
      uses[i].push_back(value);
    };
    for (const int32_t value : ValuesOf(operation)) visit(value);
    if (operation.result >= 0) visit(operation.result);
    std::sort(uses[i].begin(), uses[i].end());
  }
  return uses;
}

}  // namespace assay::graph
