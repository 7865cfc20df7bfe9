#include "client/sample_check.h"

#include <boost/json.hpp>

#include "client/text.h"
#include "fmt/format.h"
#include "graph/canonical.h"
#include "graph/replay.h"
#include "graph/sample_folder.h"
#include "graph/structure.h"

namespace assay::client {
namespace fs = std::filesystem;
namespace {

void Refuse(const absl::Status& status, CheckedSample& out) {
  if (std::optional<graph::Diagnostic> diagnostic = graph::DiagnosticOf(status); diagnostic.has_value()) {
    out.error = *std::move(diagnostic);
    return;
  }
  // "FOLDER/FILE: message": the folder is told already.
  const std::string whole = MessageOf(status);
  std::string_view message = whole;
  const std::string folder = (out.path / "").string();
  const size_t colon = message.find(": ", folder.size());
  if (message.starts_with(folder) && colon != std::string_view::npos) {
    out.error.file = std::string(message.substr(folder.size(), colon - folder.size()));
    message.remove_prefix(colon + 2);
  }
  out.error.message = std::string(message);
}

}  // namespace

CheckedSample CheckSample(const fs::path& folder, const graph::Limits& limits, bool synthesize) {
  CheckedSample out;
  out.path = folder;
  out.synthesized = synthesize && graph::NeedsSynthesis(folder);
  const absl::StatusOr<graph::Sample> sample = graph::ReadSampleFolder(folder, limits, synthesize);
  if (!sample.ok()) {
    Refuse(sample.status(), out);
    return out;
  }
  const absl::StatusOr<graph::Graph> graph = graph::Parse(*sample, limits);
  if (!graph.ok()) {
    Refuse(graph.status(), out);
    return out;
  }
  out.accepted = true;
  out.canonical = graph::Canonical(*graph);
  out.hash = graph::HashOfCanonical(out.canonical);
  out.structure = graph::StructureHash(*graph);
  out.operations = graph->operation_count();
  for (const auto& tensor : graph::PlanReplay(*graph, graph::ReplayPart::kAll).entries) {
    out.parameter_bytes += tensor.bytes;
  }
  return out;
}

std::string CheckJson(const CheckedSample& sample) {
  boost::json::object json = {{"path", sample.path.string()}, {"accepted", sample.accepted}};
  if (sample.synthesized) json["synthesized"] = true;
  if (sample.accepted) {
    json["hash"] = sample.hash;
    json["structure"] = sample.structure;
    json["operations"] = sample.operations;
    json["parameter_bytes"] = sample.parameter_bytes;
  } else {
    json["error"] = {{"file", sample.error.file},
                     {"line", sample.error.line},
                     {"column", sample.error.column},
                     {"message", sample.error.message}};
  }
  return boost::json::serialize(json);
}

std::string CheckText(const CheckedSample& sample) {
  if (sample.accepted) {
    return fmt::format("{}: accepted{}, {} operations, {}", sample.path.string(),
                       sample.synthesized ? " with synthesised metadata" : "", sample.operations, sample.hash);
  }
  const graph::Diagnostic& error = sample.error;
  std::string place = error.file;
  if (error.line > 0) place += fmt::format(":{}:{}", error.line, error.column);
  if (!place.empty()) place += ": ";
  return fmt::format("{}: refused: {}{}", sample.path.string(), place, error.message);
}

std::string ReasonKind(const graph::Diagnostic& error) {
  std::string kind;
  bool quoted = false, digits = false;
  for (const char c : error.message) {
    if (c == '\'' || c == '`') quoted = !quoted;
    const bool digit = !quoted && c >= '0' && c <= '9';
    if (digit && !digits) kind += 'N';
    if (!digit) kind += c;
    digits = digit;
  }
  return kind;
}

absl::StatusOr<std::vector<fs::path>> FindSamples(const std::vector<std::string>& roots) {
  std::vector<fs::path> folders;
  for (const std::string& root : roots) {
    absl::StatusOr<std::vector<fs::path>> found = graph::FindSampleFolders(root);
    if (!found.ok()) return found.status();
    if (found->empty()) {
      return absl::NotFoundError(
          fmt::format("no sample in {}: a sample is a folder with model.py, weight_meta.py and graph_net.json, or a "
                      "StableHLO module in a file NAME.stablehlo.mlir",
                      root));
    }
    folders.insert(folders.end(), found->begin(), found->end());
  }
  return folders;
}

}  // namespace assay::client
