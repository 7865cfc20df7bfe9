// assay import, assay suite list, assay suite show.
#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <thread>

#include "client/command.h"
#include "client/import.h"
#include "client/json.h"
#include "client/progress.h"
#include "client/table.h"
#include "client/target.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

class ServerTarget : public ImportTarget {
 public:
  explicit ServerTarget(Api& api) : api_(api) {}
  absl::StatusOr<v1::FindMissingGraphsResponse> FindMissing(const v1::FindMissingGraphsRequest& request) override {
    return api_.Call(request);
  }
  absl::StatusOr<v1::UploadGraphsResponse> Upload(const v1::UploadGraphsRequest& request) override {
    return api_.Call(request);
  }
  absl::StatusOr<v1::Suite> Create(const v1::CreateSuiteRequest& request) override { return api_.Call(request); }

 private:
  Api& api_;
};

struct ImportFlags {
  ImportOptions options;
  std::string refused_file;
  bool allow_refused = false;
};

// What was refused, by reason, most frequent first.
std::string RefusalSummary(const std::map<std::string, std::pair<size_t, std::string>>& reasons) {
  std::vector<std::pair<size_t, std::string>> lines;
  for (const auto& [kind, count_and_example] : reasons) {
    lines.emplace_back(count_and_example.first, kind + "\n        for example " + count_and_example.second);
  }
  std::sort(lines.begin(), lines.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::string text = "refused, by reason:\n";
  for (const auto& [count, line] : lines) text += fmt::format("{:6}  {}\n", count, line);
  return text;
}

int PrintImportJson(const ImportResult& result, const boost::json::array& refused) {
  boost::json::object json = {{"samples", result.samples},        {"accepted", result.accepted},
                              {"graphs", result.graphs},          {"sent", result.sent},
                              {"sentBytes", result.sent_bytes},   {"refused", refused},
                              {"synthesized", result.synthesized}};
  if (result.made) {
    const absl::StatusOr<std::string> suite = ToJson(result.suite);
    if (!suite.ok()) return Fail(suite.status());
    json["suite"] = boost::json::parse(*suite);
  }
  return Print(boost::json::serialize(json) + "\n");
}

int RunImport(const Command& command, ImportFlags& flags) {
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return Fail(api.status());
  ServerTarget target(**api);

  std::ofstream refused_file;
  if (!flags.refused_file.empty()) {
    refused_file.open(flags.refused_file, std::ios::trunc);
    if (!refused_file) return Fail(absl::ErrnoToStatus(errno, "cannot write " + flags.refused_file));
  }
  std::map<std::string, std::pair<size_t, std::string>> reasons;
  boost::json::array refused;
  flags.options.on_refused = [&](const CheckedSample& sample) {
    auto& [count, example] = reasons[ReasonKind(sample.error)];
    if (count++ == 0) example = CheckText(sample);
    if (refused_file.is_open()) refused_file << CheckJson(sample) << '\n';
    if (command.json) refused.push_back(boost::json::parse(CheckJson(sample)));
  };
  Progress progress = Progress::OnStandardError();
  Rate rate;
  flags.options.on_progress = [&](size_t done, size_t total, size_t refused_count) {
    rate.Add(Clock::now(), static_cast<int64_t>(done));
    const double left = rate.SecondsFor(static_cast<int64_t>(total - done));
    std::string text = fmt::format("{}/{} samples, {} refused", done, total, refused_count);
    if (rate.per_second() > 0) text += fmt::format(", {:.0f} a second", rate.per_second());
    if (left > 1) text += fmt::format(", {} left", Seconds(left));
    progress.Show(text);
  };
  const absl::StatusOr<ImportResult> result = Import(flags.options, target);
  progress.Clear();
  if (!result.ok()) return Fail(result.status());
  if (refused_file.is_open()) {
    refused_file.close();
    if (!refused_file) return Fail(absl::InternalError("cannot write " + flags.refused_file));
  }

  int code = kOk;
  if (command.json) {
    code = PrintImportJson(*result, refused);
  } else {
    std::string text =
        fmt::format("{} samples: {} accepted, {} refused; {} graphs, {} of them new ({} sent)\n", result->samples,
                    result->accepted, result->refused, result->graphs, result->sent, Bytes(result->sent_bytes));
    if (result->synthesized > 0) text += fmt::format("{} with synthesised metadata\n", result->synthesized);
    if (result->refused > 0) text += Printable(RefusalSummary(reasons));
    if (result->made) {
      text += fmt::format("suite {} version {}: {} graphs, {} structures\n", result->suite.name(),
                          result->suite.version(), result->suite.graph_count(), result->suite.structure_count());
    } else {
      text +=
          fmt::format("no suite was made: {}\n",
                      result->accepted == 0 ? "no sample was accepted" : "samples were refused, and --strict is given");
    }
    code = Print(text);
  }
  if (code != kOk) return code;
  if (!result->made) return kNo;
  return result->refused > 0 && !flags.allow_refused ? kNo : kOk;
}

int ListSuites(const Command& command) {
  return CallAndPrint(command, v1::ListSuitesRequest(), [](const v1::ListSuitesResponse& answer) {
    Table table({{"SUITE"}, {"VERSION", true}, {"GRAPHS", true}, {"STRUCTURES", true}, {"CREATED (UTC)"}});
    for (const v1::Suite& suite : answer.suites()) {
      table.Add({suite.name(), std::to_string(suite.version()), std::to_string(suite.graph_count()),
                 std::to_string(suite.structure_count()), When(suite.created())});
    }
    return Print(table.rows() > 0 ? table.Text() : "no suites yet: import one with 'assay import DIR --suite NAME'\n");
  });
}

// One line a structure, the one of most graphs first.
std::string StructuresText(const v1::Suite& suite) {
  struct Structure {
    int graphs = 0;
    const v1::SuiteGraph* first = nullptr;
  };
  std::map<std::string, Structure> by_hash;
  for (const v1::SuiteGraph& graph : suite.graphs()) {
    Structure& structure = by_hash[graph.structure()];
    if (structure.graphs++ == 0) structure.first = &graph;
  }
  std::vector<Structure> structures;
  for (const auto& [hash, structure] : by_hash) structures.push_back(structure);
  std::sort(structures.begin(), structures.end(), [](const Structure& a, const Structure& b) {
    return a.graphs != b.graphs ? a.graphs > b.graphs : a.first->name() < b.first->name();
  });
  Table table({{"STRUCTURE"}, {"GRAPHS", true}, {"OPERATIONS", true}, {"FOR EXAMPLE"}});
  for (const Structure& structure : structures) {
    table.Add({structure.first->structure().substr(0, 12), std::to_string(structure.graphs),
               std::to_string(structure.first->operations()), structure.first->name()});
  }
  return table.Text();
}

std::string GraphsText(const v1::Suite& suite) {
  Table table({{"GRAPH"}, {"HASH"}, {"STRUCTURE"}, {"OPERATIONS", true}, {"PARAMETERS", true}});
  for (const v1::SuiteGraph& graph : suite.graphs()) {
    table.Add({graph.name(), graph.hash().substr(0, 12), graph.structure().substr(0, 12),
               std::to_string(graph.operations()), Bytes(graph.parameter_bytes())});
  }
  return table.Text();
}

int ShowSuite(const Command& command, const std::string& text, bool structures) {
  const absl::StatusOr<SuiteName> name = ParseSuite(text);
  if (!name.ok()) return Fail(name.status());
  v1::GetSuiteRequest request;
  request.set_name(name->name);
  request.set_version(name->version);
  return CallAndPrint(command, request, [&](const v1::Suite& suite) {
    return Print(fmt::format("{} version {}: {} graphs, {} structures, made {}\n\n", suite.name(), suite.version(),
                             suite.graph_count(), suite.structure_count(), When(suite.created())) +
                 (structures ? StructuresText(suite) : GraphsText(suite)));
  });
}

}  // namespace

void AddSuite(CLI::App& app, Command& command) {
  auto flags = std::make_shared<ImportFlags>();
  flags->options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  CLI::App* import =
      AddSubcommand(app, "import", "Bring the samples under a folder into a suite",
                    "  assay import samples --suite bundled\n"
                    "  assay import GraphNet/samples --suite graphnet-torch --refused refused.jsonl\n\n"
                    "A suite is versioned: another set of graphs makes its next version, the same set none.\n"
                    "Exits with 1 where a sample was refused (the suite is made of the others) unless\n"
                    "--allow-refused is given.\n");
  import
      ->add_option("folder", flags->options.folder,
                   "Folder with samples at any depth: GraphNet's folders, NAME.stablehlo.mlir files; or one such")
      ->required();
  import->add_option("--suite", flags->options.suite, "The suite's name")->required();
  import->add_option("--refused", flags->refused_file, "Write what was refused into this file, one JSON object a line");
  import->add_option("-j,--jobs", flags->options.threads, "Threads (default: one a core)")->check(CLI::Range(1, 1024));
  CLI::Option* strict = import->add_flag("--strict", flags->options.strict, "Make no suite where a sample is refused");
  AddSynthesizeMetadata(*import, flags->options.synthesize);
  import->add_flag("--allow-refused", flags->allow_refused, "Exit with 0 where some samples were refused")
      ->excludes(strict);
  import->callback([&command, flags] { command.action = [&command, flags] { return RunImport(command, *flags);
};
}  // namespace assay::client
);

CLI::App* suite = AddSubcommand(app, "suite", "Named, versioned sets of graphs",
                                "  assay suite list\n"
                                "  assay suite show graphnet-torch@2\n"
                                "  assay suite subset graphnet-torch --structures --budget 30m\n");
suite->require_subcommand(1);
AddSubcommand(*suite, "list", "List suites", "  assay suite list\n")->callback([&command] {
  command.action = [&command] { return ListSuites(command); };
});
auto name = std::make_shared<std::string>();
auto structures = std::make_shared<bool>(false);
CLI::App* show = AddSubcommand(*suite, "show", "List the graphs of a suite",
                               "  assay suite show bundled\n"
                               "  assay suite show bundled --structures             its structures, with their graphs\n"
                               "  assay suite show bundled@1 --json\n\n"
                               "Graphs that differ in sizes, numbers and names only are of one structure.\n");
show->add_option("suite", *name, "NAME or NAME@VERSION")->required();
show->add_flag("--structures", *structures, "List structures instead, those of most graphs first");
show->callback([&command, name, structures] {
  command.action = [&command, name, structures] { return ShowSuite(command, *name, *structures); };
});
AddSubset(*suite, command);
}

}  // namespace assay::client
