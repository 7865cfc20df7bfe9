#include "graph/parse.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "graph/diagnostic.h"
#include "graph/info_parser.h"
#include "graph/meta_parser.h"
#include "graph/model_parser.h"
#include "graph/stablehlo_parser.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

constexpr std::string_view kWeightMeta = "weight_meta.py";
constexpr std::string_view kInputMeta = "input_meta.py";

absl::Status Refuse(std::string_view file, Location at, std::string_view message) {
  return Refusal(absl::StatusCode::kInvalidArgument, file, at.line, at.column, message);
}

// Gives each tensor description to the parameter of its name.
class Matcher {
 public:
  Matcher(Graph& graph, const std::vector<Location>& locations, const Limits& limits)
      : graph_(graph), locations_(locations), limits_(limits), found_(graph.parameters.size(), false) {}

  absl::Status Take(std::vector<ParsedMeta> metas, std::string_view file) {
    for (ParsedMeta& parsed : metas) {
      const std::optional<size_t> index = Find(parsed.meta.name);
      if (!index) {
        return Refuse(file, parsed.location,
                      Cat("the tensor ", Quoted(parsed.meta.name), " is not a parameter of forward"));
      }
      Parameter& parameter = graph_.parameters[*index];
      if (found_[*index]) {
        return Refuse(file, parsed.location, Cat("the tensor ", Quoted(parsed.meta.name), " is described twice"));
      }
      found_[*index] = true;
      if (graph_.stablehlo) {
        if (parsed.meta.shape != parameter.meta.shape || parsed.meta.dtype != parameter.meta.dtype) {
          return Refuse(
              file, parsed.location,
              Cat("the tensor ", Quoted(parsed.meta.name), " is not of the type that the argument of @main has"));
        }
        if (file == kWeightMeta) parameter.annotation = Annotation::kParameter;
      }
      parameter.meta = std::move(parsed.meta);
      const TensorMeta& meta = parameter.meta;
      if (parameter.annotation == Annotation::kSymInt && !(IsIntegral(meta.dtype) && ElementCount(meta.shape) == 1)) {
        return Refuse(file, parsed.location,
                      Cat("the tensor ", Quoted(meta.name), " is annotated torch.SymInt in ", kModelFile,
                          ", so it must be one integer"));
      }
      bytes_ += ElementCount(meta.shape) * ElementSize(meta.dtype);
      if (bytes_ > limits_.total_bytes) {
        return Refusal(absl::StatusCode::kResourceExhausted, file, parsed.location.line, parsed.location.column,
                       Cat("the tensors up to here have more bytes than the limit of ", limits_.total_bytes));
      }
    }
    return absl::OkStatus();
  }

  // Of a StableHLO graph what is not described has a description of its own: numbers around 0, integers 0 and 1.
  absl::Status CheckAllFound() {
    for (size_t i = 0; graph_.stablehlo && i < found_.size(); ++i) {
      TensorMeta& meta = graph_.parameters[i].meta;
      if (found_[i] || meta.dtype == DType::kBool) continue;
      const bool integral = IsIntegral(meta.dtype);
      (integral ? meta.min_val : meta.mean) = 0;
      (integral ? meta.max_val : meta.std) = 1;
    }
    if (graph_.stablehlo) return absl::OkStatus();
    for (size_t i = 0; i < found_.size(); ++i) {
      if (!found_[i]) {
        return Refuse(kModelFile, locations_[i],
                      Cat("the parameter ", Quoted(graph_.parameters[i].name), " has no class in ", kWeightMeta, " or ",
                          kInputMeta));
      }
    }
    return absl::OkStatus();
  }

 private:
  // The parameter of a name. Descriptions mostly come in the order of the parameters.
  std::optional<size_t> Find(std::string_view name) {
    const std::vector<Parameter>& parameters = graph_.parameters;
    if (next_ < parameters.size() && parameters[next_].name == name) return next_++;
    if (index_.empty()) {
      index_.reserve(parameters.size());
      for (size_t i = 0; i < parameters.size(); ++i) index_.emplace(parameters[i].name, i);
    }
    const auto it = index_.find(name);
    if (it == index_.end()) return std::nullopt;
    next_ = it->second + 1;
    return it->second;
  }

  Graph& graph_;
  const std::vector<Location>& locations_;
  const Limits& limits_;
  std::vector<bool> found_;
  size_t next_ = 0;
  absl::flat_hash_map<std::string_view, size_t> index_;  // made when it is needed
  int64_t bytes_ = 0;  // each tensor and the sum are below 2^62: no overflow before the check
};

}  // namespace

absl::StatusOr<Graph> Parse(const Sample& sample, const Limits& limits) {
  std::vector<Location> locations;
  absl::StatusOr<SampleInfo> info = ParseInfoFile(sample.info, limits);
  const bool stablehlo = info.ok() && info->framework == kStableHloFramework;
  absl::StatusOr<Graph> graph =
      stablehlo ? ParseStableHloText(sample.model, limits) : ParseModelFile(sample.model, limits, &locations);
  if (!graph.ok()) return graph.status();
  if (!info.ok()) return info.status();
  graph->info = *std::move(info);

  Matcher matcher(*graph, locations, limits);
  for (const auto& [text, file] : {std::pair{&sample.weight_meta, kWeightMeta}, {&sample.input_meta, kInputMeta}}) {
    absl::StatusOr<std::vector<ParsedMeta>> metas = ParseMetaFile(*text, file, limits);
    if (!metas.ok()) return metas.status();
    if (absl::Status status = matcher.Take(*std::move(metas), file); !status.ok()) return status;
  }
  if (absl::Status status = matcher.CheckAllFound(); !status.ok()) return status;
  return graph;
}

absl::StatusOr<Graph> ParseModel(std::string_view model, const Limits& limits) {
  absl::StatusOr<Graph> graph = ParseModelFile(model, limits, nullptr);
  if (!graph.ok()) return graph;
  for (Parameter& parameter : graph->parameters) parameter.meta.name = parameter.name;
  return graph;
}

}  // namespace assay::graph
