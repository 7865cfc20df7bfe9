// assay suite subset.
#include <algorithm>
#include <cmath>
#include <map>

#include "client/command.h"
#include "client/import.h"
#include "client/table.h"
#include "client/target.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

constexpr int kMostLeftOut = 20;

struct SubsetFlags {
  std::string suite, name, policy = "sweep", compiler;
  double budget = 0;
  bool structures = false, dry_run = false, all = false;
};

// "30m": the largest unit that is whole.
std::string BudgetWord(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole % 3600 == 0) return fmt::format("{}h", whole / 3600);
  if (whole % 60 == 0) return fmt::format("{}m", whole / 60);
  return fmt::format("{}s", whole);
}

std::string SubsetText(const v1::CreateSubsetResponse& answer, bool all) {
  std::string text = fmt::format("{} of {} version {}, with the policy {}: about {} of {}, the budget is {}\n",
                                 answer.chosen_size() == 1 ? "1 graph" : fmt::format("{} graphs", answer.chosen_size()),
                                 answer.name(), answer.version(), answer.policy(), Seconds(answer.expected_seconds()),
                                 Seconds(answer.whole_seconds()), Seconds(answer.budget_seconds()));
  text += "covers";
  for (const v1::SubsetCoverage& coverage : answer.coverage()) {
    text += fmt::format("{} {}/{} {}", &coverage == &answer.coverage(0) ? "" : ",", coverage.covered(), coverage.all(),
                        coverage.kind());
  }
  const auto measured = std::count_if(answer.chosen().begin(), answer.chosen().end(),
                                      [](const v1::SubsetGraph& graph) { return graph.measured(); });
  text += fmt::format("\nthe time of {} is known from earlier outcomes, that of {} is guessed by their size\n",
                      measured, answer.chosen_size() - measured);
  if (!answer.left_out().empty()) {
    text += fmt::format("\nleft out: {}\n", answer.left_out_size());
    Table table({{"GRAPH"}, {"STANDS FOR", true}, {"TIME", true}, {"WHY"}});
    for (const v1::SubsetGraph& graph : answer.left_out()) {
      if (table.rows() == kMostLeftOut && !all) break;
      table.Add({graph.name(), std::to_string(graph.graphs()), Seconds(graph.expected_seconds()),
                 graph.reason().empty() ? "did not fit" : graph.reason()});
    }
    text += table.Text();
    if (const int more = answer.left_out_size() - static_cast<int>(table.rows()); more > 0) {
      text += fmt::format("and {} more (--all lists them)\n", more);
    }
  }
  if (answer.has_suite()) {
    text += fmt::format("\nsuite {} version {}: {} graphs, {} structures\n", answer.suite().name(),
                        answer.suite().version(), answer.suite().graph_count(), answer.suite().structure_count());
  }
  return Printable(text);
}

int Subset(const Command& command, const SubsetFlags& flags) {
  const absl::StatusOr<SuiteName> suite = ParseSuite(flags.suite);
  if (!suite.ok()) return Fail(suite.status());
  v1::CreateSubsetRequest request;
  request.set_name(suite->name);
  request.set_version(suite->version);
  request.set_subset(flags.name.empty() ? fmt::format("{}-{}", suite->name, BudgetWord(flags.budget)) : flags.name);
  if (absl::Status status = CheckSuiteName(request.subset()); !status.ok()) return Fail(status);
  request.set_structures(flags.structures);
  request.set_budget_seconds(flags.budget);
  request.set_policy(flags.policy);
  request.set_compiler(flags.compiler);
  request.set_dry_run(flags.dry_run);
  return CallAndPrint(command, request,
                      [&](const v1::CreateSubsetResponse& answer) { return Print(SubsetText(answer, flags.all)); });
}

}  // namespace

void AddSubset(CLI::App& suite, Command& command) {
  auto flags = std::make_shared<SubsetFlags>();
  CLI::App* sub = AddSubcommand(
      suite, "subset", "Make a suite of graphs that represent another one within a time budget",
      "  assay suite subset graphnet-torch --structures --budget 30m\n"
      "  assay suite subset graphnet-torch --structures --budget 2h --policy standard --name ci\n"
      "  assay suite subset bundled --budget 90s --dry-run\n\n"
      "The budget is the time of one device. A graph's time comes from its earlier outcomes (compilation and\n"
      "calls), else from its operations and parameters, scaled to those that were measured. Taken is, again and\n"
      "again, what adds most value a second: half of the value are structures, each worth the graphs it stands\n"
      "for, the other half callees, sizes and sources, each worth the same. Of a structure the graph of median\n"
      "time is taken. Graphs that were never measured because they are too large, or because the baseline fails,\n"
      "are left out.\n");
  sub->add_option("suite", flags->suite, "NAME or NAME@VERSION")->required();
  const std::map<std::string, double> units = {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
  sub->add_option("--budget", flags->budget, "Time of one device: 90s, 30m, 2h")
      ->required()
      ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::DEFAULT, "TIME"))
      ->check(CLI::Range(1.0, 1e9));
  sub->add_flag("--structures", flags->structures, "At most one graph a structure");
  sub->add_option("--name", flags->name, "Of the suite to make (default: SUITE-BUDGET)");
  sub->add_option("--policy", flags->policy, "That it will be measured with (sweep)")
      ->check(CLI::IsMember({"sweep", "standard", "precise"}));
  sub->add_option("--compiler", flags->compiler, "Times as this compiler had them (default: any)");
  sub->add_flag("--dry-run", flags->dry_run, "Say what would be chosen, and make nothing");
  sub->add_flag("--all", flags->all, "List all that is left out");
  sub->callback([&command, flags] { command.action = [&command, flags] { return Subset(command, *flags); }; });
}

}  // namespace assay::client
