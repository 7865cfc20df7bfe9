#include "runner/torch/compiled.h"

#include <torch/version.h>

#include <utility>

#include "graph/text.h"
#include "runner/torch/aot_package.h"
#include "runner/torch/torchscript.h"

namespace assay::torch_runner {
namespace {

namespace json = boost::json;

// Calls the bound graph.
class Eager : public Compiled {
 public:
  explicit Eager(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::vector<c10::IValue> Call(std::span<const at::Tensor> inputs) override { return Run(*program_, inputs, slots_); }
  int warm_up_calls() const override { return 0; }
  bool Profile(std::span<const at::Tensor> inputs, const Observer& observer) override {
    Run(*program_, inputs, slots_, &observer);
    return true;
  }
  std::string Text() const override { return ToText(*program_); }

 private:
  const std::shared_ptr<const Program> program_;
  std::vector<c10::IValue> slots_;
};

class Scripted : public Compiled {
 public:
  Scripted(const Program& program, std::span<const at::Tensor> inputs, const std::vector<bool>& constant,
           const TorchScriptOptions& options)
      : script_(program, inputs, constant, options) {}
  std::vector<c10::IValue> Call(std::span<const at::Tensor> inputs) override { return script_.Run(inputs); }
  int warm_up_calls() const override { return script_.warm_up_runs(); }
  std::string Text() const override { return script_.Text(); }

 private:
  TorchScript script_;
};

class Packaged : public Compiled {
 public:
  explicit Packaged(std::unique_ptr<AotPackage> package) : package_(std::move(package)) {}
  std::vector<c10::IValue> Call(std::span<const at::Tensor> inputs) override { return package_->Run(inputs); }
  int warm_up_calls() const override { return 1; }
  std::string Text() const override { return package_->source(); }

 private:
  const std::unique_ptr<AotPackage> package_;
};

// A boolean option.
struct Flag {
  const char* name;
  bool TorchScriptOptions::*field;
  const char* description;
};
constexpr Flag kFlags[] = {
    {"freeze", &TorchScriptOptions::freeze,
     "Take parameters that the graph does not change for constants, and fold what they allow."},
    {"optimize", &TorchScriptOptions::optimize, "Let the executor profile and optimise the graph."},
    {"fuse", &TorchScriptOptions::fuse, "Let the executor fuse elementwise operations where this build can."},
};

json::object Schema(json::object properties) {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

absl::StatusOr<TorchScriptOptions> ParseOptions(const json::object& options) {
  TorchScriptOptions result;
  for (const auto& [name, value] : options) {
    const Flag* flag = nullptr;
    for (const Flag& candidate : kFlags) {
      if (name == candidate.name) flag = &candidate;
    }
    if (flag == nullptr)
      return absl::InvalidArgumentError(graph::Cat("torchscript has no option \"", std::string_view(name), "\""));
    if (!value.is_bool()) return absl::InvalidArgumentError(graph::Cat("option \"", flag->name, "\" is true or false"));
    result.*flag->field = value.get_bool();
  }
  return result;
}

}  // namespace

json::array DescribeCompilers() {
  json::object flags;
  const TorchScriptOptions defaults;
  for (const Flag& flag : kFlags) {
    flags[flag.name] = {{"type", "boolean"}, {"default", defaults.*flag.field}, {"description", flag.description}};
  }
  return {{{"name", "eager"}, {"version", TORCH_VERSION}, {"baseline", "eager"}, {"options", Schema({})}},
          {{"name", "torchscript"},
           {"version", TORCH_VERSION},
           {"baseline", "eager"},
           {"options", Schema(std::move(flags))}},
          {{"name", "inductor-aot"},
           {"version", TORCH_VERSION},
           {"baseline", "eager"},
           {"lowered_by", "python"},
           {"options", Schema({})}}};
}

absl::StatusOr<std::unique_ptr<Compiled>> Compile(const CompileRequest& request) {
  const std::string& compiler = request.compiler;
  if (compiler == "torchscript") {
    absl::StatusOr<TorchScriptOptions> parsed = ParseOptions(request.options);
    if (!parsed.ok()) return parsed.status();
    return std::make_unique<Scripted>(*request.program, request.inputs, request.constant, *parsed);
  }
  if (compiler != "eager" && compiler != "inductor-aot") {
    return absl::InvalidArgumentError(
        graph::Cat("this runner has no compiler \"", compiler, "\"; it has eager, torchscript and inductor-aot"));
  }
  if (!request.options.empty()) return absl::InvalidArgumentError(graph::Cat(compiler, " has no options here"));
  if (compiler == "eager") return std::make_unique<Eager>(request.program);
  if (!request.lowered) {
    return absl::InvalidArgumentError(
        "inductor-aot needs the descriptor \"lowered\": the package that the Python runner's `lower` made");
  }
  absl::StatusOr<std::unique_ptr<AotPackage>> package =
      AotPackage::Load(*request.lowered, request.names, request.device);
  if (!package.ok()) return package.status();
  return std::make_unique<Packaged>(*std::move(package));
}

}  // namespace assay::torch_runner
