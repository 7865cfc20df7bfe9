// A graph that AOTInductor compiled ahead of time: a package of native code, made by another runner (`lower` of the
// Python runner), loaded here and called without Python. The code is the compiler's product and runs with this
// process's rights: it belongs into the sandbox of a trial, as this runner is. Thread safety: none.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace torch::inductor {
class AOTIModelPackageLoader;
}

namespace assay::torch_runner {

class AotPackage {
 public:
  // `bytes` is a line of JSON (runner/python/assay_runner/aot.py describes it) and, behind it, the package. Its inputs
  // are bound to the graph's parameters by their names. InvalidArgument where `bytes` is not that; throws what the
  // loader throws.
  static absl::StatusOr<std::unique_ptr<AotPackage>> Load(std::string_view bytes,
                                                          std::span<const std::string> parameters, c10::Device device);
  ~AotPackage();

  // `inputs` are all of the graph's parameters, in its order. Throws where one that became part of the code has another
  // value.
  std::vector<c10::IValue> Run(std::span<const at::Tensor> inputs);

  // The generated C++.
  const std::string& source() const { return source_; }

 private:
  AotPackage();
  absl::Status ReadManifest(std::string_view line, std::span<const std::string> parameters);

  struct Output {
    int64_t tensor = -1;  // of the package's results; −1: the number
    c10::IValue number;
  };
  std::vector<int32_t> inputs_;                         // the parameter of each of the package's inputs
  std::vector<std::pair<int32_t, int64_t>> constants_;  // parameter and the value that it must have
  std::vector<Output> outputs_;
  class Folder;
  std::unique_ptr<Folder> folder_;  // with the unpacked package, until it was called once: kernels may be read then
  std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader_;
  std::string source_;
};

}  // namespace assay::torch_runner
