// Composites: callees that are no single operator. Each makes the same operator calls as PyTorch's Python wrapper of
// that name; what the wrapper decides in Python is decided once, when the graph is bound.
// Thread safety: none; each works on its Binder.
#pragma once

#include <string_view>
#include <vector>

#include "graph/signature.h"
#include "runner/torch/binder.h"
#include "runner/torch/value.h"

namespace assay::torch_runner {

// The arguments of a call, bound to the callee's signature.
class Arguments {
 public:
  Arguments(const graph::Callee& callee, const graph::Binding& binding, std::vector<Value> values);

  // The argument, or the signature's default.
  const Value& operator[](std::string_view name) const;
  // Whether it was given.
  bool given(std::string_view name) const;
  // All positional arguments that a `*name` collected; one sequence given in their place counts as them.
  std::vector<Value> Variadic(std::string_view name) const;

  // All arguments as written: by position, then by keyword.
  const std::vector<Value>& written() const { return values_; }

  // Arguments that must be settled when the graph is bound; what they are is in the message otherwise.
  bool Bool(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  std::string_view String(std::string_view name) const;

 private:
  size_t IndexOf(std::string_view name) const;
  const graph::Callee& callee_;
  const graph::Binding& binding_;
  std::vector<Value> values_;    // as written
  std::vector<Value> defaults_;  // by parameter
};

using Composite = Value (*)(Binder& binder, const Arguments& arguments);

// nullptr where there is none; `name` without "composite::".
Composite FindComposite(std::string_view name);

struct NamedComposite {
  std::string_view name;
  Composite function;
};
// The parts of the table that FindComposite() searches.
std::vector<NamedComposite> OperatorComposites();    // operators.cc
std::vector<NamedComposite> IndexingComposites();    // indexing.cc
std::vector<NamedComposite> TensorComposites();      // tensors.cc
std::vector<NamedComposite> FunctionalComposites();  // functional.cc
std::vector<NamedComposite> AttentionComposites();   // attention.cc
std::vector<NamedComposite> ScopeComposites();       // scope_composites.cc

// Python's a + b and so on, for values of any kind.
Value BinaryOperator(Binder& binder, std::string_view op, const Value& a, const Value& b);

}  // namespace assay::torch_runner
