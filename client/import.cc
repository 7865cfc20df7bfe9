#include "client/import.h"

#include <set>

#include "client/graph_sample.h"
#include "client/parallel.h"
#include "client/text.h"
#include "fmt/format.h"
#include "graph/sample_folder.h"

namespace assay::client {
namespace fs = std::filesystem;
namespace {

constexpr int kBatchGraphs = 1000;  // however small they are

size_t TextBytes(const graph::Sample& sample) {
  return sample.model.size() + sample.weight_meta.size() + sample.input_meta.size() + sample.info.size();
}

// The path below the imported folder; a folder that is a sample itself has its own name.
std::string NameInSuite(const fs::path& sample, const fs::path& folder) {
  const fs::path relative = sample.lexically_normal().lexically_relative(folder.lexically_normal());
  if (relative != ".") return graph::SampleName(relative);
  fs::path whole = fs::absolute(sample).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // written with a slash at its end
  return graph::SampleName(whole.filename());
}

// Graphs that wait to be asked for and sent together.
class Batch {
 public:
  Batch(ImportTarget& target, ImportResult& result) : target_(target), result_(result) {}

  void Add(CheckedSample sample) {
    if (!seen_.insert(sample.hash).second) return;
    ++result_.graphs;
    bytes_ += TextBytes(sample.canonical);
    graphs_.push_back(ToProto(std::move(sample.hash), std::move(sample.canonical)));
  }
  size_t bytes() const { return bytes_; }
  size_t size() const { return graphs_.size(); }

  absl::Status Send() {
    if (graphs_.empty()) return absl::OkStatus();
    v1::FindMissingGraphsRequest question;
    for (const v1::GraphSample& graph : graphs_) question.add_hashes(graph.hash());
    const absl::StatusOr<v1::FindMissingGraphsResponse> answer = target_.FindMissing(question);
    if (!answer.ok()) return answer.status();
    const std::set<std::string> missing(answer->missing().begin(), answer->missing().end());
    v1::UploadGraphsRequest upload;
    for (v1::GraphSample& graph : graphs_) {
      if (missing.contains(graph.hash())) *upload.add_graphs() = std::move(graph);
    }
    graphs_.clear();
    bytes_ = 0;
    if (upload.graphs().empty()) return absl::OkStatus();
    const absl::StatusOr<v1::UploadGraphsResponse> stored = target_.Upload(upload);
    if (!stored.ok()) return stored.status();
    result_.sent += upload.graphs_size();
    result_.sent_bytes += static_cast<int64_t>(upload.ByteSizeLong());
    return absl::OkStatus();
  }

 private:
  ImportTarget& target_;
  ImportResult& result_;
  std::set<std::string> seen_;
  std::vector<v1::GraphSample> graphs_;
  size_t bytes_ = 0;
};

}  // namespace

absl::Status CheckSuiteName(std::string_view name) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::string_view kRest = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  if (!name.empty() && name.size() <= 64 && kFirst.find(name[0]) != std::string_view::npos &&
      name.find_first_not_of(kRest) == std::string_view::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("suite '{}': a name has 1 to 64 of a-z, 0-9, '.', '_' and '-', and begins with a letter or a digit",
                  Shortened(name)));
}

absl::StatusOr<ImportResult> Import(const ImportOptions& options, ImportTarget& target) {
  if (absl::Status status = CheckSuiteName(options.suite); !status.ok()) return status;
  // Ends a wrong address or token before, not after, minutes of parsing.
  if (const auto answer = target.FindMissing({}); !answer.ok()) return answer.status();
  const absl::StatusOr<std::vector<fs::path>> folders = FindSamples({options.folder.string()});
  if (!folders.ok()) return folders.status();

  ImportResult result;
  result.samples = folders->size();
  v1::CreateSuiteRequest create;
  create.set_name(options.suite);
  Batch batch(target, result);
  absl::Status status;
  ParallelInOrder(
      folders->size(), options.threads, [&](size_t i) { return CheckSample((*folders)[i], {}, options.synthesize); },
      [&](size_t i, CheckedSample sample) {
        if (!sample.accepted) {
          ++result.refused;
          options.on_refused(sample);
        } else {
          ++result.accepted;
          result.synthesized += sample.synthesized;
          v1::SuiteGraph& graph = *create.add_graphs();
          graph.set_name(NameInSuite(sample.path, options.folder));
          graph.set_hash(sample.hash);
          batch.Add(std::move(sample));
          if (batch.bytes() >= options.batch_bytes || batch.size() >= kBatchGraphs) status = batch.Send();
        }
        options.on_progress(i + 1, folders->size(), result.refused);
        return status.ok();
      });
  if (!status.ok()) return status;
  if (result.accepted == 0 || (options.strict && result.refused > 0)) return result;
  if (status = batch.Send(); !status.ok()) return status;
  absl::StatusOr<v1::Suite> suite = target.Create(create);
  if (!suite.ok()) return suite.status();
  result.suite = *std::move(suite);
  result.made = true;
  return result;
}

}  // namespace assay::client
