// A compiled form of the loaded graph: something that can be called.
// Thread safety: none.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <boost/json.hpp>
#include <memory>
#include <span>
#include <string>
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

// Compiles with the compiler of that name. InvalidArgument for a compiler or an option that DescribeCompilers() does
// not list; throws what the compiler throws.
absl::StatusOr<std::unique_ptr<Compiled>> Compile(std::string_view compiler, const boost::json::object& options,
                                                  const std::shared_ptr<const Program>& program,
                                                  std::span<const at::Tensor> inputs,
                                                  const std::vector<bool>& constant);

}  // namespace assay::torch_runner
