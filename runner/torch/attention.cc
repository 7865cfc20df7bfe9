// torch.nn.functional.multi_head_attention_forward.
#include <array>
#include <cmath>
#include <limits>

#include "runner/torch/composites.h"
#include "runner/torch/errors.h"

namespace assay::torch_runner {
namespace {

Value Int(int64_t v) { return Value::Constant(v); }
Value Ints(std::vector<Value> items) { return Value::Sequence(std::move(items), false); }

Value Linear(Binder& binder, const Value& x, const Value& weight, const Value& bias) {
  return binder.Call("aten::linear", {x, weight, bias});
}

// linear(x, w, b) of `parts` projections packed into one weight, as separate contiguous tensors.
std::vector<Value> Unpack(Binder& binder, const Value& projected, int64_t parts, const Value& embed) {
  Value p = binder.CallOverload("aten::unflatten.int", {projected, Int(-1), Ints({Int(parts), embed})});
  p = binder.Call("aten::unsqueeze", {p, Int(0)});
  p = binder.CallOverload("aten::transpose.int", {p, Int(0), Int(-2)});
  p = binder.CallOverload("aten::squeeze.dim", {p, Int(-2)});
  p = binder.Call("aten::contiguous", {p});
  std::vector<Value> result;
  for (int64_t i = 0; i < parts; ++i) result.push_back(binder.CallOverload("aten::select.int", {p, Int(0), Int(i)}));
  return result;
}

// The parts of a bias that may be None.
std::vector<Value> Parts(Binder& binder, const Value& bias, const std::vector<Value>& sizes, bool by_chunk) {
  if (bias.is_none()) return std::vector<Value>(by_chunk ? 3 : sizes.size());
  if (by_chunk) return binder.Call("aten::chunk", {bias, Int(3)}).items;
  return binder.Call("aten::split_with_sizes", {bias, Ints(sizes)}).items;
}

// _in_projection_packed: which of the three inputs are one tensor decides how the weight is used.
std::vector<Value> ProjectPacked(Binder& binder, const Value& q, const Value& k, const Value& v, bool k_is_v,
                                 bool q_is_k, const Value& weight, const Value& bias) {
  const Value embed = binder.Size(q, -1);
  if (k_is_v && q_is_k) return Unpack(binder, Linear(binder, q, weight, bias), 3, embed);
  if (k_is_v) {
    const std::vector<Value> sizes = {embed, BinaryOperator(binder, "*", embed, Int(2))};
    const auto w = Parts(binder, weight, sizes, false);
    const auto b = Parts(binder, bias, sizes, false);
    const Value query = Linear(binder, q, w[0], b[0]);
    const auto kv = Unpack(binder, Linear(binder, k, w[1], b[1]), 2, embed);
    return {query, kv[0], kv[1]};
  }
  const auto w = Parts(binder, weight, {}, true);
  const auto b = Parts(binder, bias, {}, true);
  return {Linear(binder, q, w[0], b[0]), Linear(binder, k, w[1], b[1]), Linear(binder, v, w[2], b[2])};
}

// _canonical_mask: a boolean mask becomes one that is added.
Value CanonicalMask(Binder& binder, const Value& mask, c10::ScalarType dtype) {
  if (mask.is_none() || c10::isFloatingType(mask.tensor().scalar_type())) return mask;
  if (mask.tensor().scalar_type() != c10::kBool)
    throw Unsupported("multi_head_attention_forward: a mask that is neither bool nor floating point");
  const Value zeros = binder.Call("aten::zeros_like", {mask}, {{"dtype", Value::Literal(Dtype{dtype})}});
  return binder.CallOverload("aten::masked_fill_.Scalar",
                             {zeros, mask, Value::Constant(-std::numeric_limits<double>::infinity())});
}

Value PadOne(Binder& binder, const Value& mask) {
  return mask.is_none() ? mask : binder.Call("aten::pad", {mask, Ints({Int(0), Int(1)})});
}

Value Forward(Binder& binder, const Arguments& a) {
  Value query = a["query"], key = a["key"], value = a["value"];
  // `is` of Python: the same value of the graph.
  const bool k_is_v = key.slot == value.slot, q_is_k = query.slot == key.slot;
  Value key_padding_mask = a["key_padding_mask"], attn_mask = a["attn_mask"];
  bool is_causal = a.Bool("is_causal");
  const bool need_weights = a.Bool("need_weights");
  const bool batched = query.tensor().dim() == 3;
  if (!batched) {
    const auto unsqueeze = [&](const Value& v, int64_t dim) { return binder.Call("aten::unsqueeze", {v, Int(dim)}); };
    query = unsqueeze(query, 1);
    key = k_is_v && q_is_k ? query : unsqueeze(key, 1);
    value = k_is_v ? key : unsqueeze(value, 1);
    if (!key_padding_mask.is_none()) key_padding_mask = unsqueeze(key_padding_mask, 0);
  }
  const c10::ScalarType dtype = query.tensor().scalar_type();
  const Value target = binder.Size(query, 0), batch = binder.Size(query, 1), embed = binder.Size(query, 2);
  const Value heads = a["num_heads"];
  key_padding_mask = CanonicalMask(binder, key_padding_mask, dtype);
  if (is_causal && attn_mask.is_none()) throw Unsupported("multi_head_attention_forward: is_causal without attn_mask");
  if (is_causal && key_padding_mask.is_none() && !need_weights) {
    attn_mask = Value::None();
  } else {
    attn_mask = CanonicalMask(binder, attn_mask, dtype);
    if (!key_padding_mask.is_none()) is_causal = false;
  }
  const Value head = BinaryOperator(binder, "//", embed, heads);
  const Value batch_heads = BinaryOperator(binder, "*", batch, heads);

  std::vector<Value> qkv;
  const bool separate = a.Bool("use_separate_proj_weight");
  if (!separate) {
    // Unbatched inputs are told apart again: unsqueeze() gives Python three tensors.
    qkv = ProjectPacked(binder, query, key, value, batched && k_is_v, batched && q_is_k, a["in_proj_weight"],
                        a["in_proj_bias"]);
  } else {
    const auto b = Parts(binder, a["in_proj_bias"], {}, true);
    qkv = {Linear(binder, query, a["q_proj_weight"], b[0]), Linear(binder, key, a["k_proj_weight"], b[1]),
           Linear(binder, value, a["v_proj_weight"], b[2])};
  }
  Value q = qkv[0], k = qkv[1], v = qkv[2];
  if (!attn_mask.is_none() && attn_mask.tensor().dim() == 2)
    attn_mask = binder.Call("aten::unsqueeze", {attn_mask, Int(0)});

  if (!a["bias_k"].is_none() && !a["bias_v"].is_none()) {
    const auto extend = [&](const Value& x, const Value& bias) {
      return binder.Call("aten::cat", {Ints({x, binder.Call("aten::repeat", {bias, Ints({Int(1), batch, Int(1)})})})});
    };
    k = extend(k, a["bias_k"]);
    v = extend(v, a["bias_v"]);
    attn_mask = PadOne(binder, attn_mask);
    key_padding_mask = PadOne(binder, key_padding_mask);
  }
  const auto by_head = [&](const Value& x, const Value& length) {
    const Value viewed = binder.CallOverload("aten::view", {x, Ints({length, batch_heads, head})});
    return binder.CallOverload("aten::transpose.int", {viewed, Int(0), Int(1)});
  };
  q = by_head(q, target);
  k = a["static_k"].is_none() ? by_head(k, binder.Size(k, 0)) : a["static_k"];
  v = a["static_v"].is_none() ? by_head(v, binder.Size(v, 0)) : a["static_v"];
  if (a.Bool("add_zero_attn")) {
    const auto extend = [&](const Value& x) {
      const Value zeros = binder.Call("aten::zeros", {Ints({batch_heads, Int(1), head})},
                                      {{"dtype", Value::Literal(Dtype{x.tensor().scalar_type()})},
                                       {"device", Value::Constant(x.tensor().device())}});
      return binder.Call("aten::cat", {Ints({x, zeros}), Int(1)});
    };
    k = extend(k);
    v = extend(v);
    attn_mask = PadOne(binder, attn_mask);
    key_padding_mask = PadOne(binder, key_padding_mask);
  }
  const Value source = binder.Size(k, 1);
  if (!key_padding_mask.is_none()) {
    Value mask = binder.CallOverload("aten::view", {key_padding_mask, Ints({batch, Int(1), Int(1), source})});
    mask = binder.CallOverload("aten::expand", {mask, Ints({Int(-1), heads, Int(-1), Int(-1)})});
    mask = binder.CallOverload("aten::reshape", {mask, Ints({batch_heads, Int(1), source})});
    attn_mask = attn_mask.is_none() ? mask : BinaryOperator(binder, "+", attn_mask, mask);
  }
  const Value dropout = a.Bool("training") ? a["dropout_p"] : Value::Constant(0.0);
  const Value& out_weight = a["out_proj_weight"];
  const Value& out_bias = a["out_proj_bias"];
  const Value rows = BinaryOperator(binder, "*", target, batch);
  const auto finish = [&](Value out) {
    out = binder.CallOverload("aten::reshape", {out, Ints({rows, embed})});
    out = Linear(binder, out, out_weight, out_bias);
    return binder.CallOverload("aten::view", {out, Ints({target, batch, binder.Size(out, 1)})});
  };
  const auto unbatch = [&](const Value& x, int64_t dim) {
    return batched ? x : binder.CallOverload("aten::squeeze.dim", {x, Int(dim)});
  };

  if (need_weights) {
    const double width = static_cast<double>(q.tensor().size(2));
    const Value scaled = BinaryOperator(binder, "*", q, Value::Constant(std::sqrt(1.0 / width)));
    const Value k_t = binder.CallOverload("aten::transpose.int", {k, Int(-2), Int(-1)});
    Value weights = attn_mask.is_none() ? binder.Call("aten::bmm", {scaled, k_t})
                                        : binder.Call("aten::baddbmm", {attn_mask, scaled, k_t});
    weights = binder.CallOverload("aten::softmax.int", {weights, Int(-1)});
    if (dropout.is_float() ? dropout.now.toDouble() > 0 : dropout.is_int() && dropout.now.toInt() > 0) {
      weights = binder.Call("aten::dropout", {weights, dropout, Value::Constant(true)});
    }
    Value out = binder.Call("aten::bmm", {weights, v});
    out = finish(binder.CallOverload("aten::transpose.int", {out, Int(0), Int(1)}));
    weights = binder.CallOverload("aten::view", {weights, Ints({batch, heads, target, source})});
    if (a.Bool("average_attn_weights")) weights = binder.CallOverload("aten::mean.dim", {weights, Int(1)});
    return Value::Sequence({unbatch(out, 1), unbatch(weights, 0)});
  }

  if (!attn_mask.is_none()) {
    if (attn_mask.tensor().size(0) == 1 && attn_mask.tensor().dim() == 3) {
      attn_mask = binder.Call("aten::unsqueeze", {attn_mask, Int(0)});
    } else {
      attn_mask = binder.CallOverload("aten::view", {attn_mask, Ints({batch, heads, Int(-1), source})});
    }
  }
  const auto four = [&](const Value& x, const Value& length) {
    return binder.CallOverload("aten::view", {x, Ints({batch, heads, length, head})});
  };
  const Value q4 = four(q, target), k4 = four(k, source), v4 = four(v, source);
  Value out =
      binder.Call("aten::scaled_dot_product_attention", {q4, k4, v4, attn_mask, dropout, Value::Constant(is_causal)});
  out = finish(binder.Call("aten::permute", {out, Value::Ints({2, 0, 1, 3})}));
  return Value::Sequence({unbatch(out, 1), Value::None()});
}

}  // namespace

std::vector<NamedComposite> AttentionComposites() { return {{"multi_head_attention_forward", Forward}}; }

}  // namespace assay::torch_runner
