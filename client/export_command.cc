// assay export.
#include <cerrno>
#include <fstream>

#include "client/command.h"
#include "client/evaluation_text.h"
#include "client/graphnet_log_export.h"
#include "client/pages.h"
#include "client/parallel.h"
#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

constexpr int kThreads = 4;  // calls at once

struct ExportFlags {
  std::string id, format, file;
  bool without_degenerate = false;
};

absl::StatusOr<std::string> ExportLog(Api& api, const v1::Evaluation& evaluation,
                                      const std::vector<const v1::Outcome*>& outcomes) {
  std::string log;
  absl::Status status;
  ParallelInOrder(
      outcomes.size(), kThreads,
      [&](size_t i) -> absl::StatusOr<std::string> {
        v1::ListMeasurementsRequest request;
        request.set_id(evaluation.id());
        request.set_graph(outcomes[i]->graph());
        const auto measurements = api.Call(request);
        if (!measurements.ok()) return measurements.status();
        return ExportGraph(evaluation, *outcomes[i], *measurements);
      },
      [&](size_t, absl::StatusOr<std::string> block) {
        if (block.ok()) {
          log += *block;
        } else {
          status = block.status();
        }
        return status.ok();
      });
  if (!status.ok()) return status;
  return log;
}

int WriteFile(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text << std::flush;
  if (out) return kOk;
  return Fail(absl::ErrnoToStatus(errno, fmt::format("cannot write {}", file)));
}

int Export(const Command& command, const ExportFlags& flags) {
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return Fail(api.status());
  v1::GetEvaluationRequest request;
  request.set_id(flags.id);
  const absl::StatusOr<v1::Evaluation> evaluation = (*api)->Call(request);
  if (!evaluation.ok()) return Fail(evaluation.status());
  if (!evaluation->imported().empty()) {
    return Fail(absl::FailedPreconditionError(
        fmt::format("evaluation {} was imported from a log: that log is its export", flags.id)));
  }
  if (!evaluation->has_baseline()) {
    return Fail(absl::FailedPreconditionError(
        fmt::format("evaluation {} was only compiled: it has no scores that a log could tell", flags.id)));
  }
  if (!IsFinal(evaluation->state())) {
    return Fail(absl::FailedPreconditionError(
        fmt::format("evaluation {} is not over: follow it with 'assay watch {}'", flags.id, flags.id)));
  }
  const absl::StatusOr<v1::ListOutcomesResponse> all = AllOutcomes(**api, flags.id, flags.without_degenerate);
  if (!all.ok()) return Fail(all.status());
  std::vector<const v1::Outcome*> outcomes;
  size_t skipped = 0, not_finite = 0;
  for (const v1::Outcome& outcome : all->outcomes()) {
    if (outcome.outcome_class() == v1::SKIPPED) {
      ++skipped;
      continue;
    }
    if (outcome.outcome_class() == v1::NAN_MISMATCH || outcome.outcome_class() == v1::INF_MISMATCH) ++not_finite;
    outcomes.push_back(&outcome);
  }
  const absl::StatusOr<std::string> log = ExportLog(**api, *evaluation, outcomes);
  if (!log.ok()) return Fail(log.status());
  if (const int code = flags.file.empty() ? Print(*log) : WriteFile(flags.file, *log); code != kOk) return code;
  if (skipped > 0) fmt::print(stderr, "assay: {} skipped graphs are not in the log: they count in no score\n", skipped);
  if (not_finite > 0) {
    fmt::print(stderr,
               "assay: {} graphs are wrong by a NaN or an infinity; a log cannot say so, GraphNet's scorer will call "
               "them accuracy failures\n",
               not_finite);
  }
  return kOk;
}

}  // namespace

void AddExport(CLI::App& app, Command& command) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* sub = AddSubcommand(
      app, "export", "Write an evaluation in another program's format",
      "  assay export 7 --format graphnet-log -o run.log   a log that GraphNet's scoring scripts read\n\n"
      "They give it the scores of 'assay curve 7 --interpretation default --p 0'. Outputs of complex dtypes must be\n"
      "bit-equal to them.\n");
  sub->add_option("id", flags->id, "Of an evaluation")->required();
  sub->add_option("--format", flags->format, "graphnet-log")->required()->check(CLI::IsMember({"graphnet-log"}));
  sub->add_option("-o,--output", flags->file, "A file, instead of standard output");
  AddWithoutDegenerate(*sub, flags->without_degenerate);
  sub->callback([&command, flags] { command.action = [&command, flags] { return Export(command, *flags); }; });
}

}  // namespace assay::client
