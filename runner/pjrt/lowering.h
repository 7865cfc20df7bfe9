// Asks the lowering process (runner/lowering) for the StableHLO text of a graph. What may be kept of it begins with the
// hash of all that the text depends on: the model, its parameters and the lowering's version. Thread safety: none.
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
  // `command` is empty where the worker's configuration names none.
  explicit Lowering(std::vector<std::string> command) : command_(std::move(command)) {}

  // `kept` is what was kept of an earlier lowering; anything that is not of this very graph and version counts as
  // nothing. InvalidArgument says what in the graph cannot be lowered; FailedPrecondition and Internal are about the
  // lowering process itself. `*keep` is for a later Lower() of the same graph, where this one learnt anything: that a
  // graph cannot be lowered as well.
  absl::StatusOr<Lowered> Lower(std::string_view model, const std::vector<LoweringParameter>& parameters,
                                std::string_view platform, std::string_view kept = {}, std::string* keep = nullptr);

  // What a lowered text depends on beside the graph, the parameters and the platform.
  absl::StatusOr<std::string> Version();

  // A serialised HLO module as text.
  absl::StatusOr<std::string> HloText(std::string_view module) const;

  bool configured() const { return !command_.empty(); }

 private:
  std::vector<std::string> command_;
  std::optional<std::string> version_;
};

// What the lowering process answered.
absl::StatusOr<Lowered> ParseLowered(std::string_view reply, size_t parameter_count);

}  // namespace assay::pjrt
