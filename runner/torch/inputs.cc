#include "runner/torch/inputs.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cstring>
#include <unordered_map>

#include "graph/text.h"
#include "runner/torch/dtypes.h"

namespace assay::torch_runner {

absl::Status Inputs::Fill(const graph::Graph& graph, runner::UniqueFd fd, Set& set, bool all) {
  auto file = std::make_shared<File>();
  file->fd = std::move(fd);
  absl::StatusOr<runner::Mapping> mapping = runner::MapPrivate(file->fd.get());
  if (!mapping.ok()) return mapping.status();
  file->used = std::move(*mapping);
  const std::span<std::byte> bytes = file->used.bytes();
  absl::StatusOr<graph::TensorLayout> layout = graph::ReadTensorHeader(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, static_cast<int64_t>(bytes.size()));
  if (!layout.ok()) return layout.status();
  file->layout = std::move(*layout);
  std::unordered_map<std::string_view, size_t> entries;
  for (size_t i = 0; i < file->layout.entries.size(); ++i) entries[file->layout.entries[i].spec.name] = i;
  size_t used = 0;
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    const std::string& name = graph.parameters[i].name;
    const auto found = entries.find(name);
    if (found == entries.end()) {
      if (all)
        return absl::InvalidArgumentError(graph::Cat("the tensors have no \"", name, "\", which the graph takes"));
      continue;
    }
    ++used;
    const graph::TensorLayout::Entry& entry = file->layout.entries[found->second];
    if (entry.offset % graph::kTensorAlignment != 0) {
      return absl::InvalidArgumentError(
          graph::Cat("tensor \"", name, "\" is at ", entry.offset, ", no multiple of ", graph::kTensorAlignment));
    }
    const auto options = at::TensorOptions().dtype(ToScalarType(entry.spec.dtype));
    at::Tensor tensor = entry.bytes == 0 ? at::empty(entry.spec.shape, options)
                                         : at::from_blob(bytes.data() + entry.offset, entry.spec.shape, options);
    if (!all && (tensor.sizes() != set.tensors[i].sizes() || tensor.scalar_type() != set.tensors[i].scalar_type())) {
      return absl::InvalidArgumentError(
          graph::Cat("tensor \"", name, "\" has another shape or dtype than in `public`"));
    }
    set.tensors[i] = device_.is_cpu() ? tensor : tensor.to(device_);
    set.places[i] = {file, found->second};
  }
  if (used != entries.size()) {
    for (const graph::Parameter& parameter : graph.parameters) entries.erase(parameter.name);
    return absl::InvalidArgumentError(graph::Cat("the graph takes no tensor \"", entries.begin()->first, "\""));
  }
  return absl::OkStatus();
}

absl::Status Inputs::SetPublic(const graph::Graph& graph, runner::UniqueFd file) {
  Set set;
  set.tensors.resize(graph.parameters.size());
  set.places.resize(graph.parameters.size());
  if (absl::Status status = Fill(graph, std::move(file), set, /*all=*/true); !status.ok()) return status;
  sets_.clear();
  sets_.emplace(kPublicSet, std::move(set));
  return absl::OkStatus();
}

absl::Status Inputs::AddSet(const graph::Graph& graph, std::string_view name, runner::UniqueFd file) {
  if (name == kPublicSet) return absl::InvalidArgumentError("the set `public` came with `load` and cannot be replaced");
  Set set = sets_.find(kPublicSet)->second;
  if (absl::Status status = Fill(graph, std::move(file), set, /*all=*/false); !status.ok()) return status;
  sets_[std::string(name)] = std::move(set);
  return absl::OkStatus();
}

const std::vector<at::Tensor>* Inputs::Find(std::string_view name) const {
  const auto found = sets_.find(name);
  return found == sets_.end() ? nullptr : &found->second.tensors;
}

absl::Status Inputs::Restore(std::string_view name) {
  at::NoGradGuard no_grad;
  Set& set = sets_.find(name)->second;
  for (int32_t i : mutated_) {
    File& file = *set.places[i].file;
    const graph::TensorLayout::Entry& entry = file.layout.entries[set.places[i].entry];
    if (entry.bytes == 0) continue;
    if (file.pristine.bytes().empty()) {
      absl::StatusOr<runner::Mapping> mapping = runner::MapPrivate(file.fd.get());
      if (!mapping.ok()) return mapping.status();
      file.pristine = std::move(*mapping);
    }
    std::byte* const first = file.pristine.bytes().data() + entry.offset;
    if (device_.is_cpu()) {
      std::memcpy(set.tensors[i].data_ptr(), first, entry.bytes);
    } else {
      set.tensors[i].copy_(
          at::from_blob(first, entry.spec.shape, at::TensorOptions().dtype(ToScalarType(entry.spec.dtype))));
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::torch_runner
