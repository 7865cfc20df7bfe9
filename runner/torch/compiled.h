// A compiled form of the loaded graph: something that can be called.
// Thread safety: none.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <boost/json.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runner/torch/program.h"

namespace assay::torch_runner {

class Compiled {
 public:
  virtual ~Compiled() = default;
  virtual std::vector<c10::IValue> Call(std::span<const at::Tensor> inputs) = 0;
  // Calls that belong to the compilation, because they change what is run.
  virtual int warm_up_calls() const = 0;
  // graph.txt: what is run, as text. After the warm-up calls.
  virtual std::string Text() const = 0;
  // As Call(), telling how long each operation took; false where this form has no operations of its own.
  virtual bool Profile(std::span<const at::Tensor> inputs, const Observer& observer) { return false; }
};

// `describe.compilers`.
boost::json::array DescribeCompilers();

// What a compiler is given.
struct CompileRequest {
  std::string compiler;
  boost::json::object options;
  std::shared_ptr<const Program> program;
  c10::Device device;
  std::span<const at::Tensor> inputs;       // of the set `public`
  const std::vector<bool>& constant;        // parameters that may be frozen
  std::span<const std::string> names;       // of the parameters
  std::optional<std::string_view> lowered;  // what another runner made of the graph
};

// InvalidArgument for a compiler or an option that DescribeCompilers() does not list; throws what the compiler throws.
absl::StatusOr<std::unique_ptr<Compiled>> Compile(const CompileRequest& request);

}  // namespace assay::torch_runner
