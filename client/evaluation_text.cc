#include "client/evaluation_text.h"

#include "client/table.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

std::string StateWord(v1::EvaluationState state) { return LowerCase(v1::EvaluationState_Name(state)); }

// The policy; of one that was imported what it was read as.
std::string HowMeasured(const v1::Evaluation& evaluation) {
  if (!evaluation.imported().empty()) return "imported, " + evaluation.imported();
  return evaluation.policy().name() + (evaluation.policy().cache() == "cold" ? ", cold caches" : "");
}

}  // namespace

bool IsFinal(v1::EvaluationState state) { return state == v1::COMPLETED || state == v1::CANCELLED; }

std::string CountsText(const v1::Evaluation& evaluation) {
  std::string text;
  for (int c = v1::OutcomeClass_MIN; c <= v1::OutcomeClass_MAX; ++c) {
    const std::string name = ClassWord(static_cast<v1::OutcomeClass>(c));
    const auto count = evaluation.counts().find(name);
    if (count == evaluation.counts().end() || count->second == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count->second, name);
  }
  return text;
}

std::string ProgressLine(const v1::Evaluation& evaluation, const Rate& rate) {
  std::string text = fmt::format("{}/{} graphs", evaluation.finished(), evaluation.trials());
  if (IsFinal(evaluation.state())) {
    text += " · " + StateWord(evaluation.state());
  } else if (evaluation.running() > 0) {
    text += fmt::format(" · {} running", evaluation.running());
  } else if (!evaluation.waiting_for().empty()) {
    text += " · waiting: " + Printable(evaluation.waiting_for());
  }
  if (const std::string counts = CountsText(evaluation); !counts.empty()) text += " · " + counts;
  if (IsFinal(evaluation.state())) return text;
  if (const double per_second = rate.per_second(); per_second > 0) {
    text += per_second >= 1 ? fmt::format(" · {:.1f} a second", per_second)
                            : fmt::format(" · {:.1f} a minute", per_second * 60);
  }
  const double left = evaluation.expected_seconds_left() > 0
                          ? evaluation.expected_seconds_left()
                          : rate.SecondsFor(evaluation.trials() - evaluation.finished());
  if (left > 0) text += fmt::format(" · {} left", Seconds(left));
  return text;
}

std::string Headline(const v1::Evaluation& evaluation) {
  const std::string against =
      evaluation.has_baseline() ? " against " + TargetWord(evaluation.baseline()) : " only compiled";
  std::string text = fmt::format("evaluation {}: {}{} on {} version {} ({}): {}", evaluation.id(),
                                 TargetWord(evaluation.candidate()), against, evaluation.suite(),
                                 evaluation.suite_version(), HowMeasured(evaluation), StateWord(evaluation.state()));
  if (evaluation.partial()) text += ", part of the suite";
  if (const std::string counts = CountsText(evaluation); !counts.empty()) text += ", " + counts;
  return Printable(text);
}

std::string EvaluationTable(const v1::ListEvaluationsResponse& list) {
  Table table({{"ID", true},
               {"SUITE"},
               {"TARGET"},
               {"BASELINE"},
               {"POLICY"},
               {"STATE"},
               {"DONE", true},
               {"OUTCOMES"},
               {"BY"},
               {"CREATED (UTC)"}});
  for (const v1::Evaluation& e : list.evaluations()) {
    table.Add({e.id(), fmt::format("{}@{}{}", e.suite(), e.suite_version(), e.partial() ? " (part)" : ""),
               TargetWord(e.candidate()), e.has_baseline() ? TargetWord(e.baseline()) : "–", HowMeasured(e),
               StateWord(e.state()), fmt::format("{}/{}", e.finished(), e.trials()), CountsText(e), e.submitter(),
               When(e.created())});
  }
  return table.Text();
}

}  // namespace assay::client
