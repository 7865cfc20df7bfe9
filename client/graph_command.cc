// assay graph check, assay graph print.
#include <algorithm>
#include <thread>

#include "client/command.h"
#include "client/graph_sample.h"
#include "client/parallel.h"
#include "client/sample_check.h"
#include "client/table.h"
#include "client/text.h"
#include "fmt/format.h"
#include "graph/sample_folder.h"

namespace assay::client {
namespace {

int Check(const Command& command, const std::vector<std::string>& roots, int threads, bool synthesize) {
  const absl::StatusOr<std::vector<std::filesystem::path>> folders = FindSamples(roots);
  if (!folders.ok()) return Fail(folders.status());
  size_t refused = 0;
  int code = kOk;
  ParallelInOrder(
      folders->size(), threads,
      [&](size_t i) {
        CheckedSample sample = CheckSample((*folders)[i], {}, synthesize);
        sample.canonical = {};  // not needed, and large
        return sample;
      },
      [&](size_t, const CheckedSample& sample) {
        refused += !sample.accepted;
        code = Print((command.json ? CheckJson(sample) : Printable(CheckText(sample))) + "\n");
        return code == kOk;
      });
  if (code != kOk) return code;
  if (!command.json && folders->size() > 1) {
    code = Print(fmt::format("{} accepted, {} refused\n", folders->size() - refused, refused));
  }
  return code != kOk ? code : refused > 0 ? kNo : kOk;
}

// A hash of the server's or a sample folder: as its canonical sample.
absl::StatusOr<v1::GraphSample> CanonicalSample(const Command& command, const std::string& what, bool& refused) {
  if (std::filesystem::exists(what)) {
    CheckedSample checked = CheckSample(what);
    refused = !checked.accepted;
    if (refused) return absl::InvalidArgumentError(CheckText(checked));
    v1::GraphSample sample = ToProto(checked.hash, std::move(checked.canonical));
    sample.set_operations(checked.operations);
    return sample;
  }
  if (what.size() < 8 || what.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return absl::NotFoundError(what + ": no such folder, and no hash of a graph (at least 8 lower-case hex digits)");
  }
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return api.status();
  v1::GetGraphRequest request;
  request.set_hash(what);
  return (*api)->Call(request);
}

int PrintGraph(const Command& command, const std::string& what, const std::string& output) {
  bool refused = false;
  const absl::StatusOr<v1::GraphSample> sample = CanonicalSample(command, what, refused);
  if (!sample.ok()) {
    const int code = Fail(sample.status());
    return refused ? kNo : code;
  }
  if (!output.empty()) {
    const absl::Status status = graph::WriteSampleFolder(output, FromProto(*sample));
    if (!status.ok()) return Fail(status);
    if (!command.json) return kOk;
  }
  return command.json ? PrintJson(*sample) : Print(sample->model());
}

}  // namespace

void AddGraph(CLI::App& app, Command& command) {
  CLI::App* group = AddSubcommand(app, "graph", "Check GraphNet samples, print graphs in canonical form",
                                  "  assay graph check GraphNet/samples\n"
                                  "  assay graph print samples/mlp\n");
  group->require_subcommand(1);

  auto roots = std::make_shared<std::vector<std::string>>();
  auto threads = std::make_shared<int>(std::max(1u, std::thread::hardware_concurrency()));
  CLI::App* check =
      AddSubcommand(*group, "check",
                    "Say of each sample whether Assay accepts it; exits with 1 where one is refused. Needs no server",
                    "  assay graph check samples                        every sample under a folder\n"
                    "  assay graph check samples/mlp samples/lstm\n"
                    "  assay graph check --json samples                 one object a line: path, accepted, hash,\n"
                    "                                                   structure, operations, parameter_bytes,\n"
                    "                                                   error{file,line,column,message}\n");
  check->add_option("folder", *roots, "Sample folders, or folders that hold some")->required();
  check->add_option("-j,--jobs", *threads, "Threads (default: one a core)")->check(CLI::Range(1, 1024));
  auto synthesize = std::make_shared<bool>(false);
  AddSynthesizeMetadata(*check, *synthesize);
  check->callback([&command, roots, threads, synthesize] {
    command.action = [&command, roots, threads, synthesize] { return Check(command, *roots, *threads, *synthesize); };
  });

  auto what = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  CLI::App* print =
      AddSubcommand(*group, "print", "Print a graph in canonical form: what runners are given",
                    "  assay graph print samples/mlp                    model.py, re-printed\n"
                    "  assay graph print samples/mlp -o /tmp/mlp        the whole sample\n"
                    "  assay graph print 3f9ac0d1                       a graph of the server, by hash\n");
  print->add_option("graph", *what, "A sample folder, or the hash of a graph that the server has")->required();
  print->add_option("-o,--output", *output, "Write the sample's four files into this folder");
  print->callback([&command, what, output] {
    command.action = [&command, what, output] { return PrintGraph(command, *what, *output); };
  });
}

}  // namespace assay::client
