// What Assay makes of a GraphNet sample folder: read, parsed, re-printed, or refused with the place and the reason.
// Nothing of a sample is executed.
// Thread safety: pure functions, apart from the file system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/parse.h"

namespace assay::client {

struct CheckedSample {
  std::filesystem::path path;
  bool accepted = false;
  bool synthesized = false;  // the descriptions of its tensors were made up (graph/synthesize_meta.h)
  // Of an accepted one.
  std::string hash;
  std::string structure;  // graph/structure.h
  int64_t operations = 0;
  int64_t parameter_bytes = 0;
  graph::Sample canonical;
  // Of a refused one.
  graph::Diagnostic error;
};

CheckedSample CheckSample(const std::filesystem::path& folder, const graph::Limits& limits = {},
                          bool synthesize = false);

// One line of JSON: path, accepted, hash, structure, operations and parameter_bytes, or error {file, line, column,
// message}.
std::string CheckJson(const CheckedSample& sample);
// "PATH: model.py:12:7: message" or "PATH: accepted …".
std::string CheckText(const CheckedSample& sample);

// The kind of a refusal: its message without what differs from graph to graph (quoted names stay, numbers go).
std::string ReasonKind(const graph::Diagnostic& error);

// The sample folders at or under each of these; NotFound where one has none.
absl::StatusOr<std::vector<std::filesystem::path>> FindSamples(const std::vector<std::string>& roots);

}  // namespace assay::client
