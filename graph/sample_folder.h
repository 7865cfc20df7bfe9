// Samples on disk: GraphNet's folders (model.py, weight_meta.py, graph_net.json and, often empty, input_meta.py), and
// StableHLO modules: a file NAME.stablehlo.mlir by itself, or a folder with model.stablehlo.mlir and, where its
// arguments are described, weight_meta.py and input_meta.py. Thread safety: pure functions, apart from the file system.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/parse.h"

namespace assay::graph {

// Reads a sample: a folder or a file as above; input_meta.py may be absent. NotFound names the file that is missing,
// ResourceExhausted one that is longer than limits.file_bytes. With `synthesize` a weight_meta.py that is missing is
// made up from input_tensor_constraints.py, where that is there (synthesize_meta.h).
absl::StatusOr<Sample> ReadSampleFolder(const std::filesystem::path& folder, const Limits& limits = {},
                                        bool synthesize = false);

// Whether a sample there needs `synthesize`, and can be read with it.
bool NeedsSynthesis(const std::filesystem::path& folder);

// Writes the four files, making the folder where there is none.
absl::Status WriteSampleFolder(const std::filesystem::path& folder, const Sample& sample);

// All samples at or under `root`, which may be one itself, sorted. Symbolic links to folders are not followed.
absl::StatusOr<std::vector<std::filesystem::path>> FindSampleFolders(const std::filesystem::path& root);

// What a sample is called: the path without the ending ".stablehlo.mlir".
std::string SampleName(const std::filesystem::path& sample);

}  // namespace assay::graph
