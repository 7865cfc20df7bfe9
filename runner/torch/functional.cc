// torch.nn.functional.
#include <c10/util/StringUtil.h>

#include <cmath>
#include <stdexcept>

#include "runner/torch/composites.h"
#include "runner/torch/errors.h"

namespace assay::torch_runner {
namespace {

Value Int(int64_t v) { return Value::Constant(v); }
Value Bool(bool v) { return Value::Constant(v); }

// f(input, inplace=False), with further arguments between.
struct Activation {
  const char* plain;
  const char* in_place;
};
Value Activate(Binder& binder, const Arguments& arguments, Activation names, std::vector<Value> more = {}) {
  std::vector<Value> positional = {arguments["input"]};
  positional.insert(positional.end(), more.begin(), more.end());
  return binder.Call(arguments.Bool("inplace") ? names.in_place : names.plain, std::move(positional));
}

Value Relu(Binder& b, const Arguments& a) { return Activate(b, a, {"aten::relu", "aten::relu_"}); }
Value Silu(Binder& b, const Arguments& a) { return Activate(b, a, {"aten::silu", "aten::silu_"}); }
Value Hardswish(Binder& b, const Arguments& a) { return Activate(b, a, {"aten::hardswish", "aten::hardswish_"}); }
Value Hardsigmoid(Binder& b, const Arguments& a) { return Activate(b, a, {"aten::hardsigmoid", "aten::hardsigmoid_"}); }
Value Relu6(Binder& b, const Arguments& a) { return Activate(b, a, {"aten::relu6", "aten::relu6_"}); }
Value Selu(Binder& b, const Arguments& a) { return Activate(b, a, {"aten::selu", "aten::selu_"}); }
Value Mish(Binder& b, const Arguments& a) { return Activate(b, a, {"aten::mish", "aten::mish_"}); }
Value Celu(Binder& b, const Arguments& a) { return Activate(b, a, {"aten::celu", "aten::celu_"}, {a["alpha"]}); }
Value Elu(Binder& b, const Arguments& a) { return Activate(b, a, {"aten::elu", "aten::elu_"}, {a["alpha"]}); }
Value LeakyRelu(Binder& b, const Arguments& a) {
  return Activate(b, a, {"aten::leaky_relu", "aten::leaky_relu_"}, {a["negative_slope"]});
}
Value Hardtanh(Binder& b, const Arguments& a) {
  return Activate(b, a, {"aten::hardtanh", "aten::hardtanh_"}, {a["min_val"], a["max_val"]});
}
Value Dropout(Binder& b, const Arguments& a) {
  return Activate(b, a, {"aten::dropout", "aten::dropout_"}, {a["p"], a["training"]});
}
Value Dropout2d(Binder& b, const Arguments& a) {
  return Activate(b, a, {"aten::feature_dropout", "aten::feature_dropout_"}, {a["p"], a["training"]});
}

Value Softsign(Binder& binder, const Arguments& a) {
  const Value length = binder.Call("aten::add", {binder.Call("aten::abs", {a["input"]}), Int(1)});
  return binder.Call("aten::div", {a["input"], length});
}
Value Tanhshrink(Binder& binder, const Arguments& a) {
  return binder.Call("aten::sub", {a["input"], binder.Call("aten::tanh", {a["input"]})});
}

// What the wrappers refuse with a ValueError, in their words.
void CheckManyValues(c10::IntArrayRef sizes, size_t first, std::string_view what, std::string_view shown) {
  int64_t values = first == 0 ? sizes[0] : 1;
  for (size_t i = 2; i < sizes.size(); ++i) values *= sizes[i];
  if (values == 1)
    throw std::invalid_argument(c10::str("Expected more than 1 ", what, " when training, got input size ", shown));
}
std::string ShowSizes(c10::IntArrayRef sizes) { return c10::str("[", c10::Join(", ", sizes), "]"); }

void CheckBatchNorm(const Arguments& a) {
  const bool training = a["training"].is_bool() && a["training"].now.toBool();
  const c10::IntArrayRef sizes = a["input"].tensor().sizes();
  if (training) CheckManyValues(sizes, 0, "value per channel", c10::str("torch.Size(", ShowSizes(sizes), ")"));
  if (!a["eps"].is_number()) return;
  const double eps = a["eps"].now.toScalar().toDouble();
  if (eps < 0 || (training && eps == 0)) {
    throw std::invalid_argument(c10::str("batch_norm eps must be ",
                                         training ? "positive during training" : "non-negative", ", but got ", eps,
                                         a["eps"].is_float() && eps == std::trunc(eps) ? ".0" : ""));
  }
}

Value BatchNorm(Binder& binder, const Arguments& a) {
  CheckBatchNorm(a);
  return binder.Call("aten::batch_norm", {a["input"], a["weight"], a["bias"], a["running_mean"], a["running_var"],
                                          a["training"], a["momentum"], a["eps"], Bool(true)});
}

Value InstanceNorm(Binder& binder, const Arguments& a) {
  const c10::IntArrayRef sizes = a["input"].tensor().sizes();
  if (a.Bool("use_input_stats"))
    CheckManyValues(sizes, 2, "spatial element", c10::str("torch.Size(", ShowSizes(sizes), ")"));
  return binder.Call("aten::instance_norm", {a["input"], a["weight"], a["bias"], a["running_mean"], a["running_var"],
                                             a["use_input_stats"], a["momentum"], a["eps"], Bool(true)});
}

Value GroupNorm(Binder& binder, const Arguments& a) {
  std::vector<int64_t> sizes = a["input"].tensor().sizes().vec();
  if (sizes.size() >= 2 && a["num_groups"].is_int() && a.Int("num_groups") > 0) {
    sizes[0] = sizes[0] * sizes[1] / a.Int("num_groups");
    sizes[1] = a.Int("num_groups");
    CheckManyValues(sizes, 0, "value per channel", ShowSizes(sizes));
  }
  return binder.Call("aten::group_norm", {a["input"], a["num_groups"], a["weight"], a["bias"], a["eps"], Bool(true)});
}

Value Embedding(Binder& binder, const Arguments& a) {
  Value indices = a["input"];
  const Value& weight = a["weight"];
  Value padding = Int(-1);
  if (!a["padding_idx"].is_none()) {
    const int64_t index = a.Int("padding_idx");
    padding = Int(index < 0 ? weight.tensor().size(0) + index : index);
  }
  if (!a["max_norm"].is_none()) {
    indices = binder.Call("aten::contiguous", {indices});
    binder.Call("aten::embedding_renorm_", {weight, indices, a["max_norm"], a["norm_type"]});
  }
  return binder.Call("aten::embedding", {weight, indices, padding, a["scale_grad_by_freq"], a["sparse"]});
}

// A softmax without a dimension takes the one that _get_softmax_dim takes.
Value SoftmaxOf(Binder& binder, const Arguments& a, const char* overload, const Value& input) {
  Value dim = a["dim"];
  if (dim.is_none()) {
    const int64_t rank = input.tensor().dim();
    dim = Int(rank == 0 || rank == 1 || rank == 3 ? 0 : 1);
  }
  Keywords keywords;
  if (!a["dtype"].is_none()) keywords.emplace_back("dtype", a["dtype"]);
  return binder.CallOverload(overload, {input, dim}, keywords);
}
Value Softmax(Binder& b, const Arguments& a) { return SoftmaxOf(b, a, "aten::softmax.int", a["input"]); }
Value LogSoftmax(Binder& b, const Arguments& a) { return SoftmaxOf(b, a, "aten::log_softmax.int", a["input"]); }
Value Softmin(Binder& b, const Arguments& a) {
  return SoftmaxOf(b, a, "aten::softmax.int", b.Call("aten::neg", {a["input"]}));
}

// x / x.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(x)
Value Normalize(Binder& binder, const Arguments& a) {
  const Value& input = a["input"];
  Value length = binder.Call("aten::linalg_vector_norm", {input, a["p"], a["dim"], Bool(true)});
  length = binder.Call("aten::clamp_min", {length, a["eps"]});
  length = binder.Call("aten::expand_as", {length, input});
  return binder.Call("aten::div", {input, length});
}

// output_size with None replaced by the input's own size.
Value SizeWithDefaults(Binder& binder, const Value& input, const Value& size) {
  if (!size.is_sequence()) return size;
  std::vector<Value> items = size.items;
  const int64_t first = input.tensor().dim() - static_cast<int64_t>(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].is_none()) items[i] = binder.Size(input, first + static_cast<int64_t>(i));
  }
  return Value::Sequence(std::move(items));
}

Value AdaptiveAvgPool2d(Binder& binder, const Arguments& a) {
  return binder.Call("aten::adaptive_avg_pool2d", {a["input"], SizeWithDefaults(binder, a["input"], a["output_size"])});
}
Value AdaptiveAvgPool3d(Binder& binder, const Arguments& a) {
  return binder.Call("aten::adaptive_avg_pool3d", {a["input"], SizeWithDefaults(binder, a["input"], a["output_size"])});
}
template <const char* name>
Value AdaptiveMaxPool(Binder& binder, const Arguments& a) {
  Value both = binder.Call(name, {a["input"], SizeWithDefaults(binder, a["input"], a["output_size"])});
  return a.Bool("return_indices") ? both : both.items[0];
}
constexpr char kAdaptiveMaxPool1d[] = "aten::adaptive_max_pool1d", kAdaptiveMaxPool2d[] = "aten::adaptive_max_pool2d",
               kAdaptiveMaxPool3d[] = "aten::adaptive_max_pool3d";

Value MaxPool(Binder& binder, const Arguments& a, const char* plain, const char* with_indices) {
  const Value stride = a["stride"].is_none() ? Value::Sequence({}) : a["stride"];
  return binder.Call(a.Bool("return_indices") ? with_indices : plain,
                     {a["input"], a["kernel_size"], stride, a["padding"], a["dilation"], a["ceil_mode"]});
}
Value MaxPool1d(Binder& b, const Arguments& a) {
  return MaxPool(b, a, "aten::max_pool1d", "aten::max_pool1d_with_indices");
}
Value MaxPool2d(Binder& b, const Arguments& a) {
  return MaxPool(b, a, "aten::max_pool2d", "aten::max_pool2d_with_indices");
}

Value MaxPool3d(Binder& b, const Arguments& a) {
  return MaxPool(b, a, "aten::max_pool3d", "aten::max_pool3d_with_indices");
}

// x / (k + alpha·mean of the squares of `size` neighbouring channels)^beta
Value LocalResponseNorm(Binder& binder, const Arguments& a) {
  const Value& input = a["input"];
  const int64_t rank = input.tensor().dim(), size = a.Int("size");
  const bool flat = rank == 3;  // of one spatial dimension
  Value d = binder.CallOverload("aten::mul.Tensor", {input, input});
  if (flat) {
    d = binder.Call("aten::unsqueeze", {d, Int(1)});
  } else {
    d = binder.CallOverload(
        "aten::view",
        {d, Value::Sequence({binder.Size(input, 0), Int(1), binder.Size(input, 1), binder.Size(input, 2), Int(-1)})});
  }
  std::vector<int64_t> padding(flat ? 2 : 4, 0), window(flat ? 2 : 3, 1);
  padding.insert(padding.end(), {size / 2, (size - 1) / 2});
  window[0] = size;
  d = binder.Call("aten::pad", {d, Value::Ints(padding)});
  d = binder.Call(flat ? "aten::avg_pool2d" : "aten::avg_pool3d", {d, Value::Ints(window), Int(1)});
  d = binder.CallOverload("aten::squeeze.dim", {d, Int(1)});
  if (!flat) {
    std::vector<Value> sizes;
    for (int64_t i = 0; i < rank; ++i) sizes.push_back(binder.Size(input, i));
    d = binder.CallOverload("aten::view", {d, Value::Sequence(std::move(sizes))});
  }
  d = binder.Call("aten::mul", {d, a["alpha"]});
  d = binder.Call("aten::add", {d, a["k"]});
  d = binder.Call("aten::pow", {d, a["beta"]});
  return binder.Call("aten::div", {input, d});
}

Value Unfold(Binder& binder, const Arguments& a) {
  return binder.Call("aten::im2col", {a["input"], a["kernel_size"], a["dilation"], a["padding"], a["stride"]});
}
Value Fold(Binder& binder, const Arguments& a) {
  return binder.Call("aten::col2im",
                     {a["input"], a["output_size"], a["kernel_size"], a["dilation"], a["padding"], a["stride"]});
}

int64_t IndexOf(std::string_view name, std::initializer_list<std::string_view> names, std::string_view what) {
  int64_t i = 0;
  for (std::string_view candidate : names) {
    if (candidate == name) return i;
    ++i;
  }
  throw Unsupported(c10::str("grid_sample with ", what, "=", name));
}

Value GridSample(Binder& binder, const Arguments& a) {
  const int64_t mode = IndexOf(a.String("mode"), {"bilinear", "nearest", "bicubic"}, "mode");
  const int64_t padding = IndexOf(a.String("padding_mode"), {"zeros", "border", "reflection"}, "padding_mode");
  const Value align = a["align_corners"].is_none() ? Bool(false) : a["align_corners"];
  return binder.Call("aten::grid_sampler", {a["input"], a["grid"], Int(mode), Int(padding), align});
}

// One value for each spatial dimension.
Value Spread(const Value& v, int64_t count) {
  if (v.is_sequence()) return v;
  return Value::Sequence(std::vector<Value>(count, v), false);
}

Value Interpolate(Binder& binder, const Arguments& a) {
  const Value& input = a["input"];
  const std::string_view mode = a.String("mode");
  const int64_t spatial = input.tensor().dim() - 2;
  const bool antialias = a.Bool("antialias");
  if (a["size"].is_none() == a["scale_factor"].is_none())
    throw Unsupported("interpolate: one of size and scale_factor must be given");
  Value size = a["size"].is_none() ? Value::None() : Spread(a["size"], spatial);
  Value scales = a["scale_factor"].is_none() ? Value::None() : Spread(a["scale_factor"], spatial);
  const Value& recompute = a["recompute_scale_factor"];
  if (!scales.is_none() && ((recompute.is_bool() && recompute.now.toBool()) || mode == "area")) {
    std::vector<Value> sizes;
    for (int64_t i = 0; i < spatial; ++i) {
      const Value scaled = BinaryOperator(binder, "*", binder.Size(input, i + 2), scales.items[i]);
      if (!scaled.constant() || !scaled.is_number()) throw Unsupported("interpolate: a scale that is no constant");
      sizes.push_back(Int(static_cast<int64_t>(
          std::trunc(scaled.is_int() ? static_cast<double>(scaled.now.toInt()) : scaled.now.toDouble()))));
    }
    size = Value::Sequence(std::move(sizes), false);
    scales = Value::None();
  }
  if (mode == "area") {
    return binder.Call(c10::str("aten::adaptive_avg_pool", spatial, "d"), {input, size});
  }
  if (mode == "nearest" || mode == "nearest-exact") {
    return binder.CallOverload(
        c10::str("aten::", mode == "nearest" ? "upsample_nearest" : "_upsample_nearest_exact", spatial, "d.vec"),
        {input, size, scales});
  }
  const Value align = a["align_corners"].is_none() ? Bool(false) : a["align_corners"];
  std::string name;
  if (mode == "linear" && spatial == 1) name = "aten::upsample_linear1d.vec";
  if (mode == "bilinear" && spatial == 2)
    name = antialias ? "aten::_upsample_bilinear2d_aa.vec" : "aten::upsample_bilinear2d.vec";
  if (mode == "bicubic" && spatial == 2)
    name = antialias ? "aten::_upsample_bicubic2d_aa.vec" : "aten::upsample_bicubic2d.vec";
  if (mode == "trilinear" && spatial == 3) name = "aten::upsample_trilinear3d.vec";
  if (name.empty())
    throw Unsupported(c10::str("interpolate: mode ", mode, " of an input with ", spatial, " spatial dimensions"));
  return binder.CallOverload(name, {input, size, align, scales});
}

}  // namespace

std::vector<NamedComposite> FunctionalComposites() {
  return {{"relu", Relu},
          {"silu", Silu},
          {"hardswish", Hardswish},
          {"hardsigmoid", Hardsigmoid},
          {"elu", Elu},
          {"leaky_relu", LeakyRelu},
          {"hardtanh", Hardtanh},
          {"relu6", Relu6},
          {"selu", Selu},
          {"mish", Mish},
          {"celu", Celu},
          {"softsign", Softsign},
          {"tanhshrink", Tanhshrink},
          {"dropout", Dropout},
          {"dropout2d", Dropout2d},
          {"batch_norm", BatchNorm},
          {"instance_norm", InstanceNorm},
          {"group_norm", GroupNorm},
          {"embedding", Embedding},
          {"softmax", Softmax},
          {"log_softmax", LogSoftmax},
          {"softmin", Softmin},
          {"normalize", Normalize},
          {"adaptive_avg_pool2d", AdaptiveAvgPool2d},
          {"adaptive_avg_pool3d", AdaptiveAvgPool3d},
          {"adaptive_max_pool1d", AdaptiveMaxPool<kAdaptiveMaxPool1d>},
          {"adaptive_max_pool2d", AdaptiveMaxPool<kAdaptiveMaxPool2d>},
          {"adaptive_max_pool3d", AdaptiveMaxPool<kAdaptiveMaxPool3d>},
          {"max_pool1d", MaxPool1d},
          {"max_pool2d", MaxPool2d},
          {"max_pool3d", MaxPool3d},
          {"local_response_norm", LocalResponseNorm},
          {"unfold", Unfold},
          {"fold", Fold},
          {"grid_sample", GridSample},
          {"interpolate", Interpolate}};
}

}  // namespace assay::torch_runner
