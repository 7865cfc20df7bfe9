// assay leaderboard, assay curve.
#include <optional>

#include "client/command.h"
#include "client/leaderboard_text.h"
#include "client/level_range.h"
#include "client/target.h"
#include "client/text.h"

namespace assay::client {
namespace {

struct CurveFlags {
  std::string id, interpretation = "report";
  double p = 0, b = 0;
  std::optional<LevelRange> levels;
  bool structures = false, without_degenerate = false, intervals = false, csv = false;
};

struct LeaderboardFlags {
  std::string suite;
  bool all = false, structures = false, without_degenerate = false;
};

constexpr char kStructures[] = "Each structure weighs one: graphs that differ in sizes only share its weight";

int Leaderboard(const Command& command, const LeaderboardFlags& flags) {
  v1::GetLeaderboardRequest request;
  if (!flags.suite.empty()) {
    const absl::StatusOr<SuiteName> suite = ParseSuite(flags.suite);
    if (!suite.ok()) return Fail(suite.status());
    request.set_suite(suite->name);
    request.set_version(suite->version);
  }
  request.set_all(flags.all);
  request.set_structures(flags.structures);
  request.set_without_degenerate(flags.without_degenerate);
  return CallAndPrint(command, request,
                      [](const v1::GetLeaderboardResponse& answer) { return Print(LeaderboardText(answer)); });
}

void AddCurve(CLI::App& app, Command& command) {
  auto flags = std::make_shared<CurveFlags>();
  CLI::App* sub = AddSubcommand(app, "curve", "Print S(t) and ES(t) of an evaluation at many t",
                                "  assay curve 7\n"
                                "  assay curve 7 --intervals --csv > curve.csv\n"
                                "  assay curve 7 --interpretation default --p 0.2\n"
                                "  assay curve 7 --t -6:1:0.5 --json\n"
                                "  assay curve 7 --structures --without-degenerate\n\n"
                                "Interpretations: report (the GraphNet technical report's text), default (its code),\n"
                                "mismatch_extended (its code, with more levels).\n");
  sub->add_option("id", flags->id, "Of an evaluation")->required();
  sub->add_option("--interpretation", flags->interpretation, "report, default or mismatch_extended")
      ->check(CLI::IsMember({"report", "default", "mismatch_extended"}));
  CLI::Option* p = sub->add_option("--p", flags->p, "Penalty of a slow-down (0.1)");
  CLI::Option* b = sub->add_option("--b", flags->b, "Penalty of a failure (0.1)");
  sub->add_option_function<std::string>(
      "--t",
      [flags](const std::string& text) {
        const absl::StatusOr<LevelRange> levels = ParseLevelRange(text);
        if (!levels.ok()) throw CLI::ValidationError("--t", MessageOf(levels.status()));
        flags->levels = *levels;
      },
      "FROM:TO:STEP, or one level (default: from -10 to the interpretation's last)");
  sub->add_flag("--structures", flags->structures, kStructures);
  AddWithoutDegenerate(*sub, flags->without_degenerate);
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
      if (flags->levels) {
        request.set_t_from(flags->levels->from);
        request.set_t_to(flags->levels->to);
        request.set_t_step(flags->levels->step);
      }
      request.set_structures(flags->structures);
      request.set_without_degenerate(flags->without_degenerate);
      request.set_intervals(flags->intervals);
      return CallAndPrint(command, request, [&](const v1::Curve& curve) {
        return Print(flags->csv ? CurveCsv(curve) : CurveText(curve));
      });
    };
  });
}

}  // namespace

void AddLeaderboard(CLI::App& app, Command& command) {
  auto flags = std::make_shared<LeaderboardFlags>();
  CLI::App* sub =
      AddSubcommand(app, "leaderboard", "Rank the compilers over a suite",
                    "  assay leaderboard --suite bundled\n"
                    "  assay leaderboard --suite graphnet-torch@2 --all --json\n"
                    "  assay leaderboard --suite graphnet-torch --structures --without-degenerate\n\n"
                    "S(0): geometric mean speed-up over all graphs, failures and slow-downs punished. ES(t): with\n"
                    "errors up to level t forgiven. λ(0): share of correct graphs, α(0): their mean speed-up.\n");
  sub->add_option("--suite", flags->suite, "NAME or NAME@VERSION (default: the suite evaluated last)");
  sub->add_flag("--all", flags->all, "Also older evaluations of the same target");
  sub->add_flag("--structures", flags->structures, kStructures);
  AddWithoutDegenerate(*sub, flags->without_degenerate);
  sub->callback([&command, flags] { command.action = [&command, flags] { return Leaderboard(command, *flags); }; });
  AddCurve(app, command);
}

}  // namespace assay::client
