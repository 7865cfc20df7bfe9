// Input sets: the graph's parameters as tensors that lie in private mappings of the worker's memory files, without a
// copy. Thread safety: none.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "runner/memory_file.h"
#include "runner/unique_fd.h"

namespace assay::torch_runner {

inline constexpr std::string_view kPublicSet = "public";

class Inputs {
 public:
  explicit Inputs(c10::Device device) : device_(device) {}

  // The set `public`, which must have every parameter. Takes the file.
  absl::Status SetPublic(const graph::Graph& graph, runner::UniqueFd file);
  // A further set, or another in the place of one of the same name.
  absl::Status AddSet(const graph::Graph& graph, std::string_view name, runner::UniqueFd file);

  // Parameters that running the graph changes: Restore() gives them their first values again.
  void SetMutated(std::vector<int32_t> mutated) { mutated_ = std::move(mutated); }
  const std::vector<int32_t>& mutated() const { return mutated_; }

  // The set's tensors in the order of the parameters; nullptr where there is no such set.
  const std::vector<at::Tensor>* Find(std::string_view name) const;
  absl::Status Restore(std::string_view name);

 private:
  // A memory file: mapped for use, and once more, untouched, when something in it must be restored.
  struct File {
    runner::UniqueFd fd;
    runner::Mapping used, pristine;
    graph::TensorLayout layout;
  };
  struct Place {
    std::shared_ptr<File> file;
    size_t entry = 0;
  };
  struct Set {
    std::vector<at::Tensor> tensors;
    std::vector<Place> places;
  };
  absl::Status Fill(const graph::Graph& graph, runner::UniqueFd file, Set& set, bool all);

  const c10::Device device_;
  std::map<std::string, Set, std::less<>> sets_;
  std::vector<int32_t> mutated_;
};

}  // namespace assay::torch_runner
