#include "client/calibration_text.h"

#include "client/table.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

std::string Percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

}  // namespace

std::string CalibrationText(const std::vector<v1::Calibration>& calibrations) {
  if (calibrations.empty()) return "";
  Table table({{"WORKER"},
               {"DEVICE"},
               {"A/A OF"},
               {"PROCESSES", true},
               {"THREADS", true},
               {"POLICY"},
               {"TRIALS", true},
               {"MEDIAN", true},
               {"P95", true},
               {"MAX", true},
               {"COVERAGE", true},
               {"WRONG", true},
               {"ENVIRONMENT"},
               {"WHEN (UTC)"}});
  for (const v1::Calibration& c : calibrations) {
    table.Add({c.worker_id().substr(0, 8), c.device(),
               fmt::format("{} {}", TargetWord(c.target()), c.target().version()), c.one_process() ? "1" : "2",
               c.policy().threads() == 0 ? "default" : std::to_string(c.policy().threads()), c.policy().name(),
               std::to_string(c.trials()), Percent(c.median_error()), Percent(c.p95_error()), Percent(c.max_error()),
               c.intervals() == 0 ? "" : fmt::format("{:.0f} %", 100.0 * c.covering() / c.intervals()),
               std::to_string(c.wrong_verdicts()), c.environment_hash().substr(0, 8), When(c.created())});
  }
  return table.Text();
}

std::string CalibrationWord(double p95, bool noisy) {
  return p95 == 0 ? "–" : fmt::format("{:.1f} %{}", 100 * p95, noisy ? " !" : "");
}

}  // namespace assay::client
