#include "measure/graphnet_log_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "fmt/format.h"
#include "measure/graphnet_log.h"
#include "measure/graphnet_log_block.h"

namespace assay::measure {
namespace {

constexpr double kExact = -std::numeric_limits<double>::infinity();
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes that are no UTF-8 become U+FFFD, control characters '?'.
std::string Clean(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x80                ? 1
                          : c >= 0xC2 && c < 0xE0 ? 2
                          : c >= 0xE0 && c < 0xF0 ? 3
                          : c >= 0xF0 && c < 0xF5 ? 4
                                                  : 0;
    bool good = length > 0 && i + length <= text.size();
    for (size_t k = 1; good && k < length; ++k) good = (static_cast<unsigned char>(text[i + k]) & 0xC0) == 0x80;
    if (good && length == 3) {  // overlong forms and surrogates
      const unsigned char next = static_cast<unsigned char>(text[i + 1]);
      good = !(c == 0xE0 && next < 0xA0) && !(c == 0xED && next >= 0xA0);
    } else if (good && length == 4) {
      const unsigned char next = static_cast<unsigned char>(text[i + 1]);
      good = !(c == 0xF0 && next < 0x90) && !(c == 0xF4 && next >= 0x90);
    }
    if (!good) {
      out += kReplacement;
      ++i;
    } else {
      out += length == 1 && (c < 0x20 || c == 0x7F) ? std::string_view("?") : text.substr(i, length);
      i += length;
    }
  }
  return out;
}

// The whole text as a number, "nan" and "inf" among them.
std::optional<double> Number(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

// The number behind "median": within "e2e" of a [Performance] line's JSON, in ns.
double MedianNs(const std::string& json) {
  const size_t e2e = json.find("\"e2e\"");
  if (e2e == std::string::npos) return 0;
  constexpr std::string_view kMedian = "\"median\":";
  const size_t end = json.find('}', e2e), at = json.find(kMedian, e2e);
  if (at == std::string::npos || at > end) return 0;
  size_t begin = at + kMedian.size();
  while (begin < json.size() && json[begin] == ' ') ++begin;
  double ms = 0;
  const auto [stop, error] = std::from_chars(json.data() + begin, json.data() + json.size(), ms);
  return error == std::errc() && std::isfinite(ms) && ms > 0 ? ms * 1e6 : 0;
}

// t* from the levels at which all outputs are close; nothing where a lower level holds and a higher one does not.
// +infinity: not even at 1.
template <typename IsClose>
std::optional<double> CriticalLevel(const IsClose& is_close) {
  double lowest = std::numeric_limits<double>::infinity();
  bool broken = false;
  for (int t = static_cast<int>(kAccuracyLevel); t >= kFirstLogLevel; --t) {
    if (!is_close(t)) {
      broken = true;
    } else if (broken) {
      return std::nullopt;
    } else {
      lowest = t;
    }
  }
  return lowest;
}

const std::vector<std::string>& Words(const std::map<std::string, std::vector<std::string>>& map,
                                      const std::string& key) {
  static const std::vector<std::string> kNone;
  const auto found = map.find(key);
  return found == map.end() ? kNone : found->second;
}

bool IsTrue(const std::vector<std::string>& words, size_t output) {
  return output < words.size() && Number(words[output]).value_or(1) != 0;
}

bool AllTrue(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (!IsTrue(words, i)) return false;
  }
  return true;
}

void Skip(LogOutcome& outcome, std::string reason) {
  outcome.error_class = ErrorClass::kSkipped;
  outcome.message = std::move(reason);
}

void FailWith(LogOutcome& outcome, ErrorClass error_class, std::string message) {
  outcome.error_class = error_class;
  outcome.detail = FailureDetail::kError;
  outcome.message = message.empty() ? "the log gives no reason" : Clean(message);
}

// Correct with its speed-up, or skipped where there is none.
void Succeed(const LogBlock& block, double critical_t, LogOutcome& outcome) {
  const auto line = block.speedup.find("e2e");
  if (line == block.speedup.end()) {
    Skip(outcome, "correct, but without a [Speedup][e2e] line: it has no speed-up to count");
    return;
  }
  const auto speedup = Number(line->second);
  if (!speedup || !std::isfinite(*speedup) || *speedup <= 0) {
    Skip(outcome, fmt::format("its speed-up '{}' is not a number above 0", Clean(line->second)));
    return;
  }
  outcome.error_class = ErrorClass::kCorrect;
  outcome.critical_t = critical_t;
  outcome.speedup = *speedup;
}

// The scripts' own rule for one output: a data type that they do not list must be equal.
ToleranceRule PeerRule(const std::string& dtype) {
  for (const char* known : {"float16", "bfloat16", "float32", "float64"}) {
    if (dtype == known) return RuleOf(dtype);
  }
  return {.exact = true};
}

void ReadAsPeer(const LogBlock& block, LogOutcome& outcome) {
  if (!block.has_eager) return FailWith(outcome, ErrorClass::kEagerFail, block.eager_error);
  if (!block.has_compiled) return FailWith(outcome, ErrorClass::kCompileFail, block.compiled_error);
  if (!block.has_matching_shape) return FailWith(outcome, ErrorClass::kShapeMismatch, "no line says that shapes match");
  if (!block.has_matching_type) return FailWith(outcome, ErrorClass::kTypeMismatch, "no line says that types match");
  if (block.has_error) return FailWith(outcome, ErrorClass::kRuntimeFail, "a line has 'Error:' or 'Exception:'");
  for (const auto& [key, words] : block.correctness) {
    for (const std::string& word : words) {
      if (!Number(word)) return Skip(outcome, fmt::format("'{}' in its {} line is not a number", Clean(word), key));
    }
  }
  const std::vector<std::string>& dtypes = Words(block.dtypes, "eager");
  const std::vector<std::string>& equal = Words(block.correctness, std::string(kEqualKey));
  if (dtypes.size() < equal.size()) {
    return Skip(outcome, fmt::format("it has {} outputs and data types of {}: GraphNet's scripts would stop here",
                                     equal.size(), dtypes.size()));
  }
  const auto level = CriticalLevel([&](int t) {
    for (size_t i = 0; i < equal.size(); ++i) {
      if (!IsTrue(Words(block.correctness, LogKey(PeerRule(dtypes[i]), t)), i)) return false;
    }
    return true;
  });
  if (!level) return Skip(outcome, "it is close at one level and not at a higher one: no t* says that");
  if (*level > kAccuracyLevel) return FailWith(outcome, ErrorClass::kAccuracy, "not close at any level up to 1");
  Succeed(block, AllTrue(equal) ? kExact : *level, outcome);
}

bool IsCompileError(const LogBlock& block) {
  if (block.exception_line.starts_with("torch._dynamo.exc.") ||
      block.exception_line.starts_with("torch._inductor.exc.")) {
    return true;
  }
  for (const std::string_view name :
       {"CompileError", "CompilationError", "CompilationException", "BackendCompilerFailed", "InductorError",
        "LoweringException", "TorchRuntimeError", "Unsupported", "InternalTorchDynamoError"}) {
    if (block.exception.ends_with(name)) return true;
  }
  return false;
}

// [Result] says that it failed.
void ReadFailure(const LogBlock& block, LogOutcome& outcome) {
  const bool eager = !block.eager_error.empty(), compiled = !block.compiled_error.empty();
  if (eager && !block.eager_noisy) return FailWith(outcome, ErrorClass::kEagerFail, block.eager_error);
  const bool raised = compiled || !block.exception.empty();
  if (raised && !block.compiled_noisy) {
    const std::string& message = compiled ? block.compiled_error : block.exception_line;
    return FailWith(outcome, IsCompileError(block) ? ErrorClass::kCompileFail : ErrorClass::kRuntimeFail, message);
  }
  if (block.eager_noisy || block.compiled_noisy) {
    return Skip(outcome,
                fmt::format("rejected by GraphNet's own runner as too noisy, which is not the compiler's error: {}",
                            Clean(block.noise)));
  }
  if (block.blames_eager) return FailWith(outcome, ErrorClass::kEagerFail, "");
  if (block.blames_compiled) return FailWith(outcome, ErrorClass::kRuntimeFail, "");
  Skip(outcome, "it failed, and the log does not say which side");
}

// What an output that is close nowhere has: a NaN, an infinity, or wrong numbers.
ErrorClass WrongnessOf(const std::vector<std::string>& max_diff, size_t output) {
  if (output >= max_diff.size()) return ErrorClass::kAccuracy;
  const double value = Number(max_diff[output]).value_or(0);
  return std::isnan(value) ? ErrorClass::kNan : std::isinf(value) ? ErrorClass::kInf : ErrorClass::kAccuracy;
}

void ReadComparison(const LogBlock& block, LogOutcome& outcome) {
  const std::vector<std::string>& dtypes = Words(block.dtypes, "eager");
  const std::vector<std::string>& equal = Words(block.correctness, std::string(kEqualKey));
  if (dtypes.empty() || dtypes.size() != equal.size()) {
    return Skip(outcome,
                fmt::format("it is cut off: data types of {} outputs, comparisons of {}", dtypes.size(), equal.size()));
  }
  std::vector<ToleranceRule> rules;
  for (const std::string& dtype : dtypes) rules.push_back(RuleOf(dtype));
  for (int t = kFirstLogLevel; t <= static_cast<int>(kAccuracyLevel); ++t) {
    for (const ToleranceRule& rule : rules) {
      const std::string key = LogKey(rule, t);
      const std::vector<std::string>& words = Words(block.correctness, key);
      const bool complete =
          words.size() == dtypes.size() &&
          std::all_of(words.begin(), words.end(), [](const auto& word) { return word == "0" || word == "1"; });
      if (!complete) return Skip(outcome, fmt::format("it is cut off: no whole {} line", key));
    }
  }
  // An equal output is close under any bounds, whatever a log of a complex or quantised one can say.
  const auto is_close = [&](size_t output, int t) {
    return IsTrue(equal, output) || IsTrue(Words(block.correctness, LogKey(rules[output], t)), output);
  };
  const auto level = CriticalLevel([&](int t) {
    for (size_t i = 0; i < rules.size(); ++i) {
      if (!is_close(i, t)) return false;
    }
    return true;
  });
  if (!level) return Skip(outcome, "it is close at one level and not at a higher one: no t* says that");
  if (*level <= kAccuracyLevel) return Succeed(block, AllTrue(equal) ? kExact : *level, outcome);
  ErrorClass worst = ErrorClass::kAccuracy;
  for (size_t i = 0; i < rules.size(); ++i) {
    if (is_close(i, static_cast<int>(kAccuracyLevel))) continue;
    const ErrorClass wrong = WrongnessOf(Words(block.correctness, "[max_diff]"), i);
    if (wrong == ErrorClass::kNan || (wrong == ErrorClass::kInf && worst == ErrorClass::kAccuracy)) worst = wrong;
  }
  FailWith(outcome, worst, "not close at any level up to 1");
}

void ReadHonestly(const LogBlock& block, LogOutcome& outcome) {
  if (!block.interleaved.empty()) {
    return Skip(outcome, fmt::format("interleaved with another graph: {}", Clean(block.interleaved)));
  }
  if (!block.succeeded) return Skip(outcome, "it is cut off: no [Result] line");
  if (!*block.succeeded) return ReadFailure(block, outcome);
  if (block.type_differs) return FailWith(outcome, ErrorClass::kTypeMismatch, "an output has another data type");
  if (block.shape_differs) return FailWith(outcome, ErrorClass::kShapeMismatch, "an output has another shape");
  ReadComparison(block, outcome);
}

struct Lines {
  std::vector<std::string_view> lines;
  int64_t first = 0;  // number of the first, from 1
};

}  // namespace

absl::Status LogReader::Read(std::string_view text, const std::string& file) {
  std::vector<Lines> blocks;
  int64_t number = 0, lost = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (line.size() > kLongestLogLine) {
      return absl::InvalidArgumentError(
          fmt::format("{}:{}: a line of {} bytes; at most {} are accepted: this is no log", file, number, line.size(),
                      kLongestLogLine));
    }
    if (line.find("[Processing]") != std::string_view::npos) {
      if (static_cast<int64_t>(blocks.size() + contents_.outcomes.size()) >= kMostLogBlocks) {
        return absl::InvalidArgumentError(fmt::format("{}:{}: more than {} graphs", file, number, kMostLogBlocks));
      }
      blocks.push_back({{}, number});
    }
    if (!blocks.empty()) {
      blocks.back().lines.push_back(line);
    } else if (line.find(kLogPrompt) != std::string_view::npos) {
      ++lost;
    }
  }
  if (blocks.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{} has no [Processing] line: it is not a log of GraphNet's runner", file));
  }
  if (lost > 0) {
    contents_.notes.push_back(
        fmt::format("{}:1: {} lines before the first [Processing] line are of no graph", file, lost));
  }
  for (const Lines& lines : blocks) {
    const LogBlock block = TakeApart(lines.lines);
    LogOutcome outcome;
    outcome.file = file;
    outcome.line = lines.first;
    outcome.path = Clean(block.path);
    if (outcome.path.empty() && reading_ == LogReading::kAsPeer) outcome.path = "unnamed";  // it is counted there
    if (outcome.path.empty()) {
      contents_.notes.push_back(
          fmt::format("{}:{}: a [Processing] line without a path was passed over", file, lines.first));
      continue;
    }
    if (reading_ == LogReading::kAsPeer) {
      ReadAsPeer(block, outcome);
    } else {
      ReadHonestly(block, outcome);
    }
    if (const auto json = block.performance.find("eager"); json != block.performance.end()) {
      outcome.baseline_ns = MedianNs(json->second);
    }
    if (const auto json = block.performance.find("compiled"); json != block.performance.end()) {
      outcome.candidate_ns = MedianNs(json->second);
    }
    for (const char* key : {"device", "hardware", "compiler", "compile_framework_version"}) {
      const auto found = block.configuration.find(key);
      if (found == block.configuration.end()) continue;
      std::vector<std::string>& values = contents_.configuration[key];
      const std::string value = Clean(found->second);
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    if (outcome.error_class == ErrorClass::kSkipped) {
      contents_.notes.push_back(
          fmt::format("{}:{}: {} is not counted: {}", file, lines.first, outcome.path, outcome.message));
    }
    contents_.outcomes.push_back(std::move(outcome));
  }
  return absl::OkStatus();
}

}  // namespace assay::measure
