#include "runner/torch/bind_graph.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/StringUtil.h>

#include <cmath>

#include "absl/status/status.h"
#include "graph/callees.h"
#include "graph/signature.h"
#include "runner/torch/binder.h"
#include "runner/torch/composites.h"
#include "runner/torch/dtypes.h"
#include "runner/torch/errors.h"
#include "runner/torch/scopes.h"

namespace assay::torch_runner {
namespace {

class GraphBinder {
 public:
  GraphBinder(const graph::Graph& graph, std::span<const at::Tensor> inputs, c10::Device device)
      : graph_(graph), inputs_(inputs), binder_(device) {}

  Program Bind() {
    values_.resize(graph_.value_count);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      values_[i] = binder_.Parameter(inputs_[i]);
      versions_.push_back(inputs_[i]._version());
    }
    const auto last_uses = graph::LastUses(graph_);
    for (size_t i = 0; i < graph_.operations.size(); ++i) {
      const graph::Operation& operation = graph_.operations[i];
      const std::string_view flags = operation.callee->flags;
      binder_.BeginOperation(static_cast<int32_t>(i), flags.find_first_of("rd") != std::string_view::npos);
      Value result = BindOperation(operation);
      if (operation.result >= 0) values_[operation.result] = std::move(result);
      for (int32_t value : last_uses[i]) values_[value] = Value();
    }
    std::vector<Value> outputs;
    for (int32_t value : graph_.outputs) {
      if (!values_[value].single() || (!values_[value].is_tensor() && !values_[value].is_number())) {
        throw Unsupported(
            c10::str("the graph returns ", values_[value].Describe(), "; tensors and numbers can be returned"));
      }
      outputs.push_back(values_[value]);
    }
    Program program = binder_.Finish(outputs);
    FindMutated(program);
    return program;
  }

 private:
  std::string Place(const graph::Operation& operation) {
    return c10::str(operation.callee->name, " in line ", operation.location.line, ": ");
  }

  Value BindOperation(const graph::Operation& operation) {
    try {
      return Call(operation);
    } catch (const Unsupported& e) {
      throw Unsupported(c10::str(Place(operation), e.what()));
    } catch (const c10::OutOfMemoryError&) {
      throw;
    } catch (c10::Error& e) {
      e.add_context(c10::str("while binding ", Place(operation)));
      throw;
    }
  }

  Value Call(const graph::Operation& operation) {
    std::vector<Value> values;
    for (const graph::Argument& argument : operation.positional) values.push_back(ToValue(argument));
    const std::string_view target = operation.callee->target;
    if (target.starts_with("aten::")) {
      Keywords keywords;
      for (const graph::KeywordArgument& argument : operation.keyword) {
        if (argument.name == "requires_grad") continue;  // False: nothing here asks for gradients
        keywords.emplace_back(argument.name, ToValue(argument.value));
      }
      return binder_.Call(target, std::move(values), keywords);
    }
    const Composite composite = FindComposite(target.substr(std::string_view("composite::").size()));
    if (composite == nullptr) throw Unsupported(c10::str("this runner has no ", target));
    for (const graph::KeywordArgument& argument : operation.keyword) values.push_back(ToValue(argument.value));
    const absl::StatusOr<graph::Binding> binding = graph::Bind(operation);
    if (!binding.ok()) throw Unsupported(std::string(binding.status().message()));
    return composite(binder_, Arguments(*operation.callee, *binding, std::move(values)));
  }

  Value ToValue(const graph::Argument& argument) {
    return std::visit([this](const auto& v) { return ToValue(v); }, argument.v);
  }
  Value ToValue(graph::NoneLiteral) { return Value::None(); }
  Value ToValue(bool v) { return Value::Constant(v); }
  Value ToValue(int64_t v) { return Value::Constant(v); }
  Value ToValue(double v) { return Value::Constant(v); }
  Value ToValue(const std::string& v) { return Value::Constant(v); }
  Value ToValue(graph::DType v) { return Value::Literal(Dtype{ToScalarType(v)}); }
  Value ToValue(graph::DevicePlaceholder) { return Value::Constant(binder_.device()); }
  Value ToValue(graph::EllipsisLiteral) { return Value::Literal(Ellipsis{}); }
  Value ToValue(graph::ValueRef v) { return values_[v.value]; }
  Value ToValue(const graph::SliceLiteral& v) {
    Value result = Value::Sequence(Items(v.items));
    result.kind = Value::Kind::kSlice;
    return result;
  }
  Value ToValue(const graph::Sequence& v) { return Value::Sequence(Items(v.items), v.tuple); }
  Value ToValue(const graph::TorchConstant& v) {
    if (v.name == "contiguous_format") return Value::Literal(MemoryFormat{c10::MemoryFormat::Contiguous});
    if (v.name == "preserve_format") return Value::Literal(MemoryFormat{c10::MemoryFormat::Preserve});
    if (v.name == "channels_last") return Value::Literal(MemoryFormat{c10::MemoryFormat::ChannelsLast});
    if (v.name == "channels_last_3d") return Value::Literal(MemoryFormat{c10::MemoryFormat::ChannelsLast3d});
    if (v.name == "strided") return Value::Literal(Layout{c10::Layout::Strided});
    if (v.name == "inf") return Value::Constant(std::numeric_limits<double>::infinity());
    throw Unsupported(c10::str("torch.", v.name));
  }
  std::vector<Value> Items(const std::vector<graph::Argument>& arguments) {
    std::vector<Value> items;
    items.reserve(arguments.size());
    for (const graph::Argument& argument : arguments) items.push_back(ToValue(argument));
    return items;
  }

  // A parameter was changed where its version moved, or where batch norm in training mode, which moves no version, was
  // given it.
  void FindMutated(Program& program) {
    std::vector<bool> mutated(inputs_.size(), false);
    for (size_t i = 0; i < inputs_.size(); ++i) mutated[i] = inputs_[i]._version() != versions_[i];
    std::vector<bool> statistics(program.slots, false);
    for (const Instruction& instruction : program.instructions) {
      if (!instruction.op) continue;
      const std::string& name = instruction.op->operator_name().name;
      const bool batch = name == "aten::batch_norm" || name == "aten::instance_norm";
      if (!batch || !instruction.operands[5].constant.isBool() || !instruction.operands[5].constant.toBool()) continue;
      for (int k : {3, 4}) {
        const Operand& operand = instruction.operands[k];
        if (operand.kind == Operand::Kind::kSlot && operand.slot < program.parameters) mutated[operand.slot] = true;
      }
    }
    for (size_t i = 0; i < mutated.size(); ++i) {
      if (mutated[i]) program.mutated.push_back(static_cast<int32_t>(i));
    }
  }

  const graph::Graph& graph_;
  const std::span<const at::Tensor> inputs_;
  Binder binder_;
  std::vector<Value> values_;
  std::vector<int64_t> versions_;
};

}  // namespace

Program BindGraph(const graph::Graph& graph, std::span<const at::Tensor> inputs, c10::Device device) {
  at::NoGradGuard no_grad;
  ScopeGuard scopes;
  return GraphBinder(graph, inputs, device).Bind();
}

}  // namespace assay::torch_runner
