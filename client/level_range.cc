#include "client/level_range.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {

absl::StatusOr<LevelRange> ParseLevelRange(std::string_view text) {
  std::vector<double> numbers;
  for (const std::string& part : Split(text, ':')) {
    const std::optional<double> number = ParseNumber<double>(part);
    if (!number.has_value() || !std::isfinite(*number)) {
      return absl::InvalidArgumentError(
          fmt::format("levels are written FROM:TO:STEP, FROM:TO or T, as in -5:1:0.5; {} is no number",
                      part.empty() ? "nothing" : "'" + part + "'"));
    }
    numbers.push_back(*number);
  }
  if (numbers.empty() || numbers.size() > 3) {
    return absl::InvalidArgumentError("levels are written FROM:TO:STEP, FROM:TO or T, as in -5:1:0.5");
  }
  LevelRange range{.from = numbers[0], .to = numbers.size() > 1 ? numbers[1] : numbers[0]};
  if (numbers.size() > 2) range.step = numbers[2];
  if (range.to < range.from) {
    return absl::InvalidArgumentError(fmt::format("the last level, {}, is below the first, {}", range.to, range.from));
  }
  if (range.step <= 0) return absl::InvalidArgumentError("the step between two levels must be above 0");
  return range;
}

}  // namespace assay::client
