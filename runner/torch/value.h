// A value of the graph while it is bound: what it was in the binding run, and where it lies in later runs.
// Thread safety: none.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace assay::torch_runner {

// Literals that only steer an operation.
struct Ellipsis {};
struct MemoryFormat {
  c10::MemoryFormat format;
};
struct Layout {
  c10::Layout layout;
};
struct Dtype {
  c10::ScalarType dtype;
};

struct Value {
  enum class Kind : uint8_t {
    kSingle,    // a tensor, number, string, None or device: `now`
    kSequence,  // a tuple or a list: `items`
    kSlice,     // slice(start, stop, step): `items`
    kLiteral,   // `literal`
  };
  Kind kind = Kind::kSingle;
  c10::IValue now;
  int32_t slot = -1;     // -1: a constant
  bool dynamic = false;  // its shape (a number: its value) may differ between input sets
  bool tuple = true;     // of kSequence
  std::vector<Value> items;
  std::variant<Ellipsis, MemoryFormat, Layout, Dtype> literal;

  static Value None() { return {}; }
  static Value Constant(c10::IValue value) {
    Value result;
    result.now = std::move(value);
    return result;
  }
  static Value Sequence(std::vector<Value> items, bool tuple = true) {
    Value result;
    result.kind = Kind::kSequence;
    result.items = std::move(items);
    result.tuple = tuple;
    return result;
  }
  template <typename T>
  static Value Literal(T literal) {
    Value result;
    result.kind = Kind::kLiteral;
    result.literal = literal;
    return result;
  }
  static Value Ints(const std::vector<int64_t>& values) {
    std::vector<Value> items;
    for (int64_t v : values) items.push_back(Constant(v));
    return Sequence(std::move(items), false);
  }

  bool single() const { return kind == Kind::kSingle; }
  bool is_none() const { return single() && now.isNone(); }
  bool is_tensor() const { return single() && now.isTensor(); }
  bool is_int() const { return single() && now.isInt(); }
  bool is_float() const { return single() && now.isDouble(); }
  bool is_bool() const { return single() && now.isBool(); }
  bool is_number() const { return is_int() || is_float() || is_bool(); }
  bool is_string() const { return single() && now.isString(); }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool constant() const { return slot < 0; }
  template <typename T>
  const T* literal_if() const {
    return kind == Kind::kLiteral ? std::get_if<T>(&literal) : nullptr;
  }
  const at::Tensor& tensor() const { return now.toTensor(); }

  // For messages: "Tensor", "int", "tuple of 3".
  std::string Describe() const;
};

}  // namespace assay::torch_runner
