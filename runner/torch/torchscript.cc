#include "runner/torch/torchscript.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/StringUtil.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/frozen_graph_optimizations.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "runner/torch/errors.h"
#include "runner/torch/host_functions.h"
#include "runner/torch/vmap_translation.h"

namespace assay::torch_runner {
namespace {

namespace jit = ::torch::jit;

class Translator {
 public:
  Translator(const Program& program, std::span<const at::Tensor> inputs, const std::vector<bool>& frozen)
      : program_(program),
        graph_(std::make_shared<jit::Graph>()),
        slots_(program.slots, nullptr),
        vmap_(program, *graph_, slots_, RanksOf(program, inputs)) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      slots_[i] = frozen[i] ? graph_->insertConstant(inputs[i]) : graph_->addInput();
    }
  }

  std::shared_ptr<jit::Graph> Translate() {
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      if (vmap_.Translate(i, [this](const Instruction& instruction) { TranslateOperator(instruction); })) continue;
      const Instruction& instruction = program_.instructions[i];
      if (instruction.op) {
        TranslateOperator(instruction);
      } else {
        TranslateHost(instruction);
      }
    }
    for (const Operand& output : program_.outputs) graph_->registerOutput(ToValue(output));
    return graph_;
  }

 private:
  jit::Value* Insert(const char* name, const std::vector<jit::NamedValue>& arguments) {
    return graph_->insert(c10::Symbol::fromQualString(name), arguments);
  }

  jit::Value* ToValue(const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::kConstant:
        return graph_->insertConstant(operand.constant);
      case Operand::Kind::kSlot:
        return Converted(slots_[operand.slot], operand.convert);
      case Operand::Kind::kList:
        break;
    }
    std::vector<jit::Value*> items;
    for (const Operand& item : operand.items) items.push_back(ToValue(item));
    jit::Node* node = graph_->create(c10::prim::ListConstruct, items, 1);
    node->output()->setType(c10::ListType::create(operand.element));
    return graph_->insertNode(node)->output();
  }

  jit::Value* Converted(jit::Value* value, Convert convert) {
    switch (convert) {
      case Convert::kNone:
        return value;
      case Convert::kTensorToInt:
        return Insert("aten::Int", {value});
      case Convert::kTensorToFloat:
        return Insert("aten::Float", {value});
      case Convert::kTensorToBool:
        return Insert("aten::Bool", {value});
      case Convert::kTensorToScalar:
        return Insert("aten::item", {value});
      case Convert::kNumberToTensor:
        return value;  // the overload that takes a number
      case Convert::kIntToFloat:
        return Insert("aten::Float", {value});
    }
    return value;
  }

  // TorchScript's Scalar has no booleans. Where a number only fills a tensor whose dtype is settled elsewhere, 0 and 1
  // serve.
  static bool FillsWithBoolean(const Instruction& instruction, size_t i) {
    const c10::FunctionSchema& schema = instruction.op->schema();
    const Operand& operand = instruction.operands[i];
    if (operand.kind != Operand::Kind::kConstant || !operand.constant.isBool() ||
        schema.arguments()[i].type()->kind() != c10::TypeKind::NumberType) {
      return false;
    }
    if (schema.name() == "aten::masked_fill" || schema.name() == "aten::masked_fill_" ||
        schema.name() == "aten::fill_" || schema.name() == "aten::full_like") {
      return true;
    }
    const std::optional<int> dtype = schema.argumentIndexWithName("dtype");
    return schema.name() == "aten::full" && dtype && instruction.operands[*dtype].kind == Operand::Kind::kConstant &&
           !instruction.operands[*dtype].constant.isNone();
  }

  void TranslateOperator(const Instruction& instruction) {
    const c10::FunctionSchema& schema = instruction.op->schema();
    std::string name = schema.name();
    if (name == "aten::sym_size") name = "aten::size";
    std::vector<jit::Value*> inputs;
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const Operand& operand = instruction.operands[i];
      if (FillsWithBoolean(instruction, i)) {
        inputs.push_back(graph_->insertConstant(int64_t{operand.constant.toBool()}));
        continue;
      }
      // Where eager has a number wrapped in a tensor, TorchScript has an overload that takes numbers, which its passes
      // know.
      inputs.push_back(i > 0 && !operand.number.isNone() ? graph_->insertConstant(operand.number) : ToValue(operand));
    }
    jit::Node* node = graph_->create(c10::Symbol::fromQualString(name), inputs, schema.returns().size());
    for (size_t i = 0; i < schema.returns().size(); ++i) node->output(i)->setType(schema.returns()[i].type());
    graph_->insertNode(node);
    if (node->maybeSchema() == nullptr) throw Unsupported(c10::str("TorchScript has no operator ", instruction.name()));
    jit::Node* results = node;
    if (instruction.unpack) {
      results = graph_->insertNode(graph_->create(c10::prim::ListUnpack, {node->output()}, instruction.results.size()));
    }
    for (size_t i = 0; i < instruction.results.size(); ++i) {
      if (instruction.results[i] >= 0) slots_[instruction.results[i]] = results->output(i);
    }
  }

  void TranslateHost(const Instruction& instruction) {
    const HostFunction* host = instruction.host;
    // Checks and switches that change nothing here: gradients are off for all of the graph.
    if (host == &kAssertScalar || host == &kSetGradEnabled || host == &kExitAutocast) return;
    if (host == &kEnterAutocast && instruction.operands[2].constant.isBool() &&
        !instruction.operands[2].constant.toBool())
      return;
    if (host->torchscript == nullptr) throw Unsupported(c10::str("TorchScript has nothing that does ", host->name));
    std::vector<jit::NamedValue> arguments;
    for (const Operand& operand : instruction.operands) arguments.emplace_back(ToValue(operand));
    const char* name = host->torchscript;
    if (host == &kItem) {
      const auto kind = instruction.host_type->kind();
      name = kind == c10::TypeKind::IntType     ? "aten::Int"
             : kind == c10::TypeKind::FloatType ? "aten::Float"
                                                : "aten::Bool";
    }
    slots_[instruction.results[0]] = Insert(name, arguments);
  }

  const Program& program_;
  std::shared_ptr<jit::Graph> graph_;
  std::vector<jit::Value*> slots_;
  VmapTranslation vmap_;
};

// Sets TorchScript's fuser for as long as it lives.
class FuserGuard {
 public:
  explicit FuserGuard(bool enabled) : before_(jit::tensorExprFuserEnabled()) {
    jit::setTensorExprFuserEnabled(enabled);
  }
  ~FuserGuard() { jit::setTensorExprFuserEnabled(before_); }

 private:
  const bool before_;
};

}  // namespace

struct TorchScript::State {
  TorchScriptOptions options;
  std::vector<bool> frozen;
  std::unique_ptr<jit::GraphExecutor> executor;
  std::string text;
  int runs = 0;
};

TorchScript::TorchScript(const Program& program, std::span<const at::Tensor> inputs, const std::vector<bool>& constant,
                         const TorchScriptOptions& options)
    : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->frozen = options.freeze ? constant : std::vector<bool>(inputs.size(), false);
  for (int32_t parameter : program.mutated) state_->frozen[parameter] = false;
  std::shared_ptr<jit::Graph> graph = Translator(program, inputs, state_->frozen).Translate();
  if (options.freeze && options.optimize) {
    jit::ConstantPropagation(graph);
    jit::OptimizeFrozenGraph(graph);
    jit::PeepholeOptimize(graph);
  }
  state_->executor = std::make_unique<jit::GraphExecutor>(graph, "forward");
}

TorchScript::~TorchScript() = default;

int TorchScript::warm_up_runs() const {
  return state_->options.optimize ? static_cast<int>(jit::getNumProfiledRuns()) + 1 : 1;
}

std::vector<c10::IValue> TorchScript::Run(std::span<const at::Tensor> inputs) {
  at::NoGradGuard no_grad;
  jit::GraphOptimizerEnabledGuard optimize(state_->options.optimize);
  std::optional<FuserGuard> fuser;
  const bool warming = state_->runs < warm_up_runs();
  if (warming) fuser.emplace(state_->options.fuse);
  c10::Stack stack;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!state_->frozen[i]) stack.push_back(inputs[i]);
  }
  state_->executor->run(stack);
  if (warming && ++state_->runs == warm_up_runs()) {
    const auto graph = jit::lastExecutedOptimizedGraph();
    if (graph != nullptr) state_->text = graph->toString();
  }
  return stack;
}

std::string TorchScript::Text() const { return state_->text; }

}  // namespace assay::torch_runner
