// Reads logs of GraphNet's own runner into outcomes, in one of two readings.
//
// kAsPeer: the classes, and so the scores, that GraphNet's scoring scripts give: any line with "Error:" makes a graph
// a runtime failure, a graph without a data type line is an eager failure, complex outputs must be bit-equal …
// kHonest: what the log shows: a compile failure is one, a run that the runner itself rejected as too noisy is nobody's
// error (skipped), warnings do not count, a NaN is told from a wrong number.
//
// In both, a block that is cut off, interleaved with another or contradicts itself is never guessed at: its graph is
// `skipped` with the reason (kAsPeer: only where the scripts would stop, or where no single t* says what the log
// says). A log tests whole levels: t* is the smallest one that holds, so at levels between it is an upper bound.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure/error_class.h"

namespace assay::measure {

enum class LogReading : uint8_t { kHonest, kAsPeer };

struct LogOutcome {
  std::string path;  // as logged; valid UTF-8 here and in `message`
  std::string file;
  int64_t line = 0;  // of its [Processing] line, from 1
  ErrorClass error_class = ErrorClass::kSkipped;
  FailureDetail detail = FailureDetail::kNone;
  std::string message;     // of all but a correct one
  double critical_t = 0;   // of a correct one
  double speedup = 0;      // of a correct one
  double baseline_ns = 0;  // 0: not told
  double candidate_ns = 0;
};

struct LogContents {
  std::vector<LogOutcome> outcomes;  // one a block, in order
  // What the blocks say of "device", "hardware", "compiler" and "compile_framework_version": each different value.
  std::map<std::string, std::vector<std::string>> configuration;
  std::vector<std::string> notes;  // what was passed over, and why: "FILE:LINE: …"
};

inline constexpr int64_t kMostLogBlocks = 100000;
inline constexpr size_t kLongestLogLine = 1 << 20;

class LogReader {
 public:
  explicit LogReader(LogReading reading) : reading_(reading) {}

  // Reads the text of one file; several follow each other. InvalidArgument: a line or the number of blocks is over the
  // limits, or there is no [Processing] line: this is no such log.
  absl::Status Read(std::string_view text, const std::string& file);

  const LogContents& contents() const { return contents_; }

 private:
  const LogReading reading_;
  LogContents contents_;
};

}  // namespace assay::measure
