#include "runner/pjrt/inputs.h"

#include <string.h>

#include <algorithm>

#include "graph/text.h"
#include "runner/pjrt/status.h"

namespace assay::pjrt {
namespace {

using graph::Cat;

struct OpenFile {
  runner::Mapping mapping;
  graph::TensorLayout layout;
};

absl::StatusOr<OpenFile> Open(runner::UniqueFd fd) {
  OpenFile file;
  absl::StatusOr<runner::Mapping> mapping = runner::MapPrivate(fd.get());
  if (!mapping.ok()) return mapping.status();
  file.mapping = *std::move(mapping);
  const auto bytes = file.mapping.bytes();
  absl::StatusOr<graph::TensorLayout> layout = graph::ReadTensorHeader(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, static_cast<int64_t>(bytes.size()));
  if (!layout.ok()) return layout.status();
  file.layout = *std::move(layout);
  return file;
}

std::span<const std::byte> BytesOf(const OpenFile& file, const graph::TensorLayout::Entry& entry) {
  return file.mapping.bytes().subspan(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.bytes));
}

}  // namespace

absl::StatusOr<Inputs> Inputs::Make(const graph::Graph& graph, runner::UniqueFd fd) {
  absl::StatusOr<OpenFile> file = Open(std::move(fd));
  if (!file.ok()) return file.status();
  Inputs inputs;
  Set set;
  for (const graph::Parameter& parameter : graph.parameters) {
    const graph::TensorLayout::Entry* entry = file->layout.Find(parameter.name);
    if (entry == nullptr) return absl::InvalidArgumentError(Cat("the tensors have no parameter ", parameter.name));
    LoweringParameter one{entry->spec, BytesOf(*file, *entry), parameter.annotation == graph::Annotation::kSymInt};
    if (one.number && !one.spec.shape.empty()) {
      return absl::InvalidArgumentError(Cat("the number ", parameter.name, " came as a tensor that is not 0-dim"));
    }
    set.tensors.push_back({one.bytes, true, Buffer(), false});
    inputs.parameters_.push_back(std::move(one));
  }
  set.mapping = std::move(file->mapping);
  inputs.sets_.emplace(kPublicSet, std::move(set));
  return inputs;
}

absl::Status Inputs::AddSet(std::string_view name, runner::UniqueFd fd) {
  if (name == kPublicSet) return absl::InvalidArgumentError("the set public comes with `load` and stays");
  absl::StatusOr<OpenFile> file = Open(std::move(fd));
  if (!file.ok()) return file.status();
  Set set;
  for (const LoweringParameter& parameter : parameters_) {
    const graph::TensorLayout::Entry* entry = file->layout.Find(parameter.spec.name);
    Tensor tensor;
    if (entry != nullptr) {
      if (entry->spec.dtype != parameter.spec.dtype || entry->spec.shape != parameter.spec.shape) {
        return absl::InvalidArgumentError(Cat("the tensor ", parameter.spec.name, " of the set ", name,
                                              " has another dtype or shape than in public"));
      }
      tensor.bytes = BytesOf(*file, *entry);
      tensor.own = true;
    }
    set.tensors.push_back(std::move(tensor));
  }
  set.mapping = std::move(file->mapping);
  if (const auto old = sets_.find(name); old != sets_.end()) sets_.erase(old);
  sets_.emplace(std::string(name), std::move(set));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PJRT_Buffer*>> Inputs::Arguments(const Client& client, int device, std::string_view name,
                                                            const std::vector<int>& arguments,
                                                            const std::vector<int>& constants) {
  const auto found = sets_.find(name);
  if (found == sets_.end()) return absl::NotFoundError(Cat("there is no input set ", name));
  std::vector<Tensor>& own = found->second.tensors;
  std::vector<Tensor>& shared = sets_.find(kPublicSet)->second.tensors;
  for (const int index : constants) {
    const auto i = static_cast<size_t>(index);
    if (own[i].own && !std::ranges::equal(own[i].bytes, shared[i].bytes)) {
      return absl::FailedPreconditionError(Cat("the program holds the value of ", parameters_[i].spec.name,
                                               " as a constant, and the set ", name, " gives it another"));
    }
  }
  std::vector<PJRT_Buffer*> buffers;
  for (const int index : arguments) {
    const auto i = static_cast<size_t>(index);
    Tensor& tensor = own[i].own ? own[i] : shared[i];
    if (!tensor.uploaded) {
      const graph::TensorSpec& spec = parameters_[i].spec;
      absl::StatusOr<Buffer> buffer = client.Upload(device, spec.dtype, spec.shape, tensor.bytes);
      if (!buffer.ok()) {
        return Annotated(buffer.status(), Cat("the parameter ", spec.name, " cannot go to the device"));
      }
      tensor.buffer = *std::move(buffer);
      tensor.uploaded = true;
    }
    buffers.push_back(tensor.buffer.get());
  }
  return buffers;
}

}  // namespace assay::pjrt
