#include "graph/stablehlo_calls.h"

#include <algorithm>
#include <vector>

#include "graph/diagnostic.h"
#include "graph/stablehlo_lexer.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

absl::Status Refuse(const StableHloFunction& at, std::string_view message,
                    absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  return Refusal(code, kStableHloFile, at.line, at.column, message);
}

}  // namespace

absl::Status CheckCalls(const StableHloFunctions& functions, std::string_view main, const Limits& limits) {
  std::map<std::string_view, size_t> callers, expanded;
  for (const auto& [name, function] : functions) {
    for (const auto& [callee, count] : function.calls) {
      if (!functions.contains(callee)) {
        return Refuse(function, Cat("@", name, " calls @", callee, ", which is not defined"));
      }
      ++callers[callee];
    }
  }
  // Callers before those that they call, so that sizes can be added up the other way round.
  std::vector<std::string_view> order;
  for (const auto& [name, function] : functions) {
    if (callers[name] == 0) order.push_back(name);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const auto& [callee, count] : functions.at(order[i]).calls) {
      if (--callers[callee] == 0) order.push_back(callee);
    }
  }
  if (order.size() != functions.size()) return Refuse(functions.at(main), "functions call each other in a circle");
  for (size_t i = order.size(); i-- > 0;) {
    const StableHloFunction& function = functions.at(order[i]);
    size_t size = function.operations;
    for (const auto& [callee, count] : function.calls) {
      // No overflow: neither factor is above the limit by more than one.
      size = std::min(size + count * expanded[callee], limits.operations + 1);
    }
    expanded[order[i]] = size;
  }
  if (expanded[main] > limits.operations) {
    return Refuse(functions.at(main), Cat("more than ", limits.operations, " operations where calls are expanded"),
                  absl::StatusCode::kResourceExhausted);
  }
  return absl::OkStatus();
}

}  // namespace assay::graph
