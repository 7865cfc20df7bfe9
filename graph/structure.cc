#include "graph/structure.h"

#include <type_traits>

#include "graph/callees.h"
#include "graph/sha256.h"
#include "graph/text.h"

namespace assay::graph {

namespace {

void AppendText(std::string& out, std::string_view text) { out += Cat(text.size(), ":", text); }

void AppendArgument(std::string& out, const Argument& argument);

void AppendItems(std::string& out, const std::vector<Argument>& items) {
  out += Cat(items.size(), "[");
  for (const Argument& item : items) AppendArgument(out, item);
  out += ']';
}

// Numbers count by their kind only: a sequence length, a vocabulary or an epsilon makes no other structure. Each kind
// has a letter of its own and says its length, so that no two graphs give the same text.
void AppendArgument(std::string& out, const Argument& argument) {
  std::visit(
      [&out](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, NoneLiteral>) {
          out += 'N';
        } else if constexpr (std::is_same_v<T, bool>) {
          out += value ? "b1" : "b0";
        } else if constexpr (std::is_same_v<T, int64_t>) {
          out += 'i';
        } else if constexpr (std::is_same_v<T, double>) {
          out += 'f';
        } else if constexpr (std::is_same_v<T, std::string>) {
          out += 's';
          AppendText(out, value);
        } else if constexpr (std::is_same_v<T, DType>) {
          out += Cat("t", static_cast<int>(value), ";");
        } else if constexpr (std::is_same_v<T, DevicePlaceholder>) {
          out += 'd';
        } else if constexpr (std::is_same_v<T, EllipsisLiteral>) {
          out += 'e';
        } else if constexpr (std::is_same_v<T, TorchConstant>) {
          out += 'c';
          AppendText(out, value.name);
        } else if constexpr (std::is_same_v<T, ValueRef>) {
          out += Cat("v", value.value, ";");
        } else if constexpr (std::is_same_v<T, SliceLiteral>) {
          out += 'l';
          AppendItems(out, value.items);
        } else {
          static_assert(std::is_same_v<T, Sequence>);
          out += value.tuple ? 'p' : 'q';
          AppendItems(out, value.items);
        }
      },
      argument.v);
}

}  // namespace

std::string StructureHash(const Graph& graph) {
  if (graph.stablehlo)
    return Sha256Hex(Cat("assay-structure-1\n", kStableHloFramework, "\n", graph.stablehlo->structure));
  std::string text = Cat("assay-structure-1\n", graph.info.framework, "\n", graph.parameters.size(), "\n");
  for (const Parameter& parameter : graph.parameters) {
    text += Cat(static_cast<int>(parameter.annotation), " ", static_cast<int>(parameter.meta.dtype), " ",
                parameter.meta.shape.size(), "\n");
  }
  for (const Operation& operation : graph.operations) {
    AppendText(text, operation.callee->name);
    AppendItems(text, operation.positional);
    text += Cat(operation.keyword.size(), "{");
    for (const KeywordArgument& argument : operation.keyword) {
      AppendText(text, argument.name);
      AppendArgument(text, argument.value);
    }
    text += Cat("}", operation.result, "\n");
  }
  for (const int32_t output : graph.outputs) text += Cat("o", output, ";");
  return Sha256Hex(text);
}

}  // namespace assay::graph
