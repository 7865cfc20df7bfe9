#include "runner/torch/program.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/StringUtil.h>

#include <chrono>

#include "runner/torch/scopes.h"

namespace assay::torch_runner {
namespace {

c10::IValue ToWrappedTensor(const c10::IValue& number) {
  at::Tensor tensor = at::scalar_to_tensor(number.toScalar());
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

c10::IValue Converted(const c10::IValue& value, Convert convert) {
  switch (convert) {
    case Convert::kNone:
      return value;
    case Convert::kTensorToInt:
      return value.toTensor().item<int64_t>();
    case Convert::kTensorToFloat:
      return value.toTensor().item<double>();
    case Convert::kTensorToBool:
      return value.toTensor().item<bool>();
    case Convert::kTensorToScalar:
      return value.toTensor().item();
    case Convert::kNumberToTensor:
      return ToWrappedTensor(value);
    case Convert::kIntToFloat:
      return static_cast<double>(value.toInt());
  }
  return value;
}

template <typename T, typename Get>
c10::IValue MakeList(const Operand& operand, const std::vector<c10::IValue>& slots, Get get) {
  c10::List<T> list;
  list.reserve(operand.items.size());
  for (const Operand& item : operand.items) list.push_back(get(Evaluate(item, slots)));
  return list;
}

}  // namespace

std::string Instruction::name() const {
  if (host != nullptr) return host->name;
  const c10::OperatorName& name = op->operator_name();
  return name.overload_name.empty() ? name.name : c10::str(name.name, ".", name.overload_name);
}

namespace {

std::string ToText(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::kSlot:
      return c10::str("%", operand.slot);
    case Operand::Kind::kConstant:
      if (operand.constant.isTensor()) return operand.number.isNone() ? "<tensor>" : c10::str(operand.number);
      return c10::str(operand.constant);
    case Operand::Kind::kList:
      break;
  }
  std::vector<std::string> items;
  for (const Operand& item : operand.items) items.push_back(ToText(item));
  return c10::str("[", c10::Join(", ", items), "]");
}

}  // namespace

std::string ToText(const Program& program) {
  std::string text;
  for (const Instruction& instruction : program.instructions) {
    std::vector<std::string> operands, results;
    for (const Operand& operand : instruction.operands) operands.push_back(ToText(operand));
    for (int32_t slot : instruction.results) results.push_back(slot < 0 ? "_" : c10::str("%", slot));
    text += c10::str(c10::Join(", ", results), results.empty() ? "" : " = ", instruction.name(), "(",
                     c10::Join(", ", operands), ")\n");
  }
  std::vector<std::string> outputs;
  for (const Operand& output : program.outputs) outputs.push_back(ToText(output));
  return c10::str(text, "return (", c10::Join(", ", outputs), ")\n");
}

c10::IValue Evaluate(const Operand& operand, const std::vector<c10::IValue>& slots) {
  switch (operand.kind) {
    case Operand::Kind::kConstant:
      return operand.constant;
    case Operand::Kind::kSlot:
      return Converted(slots[operand.slot], operand.convert);
    case Operand::Kind::kList:
      break;
  }
  switch (operand.element->kind()) {
    case c10::TypeKind::TensorType:
      return MakeList<at::Tensor>(operand, slots, [](c10::IValue v) { return std::move(v).toTensor(); });
    case c10::TypeKind::OptionalType:
      return MakeList<std::optional<at::Tensor>>(operand, slots,
                                                 [](c10::IValue v) { return std::move(v).toOptional<at::Tensor>(); });
    case c10::TypeKind::IntType:
      return MakeList<int64_t>(operand, slots, [](c10::IValue v) { return v.toInt(); });
    case c10::TypeKind::FloatType:
      return MakeList<double>(operand, slots, [](c10::IValue v) { return v.toDouble(); });
    case c10::TypeKind::BoolType:
      return MakeList<bool>(operand, slots, [](c10::IValue v) { return v.toBool(); });
    default:
      break;
  }
  TORCH_CHECK(false, "no list of ", operand.element->str());
}

void Execute(const Instruction& instruction, std::vector<c10::IValue>& slots, c10::Stack& stack) {
  stack.clear();
  for (const Operand& operand : instruction.operands) stack.push_back(Evaluate(operand, slots));
  if (instruction.op) {
    instruction.op->callBoxed(stack);
  } else {
    instruction.host->run(stack);
  }
  if (instruction.unpack) {
    const c10::IValue list = std::move(stack.back());
    const auto items = list.toTensorVector();
    TORCH_CHECK(items.size() == instruction.results.size(), instruction.name(), " gave ", items.size(),
                " tensors where it gave ", instruction.results.size(), " when the graph was loaded");
    for (size_t i = 0; i < items.size(); ++i) {
      if (instruction.results[i] >= 0) slots[instruction.results[i]] = items[i];
    }
  } else {
    for (size_t i = 0; i < instruction.results.size(); ++i) {
      if (instruction.results[i] >= 0) slots[instruction.results[i]] = std::move(stack[i]);
    }
  }
  for (int32_t slot : instruction.frees) slots[slot] = c10::IValue();
}

std::vector<c10::IValue> Run(const Program& program, std::span<const at::Tensor> inputs,
                             std::vector<c10::IValue>& slots, const Observer* observer) {
  at::NoGradGuard no_grad;
  slots.resize(program.slots);
  std::optional<ScopeGuard> scopes;
  if (program.scoped) scopes.emplace();
  try {
    for (size_t i = 0; i < inputs.size(); ++i) slots[i] = inputs[i];
    c10::Stack stack;
    for (const Instruction& instruction : program.instructions) {
      if (observer == nullptr) {
        Execute(instruction, slots, stack);
        continue;
      }
      const auto start = std::chrono::steady_clock::now();
      Execute(instruction, slots, stack);
      (*observer)(instruction, (std::chrono::steady_clock::now() - start) / std::chrono::nanoseconds(1));
    }
    std::vector<c10::IValue> outputs;
    outputs.reserve(program.outputs.size());
    for (const Operand& output : program.outputs) outputs.push_back(Evaluate(output, slots));
    for (c10::IValue& slot : slots) slot = c10::IValue();
    return outputs;
  } catch (...) {
    for (c10::IValue& slot : slots) slot = c10::IValue();
    throw;
  }
}

}  // namespace assay::torch_runner
