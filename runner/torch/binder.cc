#include "runner/torch/binder.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "runner/torch/errors.h"
#include "runner/torch/host_functions.h"

namespace assay::torch_runner {

using c10::TypeKind;

struct Binder::Overload {
  c10::OperatorHandle handle;
  const c10::FunctionSchema* schema;
  bool numbers_as_tensors = false;
};

namespace {

// Python's argument parser takes a number where these want a tensor (should_allow_numbers_as_tensors).
const std::set<std::string_view>& NumbersAsTensors() {
  static const auto* names = new std::set<std::string_view>{
      "add",    "add_",    "sub",         "sub_",         "subtract",     "subtract_",
      "mul",    "mul_",    "multiply",    "multiply_",    "div",          "div_",
      "divide", "divide_", "true_divide", "true_divide_", "floor_divide", "floor_divide_"};
  return *names;
}

// Operators whose result's shape depends on the contents of their arguments.
bool ShapeDependsOnData(std::string_view name) {
  static const auto* names =
      new std::set<std::string_view>{"aten::nonzero",  "aten::masked_select",      "aten::unique_dim",
                                     "aten::_unique2", "aten::unique_consecutive", "aten::bincount"};
  return names->contains(name);
}

bool IsIntTensor(const Value& v) {
  return v.is_tensor() && v.tensor().dim() == 0 && c10::isIntegralType(v.tensor().scalar_type(), /*includeBool=*/false);
}
bool IsScalarTensor(const Value& v) { return v.is_tensor() && v.tensor().dim() == 0; }

bool AcceptsInt(const Value& v) { return v.is_int() || IsIntTensor(v); }

bool Accepts(const c10::TypePtr& type, std::optional<int32_t> broadcast, const Value& v, bool numbers_as_tensors) {
  switch (type->kind()) {
    case TypeKind::OptionalType:
      return v.is_none() ||
             Accepts(type->expectRef<c10::OptionalType>().getElementType(), broadcast, v, numbers_as_tensors);
    case TypeKind::TensorType:
      return v.is_tensor() || (numbers_as_tensors && v.is_number());
    case TypeKind::NumberType:
      return v.is_number() || IsScalarTensor(v);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return AcceptsInt(v);
    case TypeKind::FloatType:
      return v.is_number() || IsScalarTensor(v);
    case TypeKind::BoolType:
      return v.is_bool();
    case TypeKind::StringType:
      return v.is_string();
    case TypeKind::ScalarTypeType:
      return v.literal_if<Dtype>() != nullptr;
    case TypeKind::LayoutType:
      return v.literal_if<Layout>() != nullptr;
    case TypeKind::MemoryFormatType:
      return v.literal_if<MemoryFormat>() != nullptr;
    case TypeKind::DeviceObjType:
      return v.single() && v.now.isDevice();
    case TypeKind::ListType: {
      const c10::TypePtr& element = type->expectRef<c10::ListType>().getElementType();
      if (!v.is_sequence())
        return broadcast && element->kind() != TypeKind::TensorType && Accepts(element, std::nullopt, v, false);
      return std::all_of(v.items.begin(), v.items.end(),
                         [&](const Value& item) { return Accepts(element, std::nullopt, item, false); });
    }
    default:
      return false;
  }
}

// The order in which Python's argument parser tries types (torchgen, sort_overloads): tensors before numbers, one
// number before a list of them.
int Rank(const c10::TypePtr& type) {
  switch (type->kind()) {
    case TypeKind::OptionalType:
      return Rank(type->expectRef<c10::OptionalType>().getElementType());
    case TypeKind::TensorType:
      return 0;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return 1;
    case TypeKind::NumberType:
      return 2;
    case TypeKind::ListType:
      return 3;
    default:
      return 1;
  }
}

bool Names(const c10::Argument& argument, std::string_view keyword) {
  if (argument.name() == keyword) return true;
  if (argument.name() == "self")
    return keyword == "input" || keyword == "x" || keyword == "a" || keyword == "x1" || keyword == "A";
  if (argument.name() == "dim") return keyword == "axis";
  if (argument.name() == "keepdim") return keyword == "keepdims";
  if (argument.name() == "other") return keyword == "x2";
  return false;
}

bool IsIntList(const c10::TypePtr& type) {
  if (type->kind() != TypeKind::ListType) return false;
  const TypeKind element = type->expectRef<c10::ListType>().getElementType()->kind();
  return element == TypeKind::IntType || element == TypeKind::SymIntType;
}

// Arguments in the order of the schema (nullptr: the default), nothing where they do not fit. `collected` owns a list
// made of separate numbers (x.view(2, 3)).
std::optional<std::vector<const Value*>> Match(const c10::FunctionSchema& schema, bool numbers_as_tensors,
                                               const std::vector<Value>& positional, const Keywords& keywords,
                                               std::unique_ptr<Value>& collected) {
  const auto& arguments = schema.arguments();
  std::vector<const Value*> result(arguments.size(), nullptr);
  size_t places = 0;
  while (places < arguments.size() && !arguments[places].kwarg_only()) ++places;
  size_t taken = positional.size();
  if (taken > places || (taken == places && taken > 0 && positional.back().single() &&
                         IsIntList(arguments[places - 1].real_type()) && !arguments[places - 1].N())) {
    // Separate numbers for the one list that is positional (after `self`, where there is one).
    const size_t first = places - 1;
    const size_t own = places > 0 && arguments[0].name() == "self" ? 1 : 0;
    if (places == 0 || first != own || !IsIntList(arguments[first].real_type())) {
      if (taken > places) return std::nullopt;
    } else {
      collected = std::make_unique<Value>(
          Value::Sequence(std::vector<Value>(positional.begin() + first, positional.end()), true));
      result[first] = collected.get();
      taken = first;
    }
  }
  for (size_t i = 0; i < taken; ++i) result[i] = &positional[i];
  for (const auto& [name, value] : keywords) {
    size_t i = 0;
    while (i < arguments.size() && !Names(arguments[i], name)) ++i;
    if (i == arguments.size() || result[i] != nullptr) return std::nullopt;
    result[i] = &value;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (result[i] == nullptr) {
      if (!arguments[i].default_value()) return std::nullopt;
    } else if (!Accepts(arguments[i].real_type(), arguments[i].N(), *result[i], numbers_as_tensors)) {
      return std::nullopt;
    }
  }
  return result;
}

// True where `a` is tried before `b`.
bool Before(const c10::FunctionSchema& a, const c10::FunctionSchema& b) {
  const size_t n = std::min(a.arguments().size(), b.arguments().size());
  for (size_t i = 0; i < n; ++i) {
    const int rank_a = Rank(a.arguments()[i].real_type()), rank_b = Rank(b.arguments()[i].real_type());
    if (rank_a != rank_b) return rank_a < rank_b;
  }
  return a.arguments().size() < b.arguments().size();
}

bool HasOutArgument(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& argument) {
    return argument.kwarg_only() && argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  });
}

const std::map<std::string, std::vector<c10::OperatorName>, std::less<>>& AllNames() {
  static const auto* names = [] {
    auto* map = new std::map<std::string, std::vector<c10::OperatorName>, std::less<>>;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
      if (name.name.starts_with("aten::")) (*map)[name.name].push_back(name);
    }
    return map;
  }();
  return *names;
}

std::string Describe(const std::vector<Value>& positional, const Keywords& keywords) {
  std::vector<std::string> parts;
  for (const Value& v : positional) parts.push_back(v.Describe());
  for (const auto& [name, v] : keywords) parts.push_back(c10::str(name, "=", v.Describe()));
  return c10::str("(", c10::Join(", ", parts), ")");
}

}  // namespace

const std::vector<Binder::Overload>& Binder::OverloadsOf(std::string_view packet) {
  static auto* cache = new std::unordered_map<std::string, std::vector<Overload>>;
  auto [it, added] = cache->try_emplace(std::string(packet));
  if (!added) return it->second;
  const auto names = AllNames().find(packet);
  if (names == AllNames().end()) throw Unsupported(c10::str("this LibTorch has no operator ", packet));
  const std::string_view base = packet.substr(packet.find("::") + 2);
  for (const c10::OperatorName& name : names->second) {
    auto handle = c10::Dispatcher::singleton().findSchema(name);
    if (!handle || HasOutArgument(handle->schema())) continue;
    it->second.push_back({*handle, &handle->schema(), NumbersAsTensors().contains(base)});
  }
  std::stable_sort(it->second.begin(), it->second.end(), [](const Overload& a, const Overload& b) {
    return a.schema->overload_name() < b.schema->overload_name();
  });
  std::stable_sort(it->second.begin(), it->second.end(),
                   [](const Overload& a, const Overload& b) { return Before(*a.schema, *b.schema); });
  return it->second;
}

Value Binder::Call(std::string_view packet, std::vector<Value> positional, const Keywords& keywords) {
  for (const Overload& overload : OverloadsOf(packet)) {
    std::unique_ptr<Value> collected;
    const auto arguments = Match(*overload.schema, overload.numbers_as_tensors, positional, keywords, collected);
    if (arguments) return Invoke(overload, *arguments);
  }
  throw Unsupported(c10::str("no overload of ", packet, " takes ", Describe(positional, keywords)));
}

Value Binder::CallOverload(std::string_view name, std::vector<Value> positional, const Keywords& keywords) {
  const size_t dot = name.find('.');
  const std::string_view packet = name.substr(0, dot);
  const std::string_view wanted = dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
  for (const Overload& overload : OverloadsOf(packet)) {
    if (overload.schema->overload_name() != wanted) continue;
    std::unique_ptr<Value> collected;
    const auto arguments = Match(*overload.schema, true, positional, keywords, collected);
    if (arguments) return Invoke(overload, *arguments);
  }
  throw Unsupported(c10::str(name, " does not take ", Describe(positional, keywords)));
}

Operand Binder::ToOperand(const Value& value, Convert convert) {
  Operand operand;
  operand.convert = convert;
  if (value.constant()) {
    operand.constant = value.now;
    if (convert == Convert::kNone) return operand;
    // A constant is converted once, here.
    operand.kind = Operand::Kind::kSlot;
    operand.slot = 0;
    Operand converted;
    converted.constant = Evaluate(operand, {value.now});
    if (convert == Convert::kNumberToTensor) converted.number = value.now;
    return converted;
  }
  operand.kind = Operand::Kind::kSlot;
  operand.slot = value.slot;
  slots_[value.slot] = value.now;
  touched_.push_back(value.slot);
  dynamic_arguments_ |= value.dynamic;
  return operand;
}

Operand Binder::ToArgument(const c10::TypePtr& type, std::optional<int32_t> broadcast, const Value& v) {
  Operand operand;
  switch (type->kind()) {
    case TypeKind::OptionalType:
      if (v.is_none()) return operand;
      return ToArgument(type->expectRef<c10::OptionalType>().getElementType(), broadcast, v);
    case TypeKind::TensorType:
      return ToOperand(v, v.is_tensor() ? Convert::kNone : Convert::kNumberToTensor);
    case TypeKind::NumberType:
      return ToOperand(v, v.is_tensor() ? Convert::kTensorToScalar : Convert::kNone);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return ToOperand(v, v.is_tensor() ? Convert::kTensorToInt : Convert::kNone);
    case TypeKind::FloatType:
      if (v.is_bool()) return ToOperand(Value::Constant(v.now.toBool() ? 1.0 : 0.0), Convert::kNone);
      return ToOperand(v, v.is_tensor() ? Convert::kTensorToFloat : v.is_int() ? Convert::kIntToFloat : Convert::kNone);
    case TypeKind::ScalarTypeType:
      operand.constant = static_cast<int64_t>(v.literal_if<Dtype>()->dtype);
      return operand;
    case TypeKind::LayoutType:
      operand.constant = static_cast<int64_t>(v.literal_if<Layout>()->layout);
      return operand;
    case TypeKind::MemoryFormatType:
      operand.constant = static_cast<int64_t>(v.literal_if<MemoryFormat>()->format);
      return operand;
    case TypeKind::ListType:
      break;
    default:
      return ToOperand(v, Convert::kNone);
  }
  const c10::TypePtr& element = type->expectRef<c10::ListType>().getElementType();
  operand.kind = Operand::Kind::kList;
  operand.element = element->kind() == TypeKind::SymIntType ? c10::TypePtr(c10::IntType::get()) : element;
  if (v.is_sequence()) {
    for (const Value& item : v.items) operand.items.push_back(ToArgument(element, std::nullopt, item));
  } else {
    operand.items.assign(*broadcast, ToArgument(element, std::nullopt, v));
  }
  const bool constant = std::all_of(operand.items.begin(), operand.items.end(),
                                    [](const Operand& item) { return item.kind == Operand::Kind::kConstant; });
  // A list of constants is made once. (Operators take lists by value or by view: none changes it.)
  if (constant && operand.element->kind() != TypeKind::TensorType &&
      operand.element->kind() != TypeKind::OptionalType) {
    Operand made;
    made.constant = Evaluate(operand, slots_);
    return made;
  }
  return operand;
}

Value Binder::Invoke(const Overload& overload, const std::vector<const Value*>& arguments) {
  const auto& declared = overload.schema->arguments();
  Instruction instruction;
  instruction.op = overload.handle;
  bool dynamic = ShapeDependsOnData(overload.schema->name());
  const std::string_view name = overload.schema->name();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == nullptr) {
      Operand operand;
      operand.constant = *declared[i].default_value();
      instruction.operands.push_back(std::move(operand));
      continue;
    }
    instruction.operands.push_back(ToArgument(declared[i].real_type(), declared[i].N(), *arguments[i]));
    if (name == "aten::index" && i == 1) {
      for (const Value& index : arguments[i]->items) {
        if (index.is_tensor() &&
            (index.tensor().scalar_type() == c10::kBool || index.tensor().scalar_type() == c10::kByte))
          dynamic = true;
      }
    }
    if (name == "aten::repeat_interleave" && declared[i].name() == "repeats" && arguments[i]->is_tensor())
      dynamic = true;
    if (name == "aten::where" && declared.size() == 1) dynamic = true;
  }
  const auto& returns = overload.schema->returns();
  instruction.results.assign(returns.size(), -1);
  instruction.unpack = returns.size() == 1 && returns[0].type()->kind() == TypeKind::ListType;
  return Emit(std::move(instruction), dynamic);
}

Value Binder::Result(const c10::IValue& value, bool dynamic, int32_t* slot) {
  Value result = Value::Constant(value);
  result.slot = *slot = program_.slots++;
  result.dynamic = dynamic;
  slots_.emplace_back();
  return result;
}

Value Binder::Emit(Instruction instruction, bool dynamic) {
  dynamic |= std::exchange(dynamic_arguments_, false);
  instruction.operation = operation_;
  c10::Stack stack;
  // Executed with provisional results: how many a list has is only known after.
  for (const Operand& operand : instruction.operands) stack.push_back(Evaluate(operand, slots_));
  for (int32_t slot : touched_) slots_[slot] = c10::IValue();
  touched_.clear();
  if (instruction.op) {
    instruction.op->callBoxed(stack);
  } else {
    instruction.host->run(stack);
  }
  std::vector<Value> results;
  if (instruction.unpack) {
    const std::vector<at::Tensor> items = stack.back().toTensorVector();
    instruction.results.assign(items.size(), -1);
    for (size_t i = 0; i < items.size(); ++i) results.push_back(Result(items[i], dynamic, &instruction.results[i]));
  } else {
    for (size_t i = 0; i < instruction.results.size(); ++i)
      results.push_back(Result(stack[i], dynamic, &instruction.results[i]));
  }
  const bool unpack = instruction.unpack;
  if (results.size() == 1 && !unpack && results[0].is_tensor() && results[0].tensor().defined()) {
    instruction.host_type = c10::TensorType::get()->withDim(results[0].tensor().dim());
  } else if (instruction.host != nullptr) {
    instruction.host_type = results[0].now.type();
  }
  program_.instructions.push_back(std::move(instruction));
  if (unpack || results.size() > 1) return Value::Sequence(std::move(results));
  return results.empty() ? Value::None() : std::move(results[0]);
}

Value Binder::Host(const HostFunction& function, const std::vector<Value>& arguments, bool dynamic) {
  Instruction instruction;
  instruction.host = &function;
  instruction.results.assign(1, -1);
  for (const Value& argument : arguments) instruction.operands.push_back(ToOperand(argument, Convert::kNone));
  return Emit(std::move(instruction), dynamic);
}

Value Binder::Size(const Value& tensor, int64_t dim) {
  if (!tensor.dynamic) return Value::Constant(tensor.tensor().size(dim));
  return CallOverload("aten::sym_size.int", {tensor, Value::Constant(dim)});
}

Value Binder::Number(const Value& value) {
  if (!value.is_tensor()) return value;
  if (value.constant()) {
    const c10::Scalar scalar = value.tensor().item();
    return Value::Constant(scalar);
  }
  return Host(kItem, {value}, /*dynamic=*/true);
}

Value Binder::Parameter(const at::Tensor& tensor) {
  Value result = Value::Constant(tensor);
  result.slot = program_.slots++;
  ++program_.parameters;
  slots_.emplace_back();
  return result;
}

void Binder::BeginOperation(int32_t index, bool random) {
  operation_ = index;
  program_.random |= random;
}

namespace {

void Slots(const Operand& operand, std::vector<int32_t>& slots) {
  if (operand.kind == Operand::Kind::kSlot) slots.push_back(operand.slot);
  for (const Operand& item : operand.items) Slots(item, slots);
}

}  // namespace

Program Binder::Finish(const std::vector<Value>& outputs) {
  std::vector<bool> seen(program_.slots, false);
  std::vector<int32_t> used;
  for (const Value& output : outputs) {
    program_.outputs.push_back(ToOperand(output, Convert::kNone));
    Slots(program_.outputs.back(), used);
  }
  for (int32_t slot : touched_) slots_[slot] = c10::IValue();
  touched_.clear();
  dynamic_arguments_ = false;
  for (int32_t slot : used) seen[slot] = true;
  for (int32_t slot = 0; slot < program_.parameters; ++slot) seen[slot] = true;  // the caller holds them anyway
  for (auto it = program_.instructions.rbegin(); it != program_.instructions.rend(); ++it) {
    used.clear();
    for (const Operand& operand : it->operands) Slots(operand, used);
    used.insert(used.end(), it->results.begin(), it->results.end());
    for (int32_t slot : used) {
      if (slot < 0 || seen[slot]) continue;
      seen[slot] = true;
      it->frees.push_back(slot);
    }
  }
  return std::move(program_);
}

std::string Value::Describe() const {
  switch (kind) {
    case Kind::kSequence:
      return c10::str(tuple ? "tuple" : "list", " of ", items.size());
    case Kind::kSlice:
      return "slice";
    case Kind::kLiteral:
      return "constant";
    case Kind::kSingle:
      break;
  }
  if (now.isTensor()) {
    const at::Tensor& t = now.toTensor();
    if (!t.defined()) return "undefined Tensor";
    return c10::str(c10::toString(t.scalar_type()), "[", c10::Join(", ", t.sizes()), "]");
  }
  return now.tagKind();
}

}  // namespace assay::torch_runner
