// Making, converting, splitting and measuring tensors.
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/util/StringUtil.h>

#include "runner/torch/composites.h"
#include "runner/torch/errors.h"
#include "runner/torch/host_functions.h"

namespace assay::torch_runner {
namespace {

Value DtypeValue(c10::ScalarType dtype) { return Value::Literal(Dtype{dtype}); }

// tensor.float() and so on.
template <c10::ScalarType dtype>
Value Cast(Binder& binder, const Arguments& arguments) {
  Keywords keywords;
  if (arguments.given("memory_format")) keywords.emplace_back("memory_format", arguments["memory_format"]);
  return binder.CallOverload("aten::to.dtype", {arguments["self"], DtypeValue(dtype)}, keywords);
}

Value Type(Binder& binder, const Arguments& arguments) {
  if (arguments["dtype"].literal_if<Dtype>() == nullptr) throw Unsupported(".type() without a torch.dtype");
  return binder.CallOverload("aten::to.dtype", {arguments["self"], arguments["dtype"]});
}

// tensor.to(): in any of its forms, told apart by what the arguments are.
Value To(Binder& binder, const Arguments& arguments) {
  const Value& self = arguments["self"];
  const Value *dtype = nullptr, *device = nullptr, *other = nullptr, *format = nullptr;
  const auto& written = arguments.written();
  for (size_t i = 1; i < written.size(); ++i) {
    const Value& v = written[i];
    if (v.literal_if<Dtype>() != nullptr) dtype = &v;
    if (v.literal_if<MemoryFormat>() != nullptr) format = &v;
    if (v.single() && v.now.isDevice()) device = &v;
    if (v.is_tensor()) other = &v;
  }
  Keywords keywords;
  for (std::string_view name : {"non_blocking", "copy"}) {
    if (arguments.given(name) && arguments[name].is_bool()) keywords.emplace_back(name, arguments[name]);
  }
  if (format != nullptr) keywords.emplace_back("memory_format", *format);
  if (other != nullptr) return binder.CallOverload("aten::to.other", {self, *other}, keywords);
  if (device == nullptr && dtype != nullptr) return binder.CallOverload("aten::to.dtype", {self, *dtype}, keywords);
  if (dtype != nullptr) keywords.emplace_back("dtype", *dtype);
  if (device != nullptr) keywords.emplace_back("device", *device);
  return binder.CallOverload("aten::to.dtype_layout", {self}, keywords);
}

Value Item(Binder& binder, const Arguments& arguments) { return binder.Number(arguments["self"]); }

Value SizeOf(Binder& binder, const Arguments& arguments) {
  const Value& self = arguments["self"];
  if (!self.is_tensor()) throw Unsupported(c10::str(".size() of ", self.Describe()));
  const Value& dim = arguments["dim"];
  if (!dim.is_none()) {
    const Value number = binder.Number(dim);
    return binder.Size(self, number.now.toInt());
  }
  std::vector<Value> sizes;
  for (int64_t i = 0; i < self.tensor().dim(); ++i) sizes.push_back(binder.Size(self, i));
  return Value::Sequence(std::move(sizes));
}

Value DeviceOf(Binder&, const Arguments& arguments) { return Value::Constant(arguments["self"].tensor().device()); }

Value MakeSize(Binder& binder, const Arguments& arguments) {
  std::vector<Value> sizes;
  for (const Value& item : arguments["sizes"].items) sizes.push_back(binder.Number(item));
  return Value::Sequence(std::move(sizes));
}

// The numbers of nested sequences in order, and the shape they span.
void Flatten(const Value& data, size_t depth, std::vector<Value>& numbers, std::vector<int64_t>& shape) {
  if (!data.is_sequence()) {
    numbers.push_back(data);
    return;
  }
  if (shape.size() == depth) shape.push_back(static_cast<int64_t>(data.items.size()));
  if (shape[depth] != static_cast<int64_t>(data.items.size()))
    throw Unsupported("torch.tensor() of lists of different lengths");
  for (const Value& item : data.items) Flatten(item, depth + 1, numbers, shape);
}

c10::ScalarType InferDtype(const std::vector<Value>& numbers) {
  std::optional<c10::ScalarType> dtype;
  for (const Value& v : numbers) {
    const c10::ScalarType own = v.is_tensor() ? v.tensor().scalar_type()
                                : v.is_bool() ? c10::kBool
                                : v.is_int()  ? c10::kLong
                                              : c10::kFloat;
    dtype = dtype ? c10::promoteTypes(*dtype, own) : own;
  }
  return dtype.value_or(c10::kFloat);
}

Value TensorOf(Binder& binder, const Arguments& arguments) {
  const Value& data = arguments["data"];
  const auto* wanted = arguments["dtype"].literal_if<Dtype>();
  const c10::Device device =
      arguments["device"].is_none() ? c10::Device(c10::kCPU) : arguments["device"].now.toDevice();
  std::vector<Value> numbers;
  std::vector<int64_t> shape;
  Flatten(data, 0, numbers, shape);
  for (const Value& v : numbers) {
    if (!v.is_number() && !v.is_tensor()) throw Unsupported(c10::str("torch.tensor() of ", v.Describe()));
  }
  const c10::ScalarType dtype = wanted != nullptr ? wanted->dtype : InferDtype(numbers);
  const bool constant = std::all_of(numbers.begin(), numbers.end(), [](const Value& v) { return v.constant(); });
  if (constant) {
    c10::Stack stack;
    for (const Value& v : numbers) stack.push_back(v.now);
    stack.push_back(shape);
    stack.push_back(static_cast<int64_t>(dtype));
    kTensorOfNumbers.run(stack);
    // A fresh tensor each time: the graph may change it.
    return binder.Call("aten::clone", {Value::Constant(stack.back().toTensor().to(device))});
  }
  if (!data.is_sequence() && data.is_number()) {
    return binder.Call("aten::scalar_tensor", {data},
                       {{"dtype", DtypeValue(dtype)}, {"device", Value::Constant(device)}});
  }
  if (!data.is_sequence()) {
    return binder.Call("aten::clone",
                       {binder.CallOverload("aten::to.dtype_layout", {data}, {{"dtype", DtypeValue(dtype)}})});
  }
  std::vector<Value> parts = numbers;
  parts.push_back(Value::Constant(shape));
  parts.push_back(Value::Constant(static_cast<int64_t>(dtype)));
  const Value made = binder.Host(kTensorOfNumbers, parts);
  if (device.is_cpu()) return made;
  return binder.CallOverload("aten::to.dtype_layout", {made}, {{"device", Value::Constant(device)}});
}

Value AsTensor(Binder& binder, const Arguments& arguments) {
  const Value& data = arguments["data"];
  if (!data.is_tensor()) return TensorOf(binder, arguments);
  Keywords keywords;
  for (std::string_view name : {"dtype", "device"}) {
    if (!arguments[name].is_none()) keywords.emplace_back(name, arguments[name]);
  }
  if (keywords.empty()) return data;
  return binder.CallOverload("aten::to.dtype_layout", {data}, keywords);
}

Value Arange(Binder& binder, const Arguments& arguments) {
  Keywords keywords;
  for (std::string_view name : {"dtype", "layout", "device"}) {
    if (arguments.given(name)) keywords.emplace_back(name, arguments[name]);
  }
  std::vector<Value> bounds;
  for (std::string_view name : {"start", "end", "step"}) {
    if (arguments.given(name)) bounds.push_back(arguments[name]);
  }
  return binder.Call("aten::arange", std::move(bounds), keywords);
}

Value Split(Binder& binder, const Arguments& arguments) {
  const Value& sections = arguments["split_size_or_sections"];
  return binder.CallOverload(sections.is_sequence() ? "aten::split_with_sizes" : "aten::split.Tensor",
                             {arguments["self"], sections, arguments["dim"]});
}

// torch.max and torch.min: what the second argument is chooses between a reduction and an elementwise operator.
template <const char* packet>
Value Extremum(Binder& binder, const Arguments& arguments) {
  const auto& written = arguments.written();
  std::vector<Value> positional = {arguments["self"]};
  if (written.size() > 1) {
    const Value& second = arguments.given("other") ? arguments["other"] : arguments["dim"];
    if (second.is_tensor()) return binder.CallOverload(c10::str(packet, ".other"), {arguments["self"], second});
    positional.push_back(second);
    positional.push_back(arguments["keepdim"]);
  }
  return binder.Call(packet, std::move(positional));
}
constexpr char kMax[] = "aten::max", kMin[] = "aten::min";

Value TensorWhere(Binder& binder, const Arguments& arguments) {
  return binder.Call("aten::where", {arguments["condition"], arguments["self"], arguments["other"]});
}

// torch.functional.norm, which Tensor.norm calls.
Value Norm(Binder& binder, const Arguments& arguments) {
  const Value& self = arguments["self"].is_tensor() ? arguments["self"] : arguments["input"];
  const Value& p = arguments["p"];
  const Value& dim = arguments["dim"];
  Value order = p.is_none() ? Value::Constant(2.0) : p;
  if (p.is_string()) {
    if (p.now.toStringRef() != "fro" || (dim.is_sequence() && dim.items.size() > 2)) {
      throw Unsupported(c10::str("norm with p=", p.now.toStringRef()));
    }
    order = Value::Constant(int64_t{2});
  }
  Keywords keywords;
  if (!arguments["dtype"].is_none()) keywords.emplace_back("dtype", arguments["dtype"]);
  return binder.Call("aten::linalg_vector_norm", {self, order, dim, arguments["keepdim"]}, keywords);
}

Value Einsum(Binder& binder, const Arguments& arguments) {
  return binder.CallOverload("aten::einsum",
                             {arguments["equation"], Value::Sequence(arguments.Variadic("operands"), false)});
}

Value Meshgrid(Binder& binder, const Arguments& arguments) {
  const Value tensors = Value::Sequence(arguments.Variadic("tensors"), false);
  if (!arguments.given("indexing")) return binder.CallOverload("aten::meshgrid", {tensors});
  return binder.CallOverload("aten::meshgrid.indexing", {tensors}, {{"indexing", arguments["indexing"]}});
}

Value BroadcastTensors(Binder& binder, const Arguments& arguments) {
  return binder.Call("aten::broadcast_tensors", {Value::Sequence(arguments.Variadic("tensors"), false)});
}

// torch.functional.cdist: how the Euclidean distance is found is a word there and a number below.
Value Cdist(Binder& binder, const Arguments& arguments) {
  const std::string_view word = arguments.String("compute_mode");
  Value mode = Value::None();
  if (word == "use_mm_for_euclid_dist") mode = Value::Constant(int64_t{1});
  if (word == "donot_use_mm_for_euclid_dist") mode = Value::Constant(int64_t{2});
  return binder.Call("aten::cdist", {arguments["x1"], arguments["x2"], arguments["p"], mode});
}

Value SymInt(Binder& binder, const Arguments& arguments) {
  const Value number = binder.Number(arguments["a"]);
  if (!number.is_number()) throw Unsupported(c10::str("torch.sym_int() of ", number.Describe()));
  if (number.constant()) {
    c10::Stack stack{number.now};
    kSymInt.run(stack);
    return Value::Constant(stack.back());
  }
  return binder.Host(kSymInt, {number});
}

Value SymSum(Binder& binder, const Arguments& arguments) {
  Value sum = Value::Constant(int64_t{0});
  for (const Value& item : arguments["args"].items) sum = BinaryOperator(binder, "+", sum, item);
  return sum;
}

Value AssertScalar(Binder& binder, const Arguments& arguments) {
  return binder.Host(kAssertScalar, {arguments["self"], arguments["assert_msg"]});
}

Value CheckIsSize(Binder& binder, const Arguments& arguments) {
  const Value number = binder.Number(arguments["i"]);
  const Value fits = BinaryOperator(binder, ">=", number, Value::Constant(int64_t{0}));
  return binder.Host(kAssertScalar, {fits, Value::Constant(std::string("torch._check_is_size: a negative size"))});
}

Value NoOperation(Binder&, const Arguments&) { return Value::None(); }

}  // namespace

std::vector<NamedComposite> TensorComposites() {
  return {{"bool", Cast<c10::kBool>},
          {"float", Cast<c10::kFloat>},
          {"half", Cast<c10::kHalf>},
          {"bfloat16", Cast<c10::kBFloat16>},
          {"double", Cast<c10::kDouble>},
          {"int", Cast<c10::kInt>},
          {"long", Cast<c10::kLong>},
          {"type", Type},
          {"to", To},
          {"item", Item},
          {"size", SizeOf},
          {"device", DeviceOf},
          {"make_size", MakeSize},
          {"tensor", TensorOf},
          {"as_tensor", AsTensor},
          {"arange", Arange},
          {"split", Split},
          {"max", Extremum<kMax>},
          {"min", Extremum<kMin>},
          {"tensor_where", TensorWhere},
          {"norm", Norm},
          {"einsum", Einsum},
          {"meshgrid", Meshgrid},
          {"broadcast_tensors", BroadcastTensors},
          {"cdist", Cdist},
          {"sym_int", SymInt},
          {"sym_sum", SymSum},
          {"assert_scalar", AssertScalar},
          {"check_is_size", CheckIsSize},
          {"no_op", NoOperation},
          {"function_ctx", NoOperation}};
}

}  // namespace assay::torch_runner
