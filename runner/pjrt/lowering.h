// Asks the lowering process (runner/lowering) for the StableHLO text of a graph, and keeps texts in a cache folder
// where there is one. An entry's name is the hash of all that the text depends on: the model, its parameters and the
// lowering's version.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/safetensors.h"

namespace assay::pjrt {

struct LoweringParameter {
  graph::TensorSpec spec;
  std::span<const std::byte> bytes;
  bool number = false;  // torch.SymInt
};

struct Lowered {
  std::string stablehlo;
  std::vector<int> arguments;  // for each argument of @main, the parameter that it is
  std::vector<int> constants;  // parameters whose value became part of the text
  bool cached = false;
};

class Lowering {
 public:
  // `command` is empty where the worker's configuration names none; `cache_folder` may be empty.
  Lowering(std::vector<std::string> command, std::string cache_folder)
      : command_(std::move(command)), cache_folder_(std::move(cache_folder)) {}

  // InvalidArgument says what in the graph cannot be lowered; FailedPrecondition and Internal are about the lowering
  // process itself.
  absl::StatusOr<Lowered> Lower(std::string_view model, const std::vector<LoweringParameter>& parameters,
                                std::string_view platform);

  // A serialised HLO module as text.
  absl::StatusOr<std::string> HloText(std::string_view module) const;

  bool configured() const { return !command_.empty(); }

 private:
  absl::StatusOr<std::string> CacheFile(std::string_view request);

  std::vector<std::string> command_;
  std::string cache_folder_;
  std::optional<std::string> version_;
};

// What the lowering process answered.
absl::StatusOr<Lowered> ParseLowered(std::string_view reply, size_t parameter_count);

}  // namespace assay::pjrt
