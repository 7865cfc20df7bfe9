// Subscripts: the sequences of select, slice, unsqueeze, index and copy_ that THPVariable_getitem and
// THPVariable_setitem make.
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <c10/util/StringUtil.h>

#include "runner/torch/composites.h"
#include "runner/torch/errors.h"

namespace assay::torch_runner {
namespace {

Value Int(int64_t v) { return Value::Constant(v); }

bool IsZeroDimInteger(const Value& v) {
  return v.is_tensor() && v.tensor().dim() == 0 && c10::isIntegralType(v.tensor().scalar_type(), /*includeBool=*/true);
}

bool IsMask(const Value& v) {
  return v.is_tensor() && (v.tensor().scalar_type() == c10::kBool || v.tensor().scalar_type() == c10::kByte);
}

// A list in an index is a tensor.
Value ListToTensor(const Value& list) {
  std::vector<int64_t> ints;
  bool bools = !list.items.empty();
  for (const Value& item : list.items) {
    if (!item.constant() || !(item.is_int() || item.is_bool()))
      throw Unsupported("a list in an index that does not hold constants");
    bools &= item.is_bool();
    ints.push_back(item.is_bool() ? item.now.toBool() : item.now.toInt());
  }
  at::Tensor tensor = at::tensor(ints, at::kLong);
  return Value::Constant(bools ? tensor.to(at::kBool) : tensor);
}

// As at::indexing::impl::applySlice: a slice that takes all of a dimension is left out.
Value Slice(Binder& binder, const Value& self, int64_t dim, const Value& slice) {
  const Value& start = slice.items[0];
  const Value& stop = slice.items[1];
  const Value& step = slice.items[2];
  const bool from_first = start.is_none() || (start.constant() && start.is_int() && start.now.toInt() == 0);
  const bool by_one = step.is_none() || (step.constant() && step.is_int() && step.now.toInt() == 1);
  if (from_first && stop.is_none() && by_one) return self;
  return binder.CallOverload("aten::slice.Tensor", {self, Int(dim), start, stop, step.is_none() ? Int(1) : step});
}

// How many dimensions of the tensor an index uses up.
int64_t Consumed(const Value& index) {
  if (index.is_none() || index.literal_if<Ellipsis>() != nullptr || index.is_bool()) return 0;
  if (IsMask(index)) return index.tensor().dim();
  return 1;
}

// Views by the integers, slices, None and Ellipsis of `indices`; tensors are put at their place in `tensors`.
Value ApplySlicing(Binder& binder, const Value& self, const std::vector<Value>& indices, std::vector<Value>& tensors) {
  int64_t consumed = 0;
  for (const Value& index : indices) consumed += Consumed(index);
  Value result = self;
  int64_t dim = 0;
  const auto record = [&](const Value& tensor) {
    tensors.resize(std::max<size_t>(tensors.size(), dim + 1));
    tensors[dim] = tensor;
    ++dim;
  };
  for (const Value& index : indices) {
    if (index.is_none()) {
      result = binder.Call("aten::unsqueeze", {result, Int(dim)});
      ++dim;
    } else if (index.literal_if<Ellipsis>() != nullptr) {
      dim += self.tensor().dim() - consumed;
    } else if (index.kind == Value::Kind::kSlice) {
      result = Slice(binder, result, dim, index);
      ++dim;
    } else if (index.is_int()) {
      result = binder.CallOverload("aten::select.int", {result, Int(dim), index});
    } else if (index.is_bool()) {
      result = binder.Call("aten::unsqueeze", {result, Int(dim)});
      record(Value::Constant(at::tensor(std::vector<int64_t>(index.now.toBool() ? 1 : 0, 0), at::kLong)));
    } else if (index.is_tensor()) {
      if (IsZeroDimInteger(index) && !IsMask(index)) {
        result = binder.CallOverload("aten::select.int", {result, Int(dim), index});
      } else if (IsZeroDimInteger(index)) {
        throw Unsupported("an index that is a 0-dim mask");
      } else {
        record(index);
      }
    } else if (index.is_sequence()) {
      record(ListToTensor(index));
    } else {
      throw Unsupported(c10::str("an index that is ", index.Describe()));
    }
  }
  return result;
}

// The indices of x[index]: a tuple is taken apart.
std::vector<Value> IndicesOf(const Value& index) {
  if (index.is_sequence() && index.tuple) return index.items;
  if (index.is_sequence()) {
    // A list that holds more than numbers is taken for a tuple (treatSequenceAsTuple).
    for (const Value& item : index.items) {
      if (item.is_none() || item.kind == Value::Kind::kSlice || item.is_tensor() || item.is_sequence() ||
          item.literal_if<Ellipsis>() != nullptr) {
        return index.items;
      }
    }
  }
  return {index};
}

Value GetFromSequence(Binder& binder, const Value& self, const Value& index) {
  const int64_t size = static_cast<int64_t>(self.items.size());
  const auto bound = [&](const Value& v, int64_t otherwise) {
    if (v.is_none()) return otherwise;
    const Value number = binder.Number(v);
    if (!number.is_int()) throw Unsupported("a tuple indexed by what is no integer");
    return number.now.toInt();
  };
  if (index.kind == Value::Kind::kSlice) {
    const int64_t step = bound(index.items[2], 1);
    if (step != 1) throw Unsupported("a slice of a tuple with a step");
    const auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + size : v, 0, size); };
    const int64_t start = clamp(bound(index.items[0], 0)), stop = clamp(bound(index.items[1], size));
    return Value::Sequence({self.items.begin() + start, self.items.begin() + std::max(start, stop)}, self.tuple);
  }
  const int64_t i = bound(index, 0);
  TORCH_CHECK(i >= -size && i < size, "tuple index ", i, " out of range of ", size);
  return self.items[i < 0 ? i + size : i];
}

Value GetItem(Binder& binder, const Arguments& arguments) {
  const Value& self = arguments["self"];
  const Value& index = arguments["index"];
  if (self.is_sequence()) return GetFromSequence(binder, self, index);
  if (!self.is_tensor()) throw Unsupported(c10::str("an index into ", self.Describe()));
  std::vector<Value> tensors;
  const Value sliced = ApplySlicing(binder, self, IndicesOf(index), tensors);
  if (tensors.empty()) return sliced.slot == self.slot ? binder.Call("aten::alias", {sliced}) : sliced;
  return binder.CallOverload("aten::index.Tensor", {sliced, Value::Sequence(std::move(tensors), false)});
}

// at::indexing::slicePrefix1sSize: leading dimensions of size one do not count.
Value DropLeadingOnes(Binder& binder, const Value& value) {
  const auto sizes = value.tensor().sizes();
  size_t first = 0;
  while (first < sizes.size() && sizes[first] == 1) ++first;
  if (first == 0) return value;
  std::vector<Value> kept;
  for (size_t i = first; i < sizes.size(); ++i) kept.push_back(binder.Size(value, static_cast<int64_t>(i)));
  return binder.CallOverload("aten::view", {value, Value::Sequence(std::move(kept), false)});
}

void CopyTo(Binder& binder, const Value& target, const Value& source) {
  if (source.is_number()) {
    binder.Call("aten::fill_", {target, source});
  } else if (source.tensor().sizes() == target.tensor().sizes()) {
    binder.Call("aten::copy_", {target, source});
  } else if (source.tensor().dim() == 0 && source.tensor().device().is_cpu()) {
    binder.Call("aten::fill_", {target, source});
  } else {
    // expand_inplace() and copy_: copy_ itself expands.
    binder.Call("aten::copy_", {target, DropLeadingOnes(binder, source)});
  }
}

Value SetItem(Binder& binder, const Arguments& arguments) {
  const Value& self = arguments["self"];
  const Value& value = arguments["value"];
  if (!self.is_tensor()) throw Unsupported(c10::str("an assignment to an item of ", self.Describe()));
  if (!value.is_tensor() && !value.is_number()) throw Unsupported(c10::str("an item set to ", value.Describe()));
  std::vector<Value> tensors;
  const Value sliced = ApplySlicing(binder, self, IndicesOf(arguments["index"]), tensors);
  if (tensors.empty()) {
    CopyTo(binder, sliced, value);
    return Value::None();
  }
  Value source = value;
  if (value.is_number()) {
    const auto options = at::TensorOptions().dtype(self.tensor().scalar_type());
    if (value.constant()) {
      source = Value::Constant(at::scalar_tensor(value.now.toScalar(), options));
    } else {
      source =
          binder.Call("aten::scalar_tensor", {value}, {{"dtype", Value::Literal(Dtype{self.tensor().scalar_type()})}});
    }
  } else {
    source = DropLeadingOnes(binder, value);
  }
  binder.Call("aten::index_put_", {sliced, Value::Sequence(std::move(tensors), false), source});
  return Value::None();
}

}  // namespace

std::vector<NamedComposite> IndexingComposites() {
  return {{"operator_getitem", GetItem}, {"operator_setitem", SetItem}};
}

}  // namespace assay::torch_runner
