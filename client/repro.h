// The folder that reproduces one outcome: sample/ (canonical), trial.json (an Assignment and the seed of its secret
// input set), expected.json (the Measurement) and run.sh. Thread safety: pure functions, apart from the file system.
#pragma once

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "assay/v1/evaluations.pb.h"
#include "assay/v1/suites.pb.h"

namespace assay::client {

// "repro-7-timm-resnet18"
std::string ReproFolderName(const std::string& evaluation, const std::string& graph);

// AlreadyExists where the folder does.
absl::Status WriteRepro(const std::filesystem::path& folder, const v1::Evaluation& evaluation, const std::string& graph,
                        const v1::Measurement& measurement, const v1::GraphSample& sample);

}  // namespace assay::client
