// Python's operators, as torch.Tensor and the number types define them.
#include <c10/util/StringUtil.h>

#include "runner/torch/composites.h"
#include "runner/torch/errors.h"
#include "runner/torch/host_functions.h"

namespace assay::torch_runner {
namespace {

struct Spelling {
  std::string_view op;
  std::string_view aten;
};

// Operators whose reflected form is the same call with the operands changed over, or another comparison.
constexpr Spelling kTensorFirst[] = {{"+", "aten::add"},    {"-", "aten::sub"},           {"*", "aten::mul"},
                                     {"/", "aten::div"},    {"//", "aten::floor_divide"}, {"%", "aten::remainder"},
                                     {"**", "aten::pow"},   {"@", "aten::matmul"},        {"&", "aten::__and__"},
                                     {"|", "aten::__or__"}, {"==", "aten::eq"},           {"!=", "aten::ne"},
                                     {"<", "aten::lt"},     {"<=", "aten::le"},           {">", "aten::gt"},
                                     {">=", "aten::ge"}};
constexpr Spelling kMirrored[] = {
    {"==", "aten::eq"}, {"!=", "aten::ne"}, {"<", "aten::gt"},  {"<=", "aten::ge"},         {">", "aten::lt"},
    {">=", "aten::le"}, {"+", "aten::add"}, {"*", "aten::mul"}, {"&", "aten::bitwise_and"}, {"|", "aten::bitwise_or"}};
constexpr Spelling kInPlace[] = {
    {"+", "aten::add_"}, {"-", "aten::sub_"}, {"*", "aten::mul_"}, {"/", "aten::div_"}, {"//", "aten::floor_divide_"}};

template <size_t N>
std::string_view Find(const Spelling (&table)[N], std::string_view op) {
  for (const Spelling& entry : table) {
    if (entry.op == op) return entry.aten;
  }
  return {};
}

// number ∘ tensor: Tensor.__radd__ and so on (torch/_tensor.py).
Value Reflected(Binder& binder, std::string_view op, const Value& number, const Value& tensor) {
  if (op == "-") return binder.Call("aten::rsub", {tensor, number});
  if (op == "/") return binder.Call("aten::mul", {binder.Call("aten::reciprocal", {tensor}), number});
  if (op == "**") return binder.Call("aten::pow", {number, tensor});
  if (op == "//") return binder.Call("aten::floor_divide", {number, tensor});
  if (op == "%") return binder.Call("aten::remainder", {number, tensor});
  const std::string_view aten = Find(kMirrored, op);
  if (aten.empty()) throw Unsupported(c10::str("operator ", op, " of a number and a tensor"));
  return binder.Call(aten, {tensor, number});
}

Value Sequences(Binder& binder, std::string_view op, const Value& a, const Value& b) {
  if (op == "*" && (a.is_sequence() != b.is_sequence())) {
    const Value& list = a.is_sequence() ? a : b;
    const Value count = binder.Number(a.is_sequence() ? b : a);
    if (!count.is_int()) throw Unsupported("a list times what is no integer");
    std::vector<Value> items;
    for (int64_t i = 0; i < count.now.toInt(); ++i) items.insert(items.end(), list.items.begin(), list.items.end());
    return Value::Sequence(std::move(items), list.tuple);
  }
  if (op == "+" && a.is_sequence() && b.is_sequence()) {
    std::vector<Value> items = a.items;
    items.insert(items.end(), b.items.begin(), b.items.end());
    return Value::Sequence(std::move(items), a.tuple);
  }
  throw Unsupported(c10::str("operator ", op, " of ", a.Describe(), " and ", b.Describe()));
}

template <const char* op>
Value Binary(Binder& binder, const Arguments& arguments) {
  return BinaryOperator(binder, op, arguments["self"], arguments["other"]);
}

template <const char* op>
Value InPlace(Binder& binder, const Arguments& arguments) {
  const Value& self = arguments["self"];
  if (!self.is_tensor()) return BinaryOperator(binder, op, self, arguments["other"]);
  return binder.Call(Find(kInPlace, op), {self, arguments["other"]});
}

Value Negate(Binder& binder, const Arguments& arguments) {
  const Value& self = arguments["self"];
  if (self.is_tensor()) return binder.Call("aten::neg", {self});
  if (self.constant()) {
    if (self.is_float()) return Value::Constant(-self.now.toDouble());
    return Value::Constant(-self.now.toInt());
  }
  return binder.Host(kNegate, {self});
}

Value Invert(Binder& binder, const Arguments& arguments) {
  const Value& self = arguments["self"];
  if (!self.is_tensor()) throw Unsupported(c10::str("operator ~ of ", self.Describe()));
  return binder.Call("aten::bitwise_not", {self});
}

constexpr char kAdd[] = "+", kSub[] = "-", kMul[] = "*", kTrueDiv[] = "/", kFloorDiv[] = "//", kMod[] = "%",
               kPow[] = "**", kMatmul[] = "@", kAnd[] = "&", kOr[] = "|", kEq[] = "==", kNe[] = "!=", kLt[] = "<",
               kLe[] = "<=", kGt[] = ">", kGe[] = ">=";

}  // namespace

Value BinaryOperator(Binder& binder, std::string_view op, const Value& a, const Value& b) {
  if (a.is_tensor()) {
    // `tensor % number` and the like go by the same rule as torch.remainder(tensor, number).
    return binder.Call(Find(kTensorFirst, op), {a, b});
  }
  if (b.is_tensor() && a.is_number()) return Reflected(binder, op, a, b);
  if (!a.is_number() || !b.is_number()) return Sequences(binder, op, a, b);
  const HostFunction* function = Arithmetic(op);
  if (function == nullptr) throw Unsupported(c10::str("operator ", op, " of two numbers"));
  if (a.constant() && b.constant()) {
    c10::Stack stack{a.now, b.now};
    function->run(stack);
    return Value::Constant(stack.back());
  }
  return binder.Host(*function, {a, b});
}

std::vector<NamedComposite> OperatorComposites() {
  return {{"operator_add", Binary<kAdd>},
          {"operator_sub", Binary<kSub>},
          {"operator_mul", Binary<kMul>},
          {"operator_truediv", Binary<kTrueDiv>},
          {"operator_floordiv", Binary<kFloorDiv>},
          {"operator_mod", Binary<kMod>},
          {"operator_pow", Binary<kPow>},
          {"operator_matmul", Binary<kMatmul>},
          {"operator_and", Binary<kAnd>},
          {"operator_or", Binary<kOr>},
          {"operator_eq", Binary<kEq>},
          {"operator_ne", Binary<kNe>},
          {"operator_lt", Binary<kLt>},
          {"operator_le", Binary<kLe>},
          {"operator_gt", Binary<kGt>},
          {"operator_ge", Binary<kGe>},
          {"operator_iadd", InPlace<kAdd>},
          {"operator_isub", InPlace<kSub>},
          {"operator_imul", InPlace<kMul>},
          {"operator_itruediv", InPlace<kTrueDiv>},
          {"operator_ifloordiv", InPlace<kFloorDiv>},
          {"operator_neg", Negate},
          {"operator_invert", Invert}};
}

}  // namespace assay::torch_runner
