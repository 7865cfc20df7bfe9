#include "graph/sample_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "graph/info_parser.h"
#include "graph/stablehlo_lexer.h"
#include "graph/synthesize_meta.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModel = "model.py";
constexpr std::string_view kStableHloEnding = ".stablehlo.mlir";
constexpr char kStableHloInfo[] = "{\"framework\": \"stablehlo\"}\n";
constexpr const char* kWeightMeta = "weight_meta.py";
constexpr const char* kInputMeta = "input_meta.py";
constexpr const char* kInfo = "graph_net.json";

bool IsStableHloFile(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.size() > kStableHloEnding.size() && name.ends_with(kStableHloEnding);
}

absl::Status ReadFile(const fs::path& path, const Limits& limits, std::string* out) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::NotFoundError(Cat(path.string(),
                                   ": no such file; a sample has model.py, weight_meta.py and "
                                   "graph_net.json"));
  }
  if (!fs::is_regular_file(status)) return absl::InvalidArgumentError(Cat(path.string(), ": not a regular file"));
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::PermissionDeniedError(Cat(path.string(), ": cannot be opened: ", std::strerror(errno)));
  out->clear();
  // Read in pieces, whatever the file system says of the size.
  constexpr size_t kPiece = 1 << 20;
  for (;;) {
    const size_t before = out->size();
    out->resize(before + kPiece);
    file.read(out->data() + before, kPiece);
    out->resize(before + static_cast<size_t>(file.gcount()));
    if (out->size() > limits.file_bytes) {
      return absl::ResourceExhaustedError(Cat(path.string(), ": has more bytes than the limit of ", limits.file_bytes));
    }
    if (file.eof()) return absl::OkStatus();
    if (!file) return absl::DataLossError(Cat(path.string(), ": cannot be read to its end"));
  }
}

absl::Status WriteFile(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return absl::InternalError(Cat(path.string(), ": cannot be written: ", std::strerror(errno)));
  return absl::OkStatus();
}

}  // namespace

bool NeedsSynthesis(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kModel, error) && !fs::exists(folder / kWeightMeta, error) &&
         fs::exists(folder / kConstraintsFile, error);
}

absl::StatusOr<Sample> ReadSampleFolder(const fs::path& folder, const Limits& limits, bool synthesize) {
  Sample sample;
  std::error_code error;
  const bool file = IsStableHloFile(folder) && !fs::is_directory(folder, error);
  if (file || fs::exists(folder / kStableHloFile, error)) {
    sample.info = kStableHloInfo;
    const fs::path module = file ? folder : folder / kStableHloFile;
    if (absl::Status status = ReadFile(module, limits, &sample.model); !status.ok()) return status;
    if (module.filename() != kStableHloFile) return sample;
    // These describe the file of this very name only.
    for (const auto& [name, text] : {std::pair{kWeightMeta, &sample.weight_meta}, {kInputMeta, &sample.input_meta}}) {
      const absl::Status status = ReadFile(module.parent_path() / name, limits, text);
      if (!status.ok() && !absl::IsNotFound(status)) return status;
    }
    return sample;
  }
  const bool needs_synthesis = NeedsSynthesis(folder);
  for (const auto& [name, text] : {std::pair{kModel, &sample.model},
                                   {kWeightMeta, &sample.weight_meta},
                                   {kInfo, &sample.info},
                                   {kInputMeta, &sample.input_meta}}) {
    if (name == kWeightMeta && needs_synthesis && synthesize) continue;
    const absl::Status status = ReadFile(folder / name, limits, text);
    if (absl::IsNotFound(status) && name == kInputMeta) continue;
    if (absl::IsNotFound(status) && name == kWeightMeta && needs_synthesis) {
      return absl::NotFoundError(Cat((folder / name).string(),
                                     ": no such file; with --synthesize-metadata it is made up from ",
                                     kConstraintsFile));
    }
    if (!status.ok()) return status;
  }
  if (needs_synthesis && synthesize) {
    std::string constraints;
    if (absl::Status status = ReadFile(folder / kConstraintsFile, limits, &constraints); !status.ok()) return status;
    absl::StatusOr<std::string> weight_meta = SynthesizeWeightMeta(sample.model, constraints, limits);
    if (!weight_meta.ok()) return weight_meta.status();
    sample.weight_meta = *std::move(weight_meta);
  }
  return sample;
}

absl::Status WriteSampleFolder(const fs::path& folder, const Sample& sample) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::InternalError(Cat(folder.string(), ": cannot be made: ", error.message()));
  const absl::StatusOr<SampleInfo> info = ParseInfoFile(sample.info, {});
  const bool stablehlo = info.ok() && info->framework == kStableHloFramework;
  const std::string model(stablehlo ? kStableHloFile : kModel);
  for (const auto& [name, text] : {std::pair{model.c_str(), &sample.model},
                                   {kWeightMeta, &sample.weight_meta},
                                   {kInfo, &sample.info},
                                   {kInputMeta, &sample.input_meta}}) {
    if (absl::Status status = WriteFile(folder / name, *text); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<fs::path>> FindSampleFolders(const fs::path& root) {
  std::error_code error;
  std::vector<fs::path> samples;
  if (IsStableHloFile(root) && fs::is_regular_file(root, error)) return std::vector<fs::path>{root};
  if (!fs::is_directory(root, error)) return absl::NotFoundError(Cat(root.string(), ": no such folder"));
  const auto is_sample = [](const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(folder / kModel, ignored) || fs::exists(folder / kStableHloFile, ignored);
  };
  if (is_sample(root)) samples.push_back(root);
  fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    const fs::path& path = it->path();
    const bool module = IsStableHloFile(path) && path.filename() != kStableHloFile;
    if (it->is_directory(ignored) ? is_sample(path) : module) samples.push_back(path);
  }
  if (error) return absl::InternalError(Cat(root.string(), ": cannot be listed: ", error.message()));
  std::sort(samples.begin(), samples.end());
  return samples;
}

std::string SampleName(const fs::path& sample) {
  std::string name = sample.generic_string();
  if (name.ends_with(kStableHloEnding)) name.resize(name.size() - kStableHloEnding.size());
  return name;
}

}  // namespace assay::graph
