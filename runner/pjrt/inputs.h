// The input sets of the loaded graph: parameters in private mappings of the worker's memory files, and on the device
// those that a program takes. A program never changes its arguments, so a buffer serves every call. Thread safety:
// none.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/safetensors.h"
#include "runner/memory_file.h"
#include "runner/pjrt/client.h"
#include "runner/pjrt/lowering.h"
#include "runner/unique_fd.h"

namespace assay::pjrt {

inline constexpr std::string_view kPublicSet = "public";

class Inputs {
 public:
  // `file` is the set `public` and must have every parameter of `graph`.
  static absl::StatusOr<Inputs> Make(const graph::Graph& graph, runner::UniqueFd file);

  // A further set, or another in the place of one of the same name. Tensors that it has not are those of `public`.
  absl::Status AddSet(std::string_view name, runner::UniqueFd file);

  // The parameters of `public` as the lowering wants them.
  const std::vector<LoweringParameter>& parameters() const { return parameters_; }

  // The buffers of a set for a program that takes the parameters `arguments` and whose text holds the values of
  // `constants`. NotFound where there is no such set; FailedPrecondition where it gives a constant another value.
  absl::StatusOr<std::vector<PJRT_Buffer*>> Arguments(const Client& client, int device, std::string_view set,
                                                      const std::vector<int>& arguments,
                                                      const std::vector<int>& constants);

 private:
  struct Tensor {
    std::span<const std::byte> bytes;
    bool own = false;  // not the one of `public`
    Buffer buffer;     // made when a program first takes it
    bool uploaded = false;
  };
  struct Set {
    runner::Mapping mapping;  // goes after the buffers that use it
    std::vector<Tensor> tensors;
  };
  Inputs() = default;

  std::map<std::string, Set, std::less<>> sets_;
  std::vector<LoweringParameter> parameters_;
};

}  // namespace assay::pjrt
