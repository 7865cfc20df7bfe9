// GraphNet sample folders on disk: model.py, weight_meta.py, graph_net.json and, often empty, input_meta.py.
// Thread safety: pure functions, apart from the file system.
#pragma once

#include <filesystem>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/parse.h"

namespace assay::graph {

// Reads the files of a sample; input_meta.py may be absent. NotFound names the file that is missing,
// ResourceExhausted one that is longer than limits.file_bytes.
absl::StatusOr<Sample> ReadSampleFolder(const std::filesystem::path& folder, const Limits& limits = {});

// Writes the four files, making the folder where there is none.
absl::Status WriteSampleFolder(const std::filesystem::path& folder, const Sample& sample);

// All folders at or under `root` that hold a model.py, sorted. Symbolic links to folders are not followed.
absl::StatusOr<std::vector<std::filesystem::path>> FindSampleFolders(const std::filesystem::path& root);

}  // namespace assay::graph
