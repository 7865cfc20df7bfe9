#include "client/repro.h"

#include "assay/v1/workers.pb.h"
#include "client/graph_sample.h"
#include "client/installation.h"
#include "client/json.h"
#include "client/local_worker.h"
#include "client/state_folder.h"
#include "client/table.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"
#include "graph/sample_folder.h"

namespace assay::client {
namespace fs = std::filesystem;
namespace {

// Single quotes for a shell.
std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// Where assay-worker and its runners are on this machine is a start; the variables say where they are on another.
std::string Script(const v1::Evaluation& evaluation, const std::string& graph, const v1::Measurement& measurement,
                   const Installation& installation) {
  const absl::StatusOr<fs::path> worker = installation.Program("worker", "assay-worker");
  return fmt::format(
      "#!/bin/sh\n"
      "# Reproduces one outcome without a server: {} of {}{}.\n"
      "# It gave {}; expected.json has all of it. What comes out now is printed, in the same form.\n"
      "# On another machine set ASSAY_WORKER (assay-worker) and ASSAY_WORKER_CONFIG (its configuration, which names "
      "runners).\n"
      "cd \"$(dirname \"$0\")\" || exit 1\n"
      "worker=${{ASSAY_WORKER:-{}}}\n"
      "exec \"$worker\" --config \"${{ASSAY_WORKER_CONFIG:-worker.toml}}\" --trial trial.json --graph sample \"$@\"\n",
      Printable(graph), TargetWord(evaluation.candidate()),
      evaluation.has_baseline() ? " against " + TargetWord(evaluation.baseline()) : ", which is only compiled",
      ClassWord(measurement.outcome_class()), worker.ok() ? Quoted(worker->string()) : "assay-worker");
}

// The runners of this machine.
std::string Config(const Installation& installation) {
  LocalWorker worker;
  worker.state_folder = "state";
  const absl::StatusOr<fs::path> venv = installation.Venv();
  const absl::StatusOr<fs::path> torch_runner = installation.Program("runner/torch", "assay-runner-torch");
  if (venv.ok()) worker.venv = *venv;
  if (venv.ok() && torch_runner.ok()) worker.torch_runner = *torch_runner;
  worker.python_path = installation.PythonPath();
  const absl::StatusOr<Installation::Xla> xla = installation.FindXla();
  const absl::StatusOr<fs::path> xla_runner = installation.Program("runner/pjrt", "assay-runner-pjrt");
  if (xla.ok() && xla_runner.ok()) {
    worker.xla = *xla;
    worker.xla_runner = *xla_runner;
  }
  return WorkerConfig(worker);
}

// To be found on any machine: what is known by content there is known by name here.
v1::Target Anywhere(v1::Target target) {
  target.clear_environment_hash();
  target.clear_version();
  return target;
}

}  // namespace

std::string ReproFolderName(const std::string& evaluation, const std::string& graph) {
  std::string name = "repro-" + evaluation + "-" + graph;
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    if (!plain) c = '-';
  }
  return name;
}

absl::Status WriteRepro(const fs::path& folder, const v1::Evaluation& evaluation, const std::string& graph,
                        const v1::Measurement& measurement, const v1::GraphSample& sample) {
  std::error_code error;
  if (fs::exists(folder, error)) {
    return absl::AlreadyExistsError(folder.string() + " exists already: name another folder with -o");
  }
  v1::Assignment assignment;
  assignment.set_trial_id(measurement.trial_id());
  assignment.set_device(measurement.device());
  assignment.set_evaluation_id(evaluation.id());
  assignment.set_graph(graph);
  assignment.set_graph_hash(sample.hash());
  *assignment.mutable_candidate() = Anywhere(evaluation.candidate());
  if (evaluation.has_baseline()) *assignment.mutable_baseline() = Anywhere(evaluation.baseline());
  *assignment.mutable_policy() = measurement.policy();
  assignment.set_attempt(1);
  assignment.set_secret_seed(measurement.secret_seed());
  const absl::StatusOr<std::string> assignment_json = ToJson(assignment);
  if (!assignment_json.ok()) return assignment_json.status();
  const absl::StatusOr<std::string> expected = ToJson(measurement);
  if (!expected.ok()) return expected.status();
  const Installation installation = Installation::OfThisProgram();
  if (absl::Status status = graph::WriteSampleFolder(folder / "sample", FromProto(sample)); !status.ok()) return status;
  for (const auto& [name, text, mode] : {std::tuple{"trial.json", *assignment_json + "\n", 0644},
                                         {"expected.json", *expected + "\n", 0644},
                                         {"worker.toml", Config(installation), 0644},
                                         {"run.sh", Script(evaluation, graph, measurement, installation), 0755}}) {
    if (absl::Status status = WriteFile(folder / name, text, mode); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace assay::client
