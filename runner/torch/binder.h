// Builds a Program by running the graph once: every call is resolved to an operator and its converters by the values
// that it is given, recorded, and executed, so that the next call knows the kinds of its arguments.
// Thread safety: none.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "runner/torch/program.h"
#include "runner/torch/value.h"

namespace assay::torch_runner {

using Keywords = std::vector<std::pair<std::string_view, Value>>;

class Binder {
 public:
  explicit Binder(c10::Device device) : device_(device) {}

  // Calls an operator by its packet's name ("aten::add"). The overload is the one that Python's argument parser would
  // choose. The result: nothing, one value, or a sequence of several.
  Value Call(std::string_view packet, std::vector<Value> positional, const Keywords& keywords = {});
  // As Call, of a given overload ("aten::to.dtype").
  Value CallOverload(std::string_view overload, std::vector<Value> positional, const Keywords& keywords = {});
  // Calls a function of the host; `dynamic` where its result is not settled by that of its arguments.
  Value Host(const HostFunction& function, const std::vector<Value>& arguments, bool dynamic = false);

  // x.size(dim): a constant where the shape is settled.
  Value Size(const Value& tensor, int64_t dim);
  // int(x), x.item() where a number is wanted but a tensor may come; numbers pass.
  Value Number(const Value& value);

  c10::Device device() const { return device_; }
  void MarkScoped() { program_.scoped = true; }

  // For BindGraph().
  Value Parameter(const at::Tensor& tensor);
  void BeginOperation(int32_t index, bool random);
  Program Finish(const std::vector<Value>& outputs);

 private:
  struct Overload;
  static const std::vector<Overload>& OverloadsOf(std::string_view packet);
  Value Invoke(const Overload& overload, const std::vector<const Value*>& arguments);
  Operand ToOperand(const Value& value, Convert convert);
  Operand ToArgument(const c10::TypePtr& type, std::optional<int32_t> broadcast, const Value& value);
  Value Emit(Instruction instruction, bool dynamic);
  Value Result(const c10::IValue& value, bool dynamic, int32_t* slot);

  const c10::Device device_;
  Program program_;
  std::vector<c10::IValue> slots_;
  std::vector<int32_t> touched_;
  bool dynamic_arguments_ = false;
  int32_t operation_ = 0;
};

}  // namespace assay::torch_runner
