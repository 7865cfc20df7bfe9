#include "runner/torch/vmap_translation.h"

#include <ATen/core/jit_type.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "runner/torch/errors.h"
#include "runner/torch/host_functions.h"

namespace assay::torch_runner {
namespace {

namespace jit = ::torch::jit;

// Operators whose result has, at each place, what the operands have there.
bool IsElementwise(std::string_view name) {
  static const auto* names = new std::set<std::string_view>{
      "aten::abs",         "aten::add",         "aten::bitwise_and", "aten::bitwise_not", "aten::bitwise_or",
      "aten::bitwise_xor", "aten::eq",          "aten::ge",          "aten::gt",          "aten::le",
      "aten::logical_and", "aten::logical_not", "aten::logical_or",  "aten::logical_xor", "aten::lt",
      "aten::mul",         "aten::ne",          "aten::neg",         "aten::rsub",        "aten::sub",
      "aten::to",          "aten::where",       "aten::__and__",     "aten::__or__",      "aten::__xor__"};
  return names->contains(name);
}

[[noreturn]] void Refuse(std::string_view what) {
  throw Unsupported(c10::str("TorchScript has no vmap levels: ", what));
}

int64_t Constant(const Operand& operand, std::string_view what) {
  if (operand.kind != Operand::Kind::kConstant || !operand.constant.isInt()) Refuse(c10::str(what, " is not constant"));
  return operand.constant.toInt();
}

}  // namespace

std::vector<int64_t> RanksOf(const Program& program, std::span<const at::Tensor> inputs) {
  std::vector<int64_t> ranks(program.slots, -1);
  for (size_t i = 0; i < inputs.size(); ++i) ranks[i] = inputs[i].dim();
  for (const Instruction& instruction : program.instructions) {
    if (instruction.host_type == nullptr || instruction.results.size() != 1 || instruction.results[0] < 0) continue;
    const auto type = instruction.host_type->cast<c10::TensorType>();
    const std::optional<size_t> rank = type == nullptr ? std::nullopt : type->dim();
    if (rank) ranks[instruction.results[0]] = static_cast<int64_t>(*rank);
  }
  return ranks;
}

VmapTranslation::VmapTranslation(const Program& program, jit::Graph& graph, std::vector<JitValue*>& slots,
                                 std::vector<int64_t> ranks)
    : program_(program), graph_(graph), slots_(slots), ranks_(std::move(ranks)) {}

bool VmapTranslation::Translate(size_t index, const std::function<void(const Instruction&)>& translate) {
  const Instruction& instruction = program_.instructions[index];
  if (instruction.host == &kPushVmapLevel) {
    Push(index);
  } else if (instruction.host == &kPopVmapLevel) {
    Pop();
  } else if (instruction.host == &kAddBatchDim) {
    AddBatchDim(instruction);
  } else if (instruction.host == &kRemoveBatchDim) {
    RemoveBatchDim(instruction);
  } else if (std::any_of(instruction.operands.begin(), instruction.operands.end(),
                         [&](const Operand& operand) { return IsBatched(operand); })) {
    Operator(instruction, translate);
  } else {
    return false;
  }
  return true;
}

bool VmapTranslation::IsBatched(const Operand& operand) const {
  if (operand.kind == Operand::Kind::kSlot) return batched_.contains(operand.slot);
  return std::any_of(operand.items.begin(), operand.items.end(), [&](const Operand& item) { return IsBatched(item); });
}

int64_t VmapTranslation::RankOf(const Operand& operand) const {
  if (operand.kind == Operand::Kind::kSlot) return ranks_[operand.slot];
  return operand.constant.isTensor() ? operand.constant.toTensor().dim() : -1;
}

VmapTranslation::JitValue* VmapTranslation::Insert(const char* name, const std::vector<jit::NamedValue>& arguments) {
  return graph_.insert(c10::Symbol::fromQualString(name), arguments);
}

void VmapTranslation::Push(size_t index) {
  if (level_++ > 0) return;
  int64_t depth = levels_ = 0;
  for (size_t i = index; i < program_.instructions.size(); ++i) {
    const HostFunction* host = program_.instructions[i].host;
    depth += host == &kPushVmapLevel ? 1 : host == &kPopVmapLevel ? -1 : 0;
    levels_ = std::max(levels_, depth);
    if (depth == 0) break;
  }
}

void VmapTranslation::Pop() { --level_; }

void VmapTranslation::AddBatchDim(const Instruction& instruction) {
  const Operand& tensor = instruction.operands[0];
  const int64_t level = Constant(instruction.operands[2], "a level");
  const int32_t result = instruction.results[0];
  if (IsBatched(tensor) || RankOf(tensor) != 1) Refuse("what is mapped has more dimensions than that of the level");
  if (level < 1 || level > level_) Refuse(c10::str("level ", level, " is not entered"));
  JitValue* value = tensor.kind == Operand::Kind::kSlot ? slots_[tensor.slot] : graph_.insertConstant(tensor.constant);
  for (int64_t i = 1; i < level; ++i) value = Insert("aten::unsqueeze", {value, 0});
  for (int64_t i = level; i < levels_; ++i) value = Insert("aten::unsqueeze", {value, -1});
  slots_[result] = value;
  batched_.insert(result);
}

VmapTranslation::JitValue* VmapTranslation::Aligned(const Operand& operand) {
  JitValue* value =
      operand.kind == Operand::Kind::kSlot ? slots_[operand.slot] : graph_.insertConstant(operand.constant);
  if (IsBatched(operand)) {
    if (taken_.contains(operand.slot)) Refuse("a result of an inner level is used further");
    return value;
  }
  if (RankOf(operand) != 0) Refuse("a tensor that is not mapped has dimensions of its own");
  for (int64_t i = 0; i < levels_; ++i) value = Insert("aten::unsqueeze", {value, 0});
  return value;
}

void VmapTranslation::RemoveBatchDim(const Instruction& instruction) {
  const Operand& tensor = instruction.operands[0];
  const int64_t level = Constant(instruction.operands[1], "a level"),
                size = Constant(instruction.operands[2], "a size");
  const int32_t result = instruction.results[0];
  if (Constant(instruction.operands[3], "out_dim") != 0) Refuse("out_dim is not 0");
  // Inner levels first, each put before the dimensions of those already removed: no dimension moves.
  const bool inner = tensor.kind == Operand::Kind::kSlot && taken_.contains(tensor.slot);
  const int64_t taken = inner ? taken_.at(tensor.slot) : 0;
  if (level != levels_ - taken) Refuse(c10::str("level ", level, " is left out of order"));
  JitValue* value = inner ? slots_[tensor.slot] : Aligned(tensor);
  std::vector<int64_t> sizes(levels_, -1);
  sizes[level - 1] = size;
  slots_[result] = Insert("aten::expand", {value, sizes});
  if (level == 1) return;
  batched_.insert(result);
  taken_[result] = taken + 1;
}

void VmapTranslation::Operator(const Instruction& instruction,
                               const std::function<void(const Instruction&)>& translate) {
  if (!instruction.op || instruction.results.size() != 1 || instruction.unpack || instruction.results[0] < 0) {
    Refuse(c10::str(instruction.name(), " works on a batched tensor"));
  }
  const std::string_view name = instruction.op->schema().name();
  const auto& arguments = instruction.op->schema().arguments();
  Instruction aligned = instruction;
  // What is aligned becomes a slot of its own, which ends with this instruction.
  const size_t before = slots_.size();
  const auto align = [&](Operand& operand) {
    slots_.push_back(Aligned(operand));
    operand = Operand();
    operand.kind = Operand::Kind::kSlot;
    operand.slot = static_cast<int32_t>(slots_.size() - 1);
  };
  if (name == "aten::new_ones" || name == "aten::new_zeros") {
    if (!aligned.operands[1].constant.isIntList() || !aligned.operands[1].constant.toIntList().empty()) {
      Refuse(c10::str(instruction.name(), " makes more than a number"));
    }
    align(aligned.operands[0]);
    aligned.operands[1].constant = std::vector<int64_t>(levels_, 1);
  } else if (name == "aten::index") {
    std::vector<Operand>& indices = aligned.operands[1].items;
    if (IsBatched(aligned.operands[0]) || RankOf(aligned.operands[0]) != static_cast<int64_t>(indices.size())) {
      Refuse("an index takes more than a number");
    }
    for (Operand& index : indices) align(index);
  } else if (IsElementwise(name)) {
    for (size_t i = 0; i < aligned.operands.size(); ++i) {
      if (arguments[i].type()->kind() != c10::TypeKind::TensorType) continue;
      if (aligned.operands[i].kind == Operand::Kind::kSlot) {
        if (aligned.operands[i].convert != Convert::kNone)
          Refuse(c10::str(instruction.name(), " converts its operand"));
        align(aligned.operands[i]);
      } else if (aligned.operands[i].number.isNone()) {
        align(aligned.operands[i]);
      }
    }
  } else {
    Refuse(c10::str(instruction.name(), " works on a batched tensor"));
  }
  translate(aligned);
  slots_.resize(before);
  batched_.insert(instruction.results[0]);
}

}  // namespace assay::torch_runner
