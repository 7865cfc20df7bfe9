// assay leaderboard, assay curve.
#include "client/command.h"
#include "client/leaderboard_text.h"
#include "client/target.h"

namespace assay::client {
namespace {

struct CurveFlags {
  std::string id, interpretation = "report";
  double p = 0, b = 0, from = 0, to = 0, step = 0;
  bool structures = false, intervals = false, csv = false;
};

int Leaderboard(const Command& command, const std::string& suite_text, bool all) {
  v1::GetLeaderboardRequest request;
  if (!suite_text.empty()) {
    const absl::StatusOr<SuiteName> suite = ParseSuite(suite_text);
    if (!suite.ok()) return Fail(suite.status());
    request.set_suite(suite->name);
    request.set_version(suite->version);
  }
  request.set_all(all);
  return CallAndPrint(command, request,
                      [](const v1::GetLeaderboardResponse& answer) { return Print(LeaderboardText(answer)); });
}

void AddCurve(CLI::App& app, Command& command) {
  auto flags = std::make_shared<CurveFlags>();
  CLI::App* sub = AddSubcommand(app, "curve", "Print S(t) and ES(t) of an evaluation at many t",
                                "  assay curve 7\n"
                                "  assay curve 7 --intervals --csv > curve.csv\n"
                                "  assay curve 7 --interpretation default --p 0.2\n\n"
                                "Interpretations: report (the GraphNet technical report's text), default (its code),\n"
                                "mismatch_extended (its code, with more levels).\n");
  sub->add_option("id", flags->id, "Of an evaluation")->required();
  sub->add_option("--interpretation", flags->interpretation, "report, default or mismatch_extended")
      ->check(CLI::IsMember({"report", "default", "mismatch_extended"}));
  CLI::Option* p = sub->add_option("--p", flags->p, "Penalty of a slow-down (0.1)");
  CLI::Option* b = sub->add_option("--b", flags->b, "Penalty of a failure (0.1)");
  CLI::Option* from = sub->add_option("--from", flags->from, "First t");
  CLI::Option* to = sub->add_option("--to", flags->to, "Last t");
  CLI::Option* step = sub->add_option("--step", flags->step, "Between two t")->check(CLI::PositiveNumber);
  for (CLI::Option* one : {from, to, step}) {
    for (CLI::Option* other : {from, to, step}) {
      if (one != other) one->needs(other);
    }
  }
  sub->add_flag("--structures", flags->structures, "Graphs of one structure weigh one together");
  sub->add_flag("--intervals", flags->intervals, "With bootstrap intervals");
  sub->add_flag("--csv", flags->csv, "Comma-separated values");
  sub->callback([&command, flags, p, b] {
    const bool has_p = p->count() > 0, has_b = b->count() > 0;
    command.action = [&command, flags, has_p, has_b] {
      v1::GetCurveRequest request;
      request.set_id(flags->id);
      request.set_interpretation(flags->interpretation == "default"             ? v1::DEFAULT
                                 : flags->interpretation == "mismatch_extended" ? v1::MISMATCH_EXTENDED
                                                                                : v1::REPORT);
      if (has_p) request.set_p(flags->p);
      if (has_b) request.set_b(flags->b);
      request.set_t_from(flags->from);
      request.set_t_to(flags->to);
      request.set_t_step(flags->step);
      request.set_structures(flags->structures);
      request.set_intervals(flags->intervals);
      return CallAndPrint(command, request, [&](const v1::Curve& curve) {
        return Print(flags->csv ? CurveCsv(curve) : CurveText(curve));
      });
    };
  });
}

}  // namespace

void AddLeaderboard(CLI::App& app, Command& command) {
  auto suite = std::make_shared<std::string>();
  auto all = std::make_shared<bool>(false);
  CLI::App* sub =
      AddSubcommand(app, "leaderboard", "Rank the compilers over a suite",
                    "  assay leaderboard --suite bundled\n"
                    "  assay leaderboard --suite graphnet-torch@2 --all --json\n\n"
                    "S(0): geometric mean speed-up over all graphs, failures and slow-downs punished. ES(t): with\n"
                    "errors up to level t forgiven. λ(0): share of correct graphs, α(0): their mean speed-up.\n");
  sub->add_option("--suite", *suite, "NAME or NAME@VERSION (default: the suite evaluated last)");
  sub->add_flag("--all", *all, "Also older evaluations of the same target");
  sub->callback([&command, suite, all] {
    command.action = [&command, suite, all] { return Leaderboard(command, *suite, *all); };
  });
  AddCurve(app, command);
}

}  // namespace assay::client
