// The lines of one graph's block in a log of GraphNet's own runner, taken apart.
// Thread safety: pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::measure {

// What the lines say, the last one of a kind counting, as in the scoring scripts.
struct LogBlock {
  std::string path;
  std::map<std::string, std::string> configuration;
  std::map<std::string, std::vector<std::string>> dtypes;       // "eager", "compiled"
  std::map<std::string, std::vector<std::string>> correctness;  // "[equal]", … : one word an output
  std::map<std::string, std::string> performance;               // "eager", "compiled": JSON
  std::map<std::string, std::string> speedup;                   // "e2e", "gpu"

  // For the scripts' own classification: whether any line …
  bool has_eager = false;           // has "[Datatype][eager]" or "all_close"
  bool has_compiled = false;        // has "[Datatype][compiled]" or "all_close"
  bool has_matching_shape = false;  // says so, or has "all_close"
  bool has_matching_type = false;
  bool has_error = false;  // has "Exception:" or "Error:"

  // For the honest one.
  bool type_differs = false, shape_differs = false;
  std::optional<bool> succeeded;  // of a [Result] line
  bool blames_eager = false, blames_compiled = false;
  std::string eager_error, compiled_error;  // first line of the message
  bool eager_noisy = false, compiled_noisy = false;
  std::string noise;                      // "IQR/median = 21.4% (threshold: 20%)"
  std::string exception, exception_line;  // name as told by debug-model-execution; the traceback's last line
  std::string interleaved;                // why it must be one with another block; empty: no sign of it
};

// `lines` begin with the [Processing] line.
LogBlock TakeApart(const std::vector<std::string_view>& lines);

}  // namespace assay::measure
