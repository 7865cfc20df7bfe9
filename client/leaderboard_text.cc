#include "client/leaderboard_text.h"

#include <algorithm>
#include <map>

#include "client/calibration_text.h"
#include "client/table.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

// What a score is over, where it is not all graphs alike.
std::string WeightingText(bool by_structure, bool without_degenerate) {
  std::string text;
  if (by_structure) text += ", each structure weighs one";
  if (without_degenerate) text += ", without degenerate graphs";
  return text;
}

}  // namespace

std::string LeaderboardText(const v1::GetLeaderboardResponse& leaderboard) {
  std::string text = fmt::format("{} version {}{}\n", leaderboard.suite(), leaderboard.version(),
                                 WeightingText(leaderboard.structures(), leaderboard.without_degenerate()));
  for (const v1::LeaderboardSection& section : leaderboard.sections()) {
    text += fmt::format("\nagainst {} on {}{}\n", TargetWord(section.baseline()), section.cohort(),
                        section.replay().empty() ? "" : ", replay " + section.replay());
    Table table({{"RANK", true},    {"TARGET"},        {"S(0) [95 %]"},      {"ES(1) [95 %]"},   {"ES(2)", true},
                 {"ES(3)", true},   {"λ(0)", true},    {"α(0)", true},       {"GRAPHS", true},   {"STRUCTURES", true},
                 {"CORRECT", true}, {"FAILED", true},  {"DEGENERATE", true}, {"UNSTABLE", true}, {"SKIPPED", true},
                 {"A/A P95", true}, {"COMPILE", true}, {"CANDIDATE", true},  {"BASELINE", true}, {"ID", true}});
    for (const v1::LeaderboardEntry& e : section.entries()) {
      table.Add({std::to_string(e.rank()),
                 fmt::format("{} {}{}", TargetWord(e.evaluation().candidate()), e.evaluation().candidate().version(),
                             e.self_reported() ? " (self-reported)" : ""),
                 WithInterval(e.s0(), e.s0_low(), e.s0_high()),
                 WithInterval(e.es1(), e.es1_low(), e.es1_high()),
                 Fixed(e.es2(), 3),
                 Fixed(e.es3(), 3),
                 Fixed(e.lambda0(), 3),
                 Fixed(e.alpha0(), 3),
                 std::to_string(e.graphs()),
                 std::to_string(e.structures()),
                 std::to_string(e.correct()),
                 std::to_string(e.failed()),
                 std::to_string(e.degenerate()),
                 std::to_string(e.unstable()),
                 std::to_string(e.skipped()),
                 CalibrationWord(e.calibration_p95(), e.noisy_device()),
                 Duration(e.median_compile_ns()),
                 Duration(e.median_candidate_ns()),
                 Duration(e.median_baseline_ns()),
                 e.evaluation().id()});
    }
    text += table.Text();
    if (std::any_of(section.entries().begin(), section.entries().end(), [](const auto& e) { return e.noisy_device(); }))
      text += "! the A/A error of the device is above 2 %: small differences mean nothing\n";
  }
  if (leaderboard.sections().empty()) text += "no completed evaluation of the whole suite yet\n";
  return Printable(text);
}

std::string CurveText(const v1::Curve& curve) {
  std::string text = fmt::format("evaluation {}{}: {} graphs, {} structures{}, reading {}, p = {}, b = {}\n",
                                 curve.id(), curve.provisional() ? " (provisional: still running)" : "", curve.graphs(),
                                 curve.structures(), WeightingText(curve.by_structure(), curve.without_degenerate()),
                                 LowerCase(v1::Interpretation_Name(curve.interpretation())), curve.p(), curve.b());
  if (!curve.pi().empty()) {
    text += "failures:";
    for (const auto& [name, share] : std::map<std::string, double>(curve.pi().begin(), curve.pi().end())) {
      if (share > 0) text += fmt::format(" {} {:.3f}", name, share);
    }
    text += "\n";
  }
  Table table({{"t", true},
               {"S(t)"},
               {"ES(t)"},
               {"α", true},
               {"β", true},
               {"λ", true},
               {"η", true},
               {"γ", true},
               {"CORRECT", true}});
  for (const v1::CurvePoint& point : curve.points()) {
    table.Add({fmt::format("{:g}", point.t()), WithInterval(point.s(), point.s_low(), point.s_high()),
               WithInterval(point.es(), point.es_low(), point.es_high()), Fixed(point.alpha(), 3),
               Fixed(point.beta(), 3), Fixed(point.lambda(), 3), Fixed(point.eta(), 3), Fixed(point.gamma(), 3),
               std::to_string(point.correct())});
  }
  return text + table.Text();
}

std::string CurveCsv(const v1::Curve& curve) {
  Table table({{"t"},
               {"s"},
               {"es"},
               {"alpha"},
               {"beta"},
               {"lambda"},
               {"eta"},
               {"gamma"},
               {"s_low"},
               {"s_high"},
               {"es_low"},
               {"es_high"},
               {"correct"}});
  for (const v1::CurvePoint& p : curve.points()) {
    std::vector<std::string> row;
    for (const double value : {p.t(), p.s(), p.es(), p.alpha(), p.beta(), p.lambda(), p.eta(), p.gamma(), p.s_low(),
                               p.s_high(), p.es_low(), p.es_high()}) {
      row.push_back(fmt::format("{}", value));
    }
    row.push_back(std::to_string(p.correct()));
    table.Add(std::move(row));
  }
  return table.Csv();
}

}  // namespace assay::client
