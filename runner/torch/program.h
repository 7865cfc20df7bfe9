// A bound graph: a flat list of instructions, each a resolved operator handle (or a host function) with its arguments
// as constants and slots. Everything that can be settled before a call is settled here: overloads, keyword arguments,
// constants, conversions, where values are freed.
//
// A slot holds a value during one run. Slots 0 … parameters-1 are the graph's parameters.
// Thread safety: a Program is immutable after it was bound; Run() may be called by one thread at a time for one set of
// inputs.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::torch_runner {

// What happens to a value on its way into an argument.
enum class Convert : uint8_t {
  kNone,
  kTensorToInt,  // a 0-dim tensor where Python would call __index__
  kTensorToFloat,
  kTensorToBool,
  kTensorToScalar,
  kNumberToTensor,  // a Python number where a tensor is wanted: takes part in type promotion as a number
  kIntToFloat,
};

struct Operand {
  enum class Kind : uint8_t { kConstant, kSlot, kList };
  Kind kind = Kind::kConstant;
  Convert convert = Convert::kNone;  // of kSlot
  int32_t slot = -1;                 // of kSlot
  c10::IValue constant;              // of kConstant
  c10::IValue number;                // of kConstant: the Python number that `constant` wraps in a tensor, else None
  std::vector<Operand> items;        // of kList
  c10::TypePtr element;              // of kList
};

// A function of the host that stands for a Python operation that is no ATen operator: arithmetic on numbers, vmap
// levels.
struct HostFunction {
  const char* name;
  void (*run)(c10::Stack& stack);  // takes its arguments off the stack, leaves its results
  const char* torchscript;         // the operator of TorchScript that does the same, nullptr where there is none
};

struct Instruction {
  std::optional<c10::OperatorHandle> op;  // or:
  const HostFunction* host = nullptr;
  std::vector<Operand> operands;
  std::vector<int32_t> results;  // slots; -1 where a result is dropped
  bool unpack = false;           // the single result is a list, whose items are the results
  std::vector<int32_t> frees;    // slots that nothing after this instruction reads
  int32_t operation = 0;         // of the graph, for messages
  c10::TypePtr host_type;        // of a host function's result; of one tensor, its rank

  std::string name() const;  // "aten::add.Tensor"
};

struct Program {
  std::vector<Instruction> instructions;
  int32_t parameters = 0;
  int32_t slots = 0;
  std::vector<Operand> outputs;
  std::vector<int32_t> mutated;  // parameters
  bool random = false;           // draws random numbers: the caller seeds before a run
  bool scoped = false;           // enters and leaves scopes (vmap levels, autocast), which Run() undoes after an error
};

// The value of an operand: slots are read from `slots`.
c10::IValue Evaluate(const Operand& operand, const std::vector<c10::IValue>& slots);

// Runs one instruction. `stack` is scratch space.
void Execute(const Instruction& instruction, std::vector<c10::IValue>& slots, c10::Stack& stack);

// One line an instruction: "%7 = aten::add.Tensor(%3, %5, 1)".
std::string ToText(const Program& program);

// Called after each instruction of a profiled run.
using Observer = std::function<void(const Instruction&, int64_t nanoseconds)>;

// The seed that every run of a program that draws random numbers starts from.
inline constexpr uint64_t kSeed = 0;

// Runs all of it under no_grad. `slots` is scratch space that may be kept between runs. Throws what the operators
// throw.
std::vector<c10::IValue> Run(const Program& program, std::span<const at::Tensor> inputs,
                             std::vector<c10::IValue>& slots, const Observer* observer = nullptr);

}  // namespace assay::torch_runner
