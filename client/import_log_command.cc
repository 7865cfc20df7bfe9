// assay import-log.
#include <boost/json.hpp>

#include "client/command.h"
#include "client/evaluation_text.h"
#include "client/graph_names.h"
#include "client/json.h"
#include "client/table.h"
#include "client/target.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"
#include "graph/sha256.h"
#include "measure/graphnet_log_reader.h"

namespace assay::client {
namespace {

constexpr size_t kLargestLog = size_t{1} << 30;
constexpr size_t kShownNotes = 40;

struct ImportLogFlags {
  std::vector<std::string> files;
  std::string suite = "graphnet-log", as = "honest", target;
};

v1::OutcomeClass ClassOf(measure::ErrorClass error_class) {
  for (int c = v1::OutcomeClass_MIN; c <= v1::OutcomeClass_MAX; ++c) {
    if (ClassWord(static_cast<v1::OutcomeClass>(c)) == measure::Name(error_class))
      return static_cast<v1::OutcomeClass>(c);
  }
  return v1::OUTCOME_CLASS_UNSPECIFIED;
}

// The one value that all blocks agree on; empty where none says any.
absl::StatusOr<std::string> OneValue(const measure::LogContents& log, const std::string& key) {
  const auto found = log.configuration.find(key);
  if (found == log.configuration.end()) return "";
  if (found->second.size() == 1) return found->second.front();
  return absl::InvalidArgumentError(
      fmt::format("the logs are of several runs: their {} is {} and {}: import them one by one", key, found->second[0],
                  found->second[1]));
}

// The suite's graphs by name; none where there is no such suite.
absl::StatusOr<std::vector<std::string>> SuiteNames(Api& api, const SuiteName& suite, bool& names_alone) {
  v1::GetSuiteRequest request;
  request.set_name(suite.name);
  request.set_version(suite.version);
  const absl::StatusOr<v1::Suite> answer = api.Call(request);
  std::vector<std::string> names;
  names_alone = true;
  if (absl::IsNotFound(answer.status()) && suite.version == 0) return names;
  if (!answer.ok()) return answer.status();
  for (const v1::SuiteGraph& graph : answer->graphs()) {
    names.push_back(graph.name());
    if (!graph.hash().empty()) names_alone = false;
  }
  return names;
}

struct Named {
  std::vector<std::string> names;  // of `outcomes`
  std::vector<size_t> outcomes;    // which of the log's
  std::vector<std::string> notes;  // what was left out or renamed
};

absl::StatusOr<Named> NameGraphs(const measure::LogContents& log, const SuiteName& suite,
                                 const std::vector<std::string>& known, bool names_alone) {
  Named named;
  for (size_t i = 0; i < log.outcomes.size(); ++i) {
    const measure::LogOutcome& outcome = log.outcomes[i];
    if (const auto name = MatchName(outcome.path, known)) {
      named.names.push_back(*name);
      named.outcomes.push_back(i);
    } else {
      named.notes.push_back(fmt::format("{}:{}: {} is left out: it is not in the suite {}", outcome.file, outcome.line,
                                        outcome.path, suite.name));
    }
  }
  if (names_alone && named.names.size() < log.outcomes.size()) {
    named = {};
    std::vector<std::string> paths;
    for (size_t i = 0; i < log.outcomes.size(); ++i) {
      paths.push_back(log.outcomes[i].path);
      named.outcomes.push_back(i);
    }
    named.names = ShortNames(paths);
  } else if (named.names.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("no graph of the log is in the suite {}: name the suite that was run, or a new one", suite.name));
  }
  const auto where = [&](size_t i) -> const measure::LogOutcome& { return log.outcomes[named.outcomes[i]]; };
  if (!names_alone) {
    // The suite has the graph once: which of the log's runs is meant is not for this program to say.
    std::vector<std::string> names = named.names;
    if (const std::vector<size_t> repeated = MakeUnique(names); !repeated.empty()) {
      const measure::LogOutcome& outcome = where(repeated.front());
      return absl::InvalidArgumentError(fmt::format("{}:{}: {} stands in the log before: keep the run that counts",
                                                    outcome.file, outcome.line, outcome.path));
    }
    return named;
  }
  for (const size_t i : MakeUnique(named.names)) {
    named.notes.push_back(fmt::format("{}:{}: {} stands in the log before: this run counts as {}", where(i).file,
                                      where(i).line, where(i).path, named.names[i]));
  }
  return named;
}

absl::StatusOr<v1::ImportEvaluationRequest> MakeRequest(Api& api, const ImportLogFlags& flags,
                                                        std::vector<std::string>& notes) {
  const absl::StatusOr<SuiteName> suite = ParseSuite(flags.suite);
  if (!suite.ok()) return suite.status();
  measure::LogReader reader(flags.as == "peer" ? measure::LogReading::kAsPeer : measure::LogReading::kHonest);
  for (const std::string& file : flags.files) {
    const absl::StatusOr<std::string> text = ReadFile(file, kLargestLog);
    if (!text.ok()) return text.status();
    if (absl::Status status = reader.Read(*text, file); !status.ok()) return status;
  }
  const measure::LogContents& log = reader.contents();
  notes = log.notes;
  v1::ImportEvaluationRequest request;
  for (const char* key : {"device", "hardware", "compiler", "compile_framework_version"}) {
    const absl::StatusOr<std::string> value = OneValue(log, key);
    if (!value.ok()) return value.status();
    const std::string_view name = key;
    if (name == "device") request.mutable_candidate()->set_device_kind(*value);
    if (name == "hardware") request.set_hardware(*value);
    if (name == "compiler") request.mutable_candidate()->set_compiler(*value);
    if (name == "compile_framework_version") request.mutable_candidate()->set_version(*value);
  }
  if (!flags.target.empty()) request.mutable_candidate()->set_compiler(flags.target);
  if (request.candidate().compiler().empty()) {
    return absl::InvalidArgumentError("the log does not say which compiler it is of: give --target NAME");
  }
  if (request.hardware().empty()) request.set_hardware(request.candidate().device_kind());
  bool names_alone = false;
  const absl::StatusOr<std::vector<std::string>> known = SuiteNames(api, *suite, names_alone);
  if (!known.ok()) return known.status();
  const absl::StatusOr<Named> named = NameGraphs(log, *suite, *known, names_alone);
  if (!named.ok()) return named.status();
  notes.insert(notes.end(), named->notes.begin(), named->notes.end());
  request.set_suite(suite->name);
  request.set_suite_version(suite->version);
  request.set_reading(flags.as == "peer" ? "graphnet-log-as-peer" : "graphnet-log");
  for (size_t i = 0; i < named->names.size(); ++i) {
    const measure::LogOutcome& from = log.outcomes[named->outcomes[i]];
    v1::ImportedOutcome* to = request.add_outcomes();
    to->set_graph(named->names[i]);
    to->set_outcome_class(ClassOf(from.error_class));
    if (from.detail == measure::FailureDetail::kError) to->set_detail(v1::ERROR);
    to->set_message(from.message);
    to->set_critical_t(from.critical_t);
    to->set_speedup(from.speedup);
    to->set_candidate_ns(from.candidate_ns);
    to->set_baseline_ns(from.baseline_ns);
  }
  // The same log read in the same way is the same evaluation.
  const absl::StatusOr<std::string> json = ToJson(request);
  if (!json.ok()) return json.status();
  request.set_client_key("log-" + graph::Sha256Hex(*json));
  return request;
}

int PrintImported(const v1::Evaluation& evaluation, const std::vector<std::string>& notes) {
  const absl::StatusOr<std::string> json = ToJson(evaluation);
  if (!json.ok()) return Fail(json.status());
  boost::json::array list;
  for (const std::string& note : notes) list.emplace_back(note);
  return Print(boost::json::serialize(
                   boost::json::object{{"evaluation", boost::json::parse(*json)}, {"notes", std::move(list)}}) +
               "\n");
}

int ImportLog(const Command& command, const ImportLogFlags& flags) {
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return Fail(api.status());
  std::vector<std::string> notes;
  const absl::StatusOr<v1::ImportEvaluationRequest> request = MakeRequest(**api, flags, notes);
  if (!request.ok()) return Fail(request.status());
  const absl::StatusOr<v1::Evaluation> evaluation = (*api)->Call(*request);
  if (!evaluation.ok()) return Fail(evaluation.status());
  if (command.json) return PrintImported(*evaluation, notes);
  for (size_t i = 0; i < std::min(notes.size(), kShownNotes); ++i) fmt::print(stderr, "{}\n", Printable(notes[i]));
  if (notes.size() > kShownNotes) fmt::print(stderr, "and {} more: --json lists all\n", notes.size() - kShownNotes);
  return Print(Headline(*evaluation) + "\n");
}

}  // namespace

void AddImportLog(CLI::App& app, Command& command) {
  auto flags = std::make_shared<ImportLogFlags>();
  CLI::App* sub = AddSubcommand(
      app, "import-log", "Take logs of GraphNet's own runner as one evaluation",
      "  assay import-log run.log\n"
      "  assay import-log part1.log part2.log --suite graphnet-torch\n"
      "  assay import-log run.log --as peer --json\n\n"
      "Read honestly, a compile failure is one, and a run that GraphNet's runner rejected as too noisy is skipped. "
      "Read\n"
      "as peer, classes and scores are those of GraphNet's scripts (assay curve ID --interpretation default --p 0).\n"
      "A block that is cut off, interleaved or contradicts itself is skipped and reported, never guessed at. Imported\n"
      "evaluations are marked, and are not ranked with measured ones.\n");
  sub->add_option("files", flags->files, "Logs")->required();
  sub->add_option("--as", flags->as, "honest (the default) or peer")->check(CLI::IsMember({"honest", "peer"}));
  sub->add_option("--suite", flags->suite,
                  "NAME or NAME@VERSION whose graphs were run; one that does not exist is made of the names alone "
                  "(default: graphnet-log)");
  sub->add_option("--target", flags->target, "The compiler's name, where the log does not tell it");
  sub->callback([&command, flags] { command.action = [&command, flags] { return ImportLog(command, *flags); }; });
}

}  // namespace assay::client
