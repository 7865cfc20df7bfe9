// assay results, assay show.
#include "client/command.h"
#include "client/measurement_text.h"
#include "client/pages.h"
#include "client/table.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

struct ResultsFlags {
  std::string id;
  bool csv = false, failed = false, without_degenerate = false;
};

std::string CsvNumber(double value) { return value == 0 ? "" : fmt::format("{}", value); }

// Every column of an outcome, unrounded.
std::string OutcomesCsv(const v1::ListOutcomesResponse& list) {
  Table table({{"graph"},        {"hash"},        {"class"},       {"detail"},       {"message"},
               {"critical_t"},   {"speedup"},     {"speedup_low"}, {"speedup_high"}, {"verdict"},
               {"candidate_ns"}, {"baseline_ns"}, {"compile_ns"},  {"unstable"},     {"self_reported"},
               {"degenerate"},   {"measurement"}, {"structure"},   {"degeneracy"},   {"replay"}});
  for (const v1::Outcome& o : list.outcomes()) {
    const bool compared = o.outcome_class() == v1::CORRECT || o.outcome_class() == v1::ACCURACY;
    table.Add({o.graph(),
               o.graph_hash(),
               ClassWord(o.outcome_class()),
               DetailWord(o.detail()),
               o.message(),
               compared ? fmt::format("{}", o.critical_t()) : "",
               CsvNumber(o.speedup()),
               CsvNumber(o.speedup_low()),
               CsvNumber(o.speedup_high()),
               o.verdict() == v1::VERDICT_UNSPECIFIED ? "" : VerdictWord(o.verdict()),
               CsvNumber(o.candidate_ns()),
               CsvNumber(o.baseline_ns()),
               CsvNumber(static_cast<double>(o.compile_ns())),
               o.unstable() ? "1" : "0",
               o.self_reported() ? "1" : "0",
               o.degenerate() ? "1" : "0",
               o.measurement_id(),
               o.structure(),
               DegeneracyWord(o.degeneracy()),
               o.replay()});
  }
  return table.Csv();
}

std::string OutcomesText(const v1::ListOutcomesResponse& list) {
  Table table({{"GRAPH"},
               {"OUTCOME"},
               {"t*", true},
               {"SPEED-UP [95 %]"},
               {"VERDICT"},
               {"BASELINE", true},
               {"CANDIDATE", true},
               {"COMPILE", true},
               {"NOTES"}});
  for (const v1::Outcome& o : list.outcomes()) {
    std::string notes;
    const auto note = [&](std::string_view text) { notes += (notes.empty() ? "" : "; ") + std::string(text); };
    if (o.unstable()) note("unstable");
    if (o.degenerate())
      note(o.degeneracy() == v1::DEGENERACY_UNSPECIFIED ? "degenerate"
                                                        : "degenerate: " + DegeneracyWord(o.degeneracy()));
    if (o.self_reported()) note("self-reported");
    if (!o.message().empty()) note(o.message());
    const bool compared = o.outcome_class() == v1::CORRECT || o.outcome_class() == v1::ACCURACY;
    const std::string detail = DetailWord(o.detail());
    table.Add({o.graph(), ClassWord(o.outcome_class()) + (detail.empty() ? "" : " (" + detail + ")"),
               compared ? CriticalT(o.critical_t()) : "–",
               o.speedup() == 0 ? "–" : WithInterval(o.speedup(), o.speedup_low(), o.speedup_high()),
               VerdictWord(o.verdict()), Duration(o.baseline_ns()), Duration(o.candidate_ns()),
               Duration(static_cast<double>(o.compile_ns())), notes});
  }
  return table.Text();
}

int Results(const Command& command, const ResultsFlags& flags) {
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return Fail(api.status());
  absl::StatusOr<v1::ListOutcomesResponse> all = AllOutcomes(**api, flags.id, flags.without_degenerate);
  if (!all.ok()) return Fail(all.status());
  if (flags.failed) {
    v1::ListOutcomesResponse failed;
    for (v1::Outcome& o : *all->mutable_outcomes()) {
      if (o.outcome_class() != v1::CORRECT && o.outcome_class() != v1::COMPILED) *failed.add_outcomes() = std::move(o);
    }
    *all = std::move(failed);
  }
  if (command.json) return PrintJson(*all);
  if (flags.csv) return Print(OutcomesCsv(*all));
  if (all->outcomes().empty()) return Print(flags.failed ? "no failed graphs\n" : "no outcomes yet\n");
  return Print(OutcomesText(*all));
}

int Show(const Command& command, const std::string& id, const std::string& graph, bool samples, bool all) {
  v1::ListMeasurementsRequest request;
  request.set_id(id);
  request.set_graph(graph);
  request.set_samples(samples);
  return CallAndPrint(command, request, [&](const v1::ListMeasurementsResponse& answer) {
    const int count = answer.measurements_size();
    std::string text = fmt::format("{}  {}\n{} measurement{}{}\n", answer.graph(), answer.graph_hash(), count,
                                   count == 1 ? "" : "s", count > 1 && !all ? ", the newest (--all shows each):" : "");
    for (int i = all ? 0 : std::max(0, count - 1); i < count; ++i) {
      text += "\n" + MeasurementText(answer.measurements(i));
    }
    return Print(text);
  });
}

}  // namespace

void AddResults(CLI::App& app, Command& command) {
  auto flags = std::make_shared<ResultsFlags>();
  CLI::App* results =
      AddSubcommand(app, "results", "List the outcome of each graph of an evaluation",
                    "  assay results 7\n"
                    "  assay results 7 --failed\n"
                    "  assay results 7 --csv > results.csv               unrounded, with every column\n\n"
                    "t* is the smallest tolerance level at which the outputs agree; 'exact' means bit-equal.\n");
  results->add_option("id", flags->id, "Of an evaluation")->required();
  CLI::Option* csv = results->add_flag("--csv", flags->csv, "Comma-separated values");
  results->add_flag("--failed", flags->failed, "Only those that are not correct");
  AddWithoutDegenerate(*results, flags->without_degenerate);
  results->callback([&command, flags, csv] {
    if (command.json && flags->csv) throw CLI::ExcludesError("--json", csv->get_name());
    command.action = [&command, flags] { return Results(command, *flags); };
  });

  struct ShowFlags {
    std::string id, graph;
    bool samples = false, all = false;
  };
  auto which = std::make_shared<ShowFlags>();
  CLI::App* show =
      AddSubcommand(app, "show", "Show how one graph was measured: phases, timing, outputs, environment, evidence",
                    "  assay show 7 mlp\n"
                    "  assay show 7 3f9ac0d1 --all                       every attempt, by the graph's hash\n"
                    "  assay show 7 mlp --json --samples                 with every raw sample\n");
  show->add_option("id", which->id, "Of an evaluation")->required();
  show->add_option("graph", which->graph, "Its name in the suite, or its hash or a prefix of it")->required();
  show->add_flag("--samples", which->samples, "With raw samples and artifacts (in --json)");
  show->add_flag("--all", which->all, "Every measurement, oldest first");
  show->callback([&command, which] {
    command.action = [&command, which] { return Show(command, which->id, which->graph, which->samples, which->all); };
  });
}

}  // namespace assay::client
