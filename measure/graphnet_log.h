// Logs of GraphNet's own runner: the tolerance levels and keys that they use, and one graph's block as the runner would
// have written it, so that its scoring scripts give the scores that scores.h gives. graphnet_log_reader.h reads them.
//
// What a log cannot say: NaN and infinities are an accuracy failure to the scoring scripts; complex and quantised
// outputs must be equal to them; a critical tolerance is known to one level.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/error_class.h"
#include "measure/tolerance.h"

namespace assay::measure {

inline constexpr std::string_view kLogPrompt = "graph-net-test-compiler-log";
// The levels that a log tests, both included.
inline constexpr int kFirstLogLevel = -10;
inline constexpr int kLastLogLevel = 5;
inline constexpr std::string_view kEqualKey = "[equal]";

// "[all_close_atol_1.00E-06_rtol_2.51E-04]"; kEqualKey for an exact rule.
std::string LogKey(const ToleranceRule& rule, int t);

struct LoggedOutput {
  std::string dtype;      // after "torch."
  double critical_t = 0;  // -infinity: bit-equal
  double max_abs_diff = 0;
  double mean_abs_diff = 0;
};
struct LoggedTimes {
  double minimum_ns = 0, lower_quartile_ns = 0, median_ns = 0, upper_quartile_ns = 0, maximum_ns = 0;
};
struct LoggedGraph {
  std::string path;  // white space in it becomes '_': the scripts take the last word
  std::vector<std::pair<std::string, std::string>> configuration;
  ErrorClass error_class = ErrorClass::kCorrect;
  std::string message;                // of a failure
  std::vector<LoggedOutput> outputs;  // needed where outputs were compared (correct, accuracy, nan, inf)
  std::optional<double> speedup;      // needed where correct
  std::optional<LoggedTimes> baseline, candidate;
};

// The graph's block, lines and all. Levels above 1 repeat what holds at 1, where scores are frozen.
// Precondition: the class is scored (IsScored).
std::string WriteLogBlock(const LoggedGraph& graph);

}  // namespace assay::measure
