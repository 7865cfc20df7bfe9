// assay repro: a folder, and one command, that reproduce one outcome away from the cluster.
#include <filesystem>

#include "client/command.h"
#include "client/installation.h"
#include "client/repro.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

int Repro(const Command& command, const std::string& id, const std::string& graph, std::string output) {
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return Fail(api.status());
  v1::GetEvaluationRequest evaluation_request;
  evaluation_request.set_id(id);
  const absl::StatusOr<v1::Evaluation> evaluation = (*api)->Call(evaluation_request);
  if (!evaluation.ok()) return Fail(evaluation.status());
  v1::ListMeasurementsRequest request;
  request.set_id(id);
  request.set_graph(graph);
  const absl::StatusOr<v1::ListMeasurementsResponse> measurements = (*api)->Call(request);
  if (!measurements.ok()) return Fail(measurements.status());
  if (measurements->measurements().empty()) {
    return Fail(absl::FailedPreconditionError(fmt::format(
        "graph {} of evaluation {} has no measurement yet: nothing to reproduce", measurements->graph(), id)));
  }
  v1::GetGraphRequest graph_request;
  graph_request.set_hash(measurements->graph_hash());
  const absl::StatusOr<v1::GraphSample> sample = (*api)->Call(graph_request);
  if (!sample.ok()) return Fail(sample.status());

  if (output.empty()) output = ReproFolderName(id, measurements->graph());
  const v1::Measurement& measurement = *measurements->measurements().rbegin();
  if (absl::Status status = WriteRepro(output, *evaluation, measurements->graph(), measurement, *sample);
      !status.ok()) {
    return Fail(status);
  }
  if (command.json) return PrintJson(measurement);
  return Print(fmt::format("{}: graph {} of evaluation {}, which gave {}\nreproduce it with: {}/run.sh\n", output,
                           measurements->graph(), id, ClassWord(measurement.outcome_class()), output));
}

}  // namespace

void AddRepro(CLI::App& app, Command& command) {
  struct Flags {
    std::string id, graph, output;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* sub =
      AddSubcommand(app, "repro", "Write a folder and one command that reproduce one outcome anywhere",
                    "  assay repro 7 mlp -o /tmp/mlp && /tmp/mlp/run.sh\n\n"
                    "The folder holds the canonical sample, trial.json (what was measured, with the seed of the\n"
                    "secret inputs), expected.json (what came out) and run.sh, which needs assay-worker and its\n"
                    "runners, and no server.\n");
  sub->add_option("id", flags->id, "Of an evaluation")->required();
  sub->add_option("graph", flags->graph, "Its name in the suite, or its hash or a prefix of it")->required();
  sub->add_option("-o,--output", flags->output, "Folder to write; it must not exist");
  sub->callback([&command, flags] {
    command.action = [&command, flags] { return Repro(command, flags->id, flags->graph, flags->output); };
  });
}

}  // namespace assay::client
