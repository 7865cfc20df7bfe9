#include "measure/graphnet_log.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fmt/format.h"

namespace assay::measure {
namespace {

// In the order in which a log has them.
constexpr std::array<std::string_view, 4> kTestedDtypes = {"float16", "bfloat16", "float32", "float64"};

// One line, with nothing in it that the scripts would take for a line of theirs.
std::string Harmless(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '[' ? '(' : c == ']' ? ')' : static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  constexpr std::string_view kMark = "all_close";
  for (size_t at = out.find(kMark); at != std::string::npos; at = out.find(kMark, at)) out[at + 3] = '-';
  return out;
}

std::string OneWord(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) <= ' ' ? '_' : c;
  return out.empty() ? "_" : out;
}

class Block {
 public:
  template <typename... Parts>
  void Tagged(fmt::format_string<Parts...> format, Parts&&... parts) {
    text_ += fmt::format("{} {}\n", kLogPrompt, fmt::format(format, std::forward<Parts>(parts)...));
  }
  void Plain(std::string_view line) { text_ += fmt::format("{}\n", line); }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string Dtypes(const std::vector<LoggedOutput>& outputs) {
  std::string out;
  for (const LoggedOutput& output : outputs) out += fmt::format("{}{}", out.empty() ? "" : " ", output.dtype);
  return out.empty() ? "unknown" : out;
}

std::string PythonList(const std::vector<LoggedOutput>& outputs) {
  std::string out;
  for (const LoggedOutput& output : outputs) out += fmt::format("{}'{}'", out.empty() ? "" : ", ", output.dtype);
  return fmt::format("[{}]", out.empty() ? "'unknown'" : out);
}

std::string Number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{}", value);
}

// Whether the output is close under the bounds of another dtype. Only what follows is said: bounds at least as wide as
// its own at t* hold its differences too.
bool Follows(const LoggedOutput& output, const ToleranceRule& rule, int t) {
  if (!std::isfinite(output.critical_t)) return output.critical_t < 0;
  const ToleranceRule own = RuleOf(output.dtype);
  if (own.exact) return false;
  const Tolerance needed = At(own, output.critical_t), given = At(rule, t);
  return given.atol >= needed.atol && given.rtol >= needed.rtol;
}

bool IsClose(const LoggedOutput& output, const ToleranceRule& rule, int t) {
  const ToleranceRule own = RuleOf(output.dtype);
  // Dtypes share keys at some levels: what is asked then is the output's own bound.
  if (!own.exact && LogKey(own, t) == LogKey(rule, t)) return output.critical_t <= t;
  return Follows(output, rule, t);
}

void WriteComparison(const std::vector<LoggedOutput>& outputs, Block& block) {
  const auto line = [&](const std::string& key, const auto& value) {
    std::string values;
    for (const LoggedOutput& output : outputs) {
      values += fmt::format("{}{}", values.empty() ? "" : " ", value(output));
    }
    block.Tagged("[Correctness]{}: {}", key, values);
  };
  const auto bit = [](bool value) { return value ? "1" : "0"; };
  line(std::string(kEqualKey),
       [&](const LoggedOutput& o) { return bit(o.critical_t == -std::numeric_limits<double>::infinity()); });
  for (int t = kFirstLogLevel; t <= kLastLogLevel; ++t) {
    for (const std::string_view dtype : kTestedDtypes) {
      const ToleranceRule rule = RuleOf(dtype);
      line(LogKey(rule, t),
           [&](const LoggedOutput& o) { return bit(IsClose(o, rule, t) && o.critical_t <= kAccuracyLevel); });
    }
  }
  line("[max_diff]", [](const LoggedOutput& o) { return Number(o.max_abs_diff); });
  line("[mean_diff]", [](const LoggedOutput& o) { return Number(o.mean_abs_diff); });
}

void WriteTimes(std::string_view arm, const std::optional<LoggedTimes>& times, Block& block) {
  if (!times) return;
  const auto ms = [](double ns) { return fmt::format("{:.6g}", ns / 1e6); };
  block.Tagged(R"([Performance][{}]: {{"e2e": {{"median": {}, "iqr": {}, "min": {}, "max": {}}}}})", arm,
               ms(times->median_ns), ms(times->upper_quartile_ns - times->lower_quartile_ns), ms(times->minimum_ns),
               ms(times->maximum_ns));
}

void WriteFailure(const LoggedGraph& graph, bool eager, std::string_view exception, Block& block) {
  const std::string arm = eager ? "Eager" : "Compiled";
  block.Plain(fmt::format("{} model execution failed: {}", arm, Harmless(graph.message)));
  block.Plain(fmt::format("{}: {}", exception, Harmless(graph.message)));
  if (!eager) block.Plain(fmt::format("debug-model-execution {} {}", exception, OneWord(graph.path)));
  block.Tagged("[Result] status: failed");
  block.Tagged("[Fail due to {} model execution error.]", eager ? "eager" : "compiled");
}

}  // namespace

std::string LogKey(const ToleranceRule& rule, int t) {
  if (rule.exact) return std::string(kEqualKey);
  const Tolerance bounds = At(rule, t);
  return fmt::format("[all_close_atol_{:.2E}_rtol_{:.2E}]", bounds.atol, bounds.rtol);
}

std::string WriteLogBlock(const LoggedGraph& graph) {
  Block block;
  block.Tagged("[Processing] {}", OneWord(graph.path));
  for (const auto& [key, value] : graph.configuration) block.Tagged("[Config] {}: {}", key, Harmless(value));
  if (graph.error_class == ErrorClass::kEagerFail) {
    WriteFailure(graph, true, "RuntimeError", block);
    return block.Take();
  }
  block.Tagged("[Datatype][eager]: {}", Dtypes(graph.outputs));
  if (graph.error_class == ErrorClass::kCompileFail) {
    WriteFailure(graph, false, "CompileError", block);
    return block.Take();
  }
  const bool same_type = graph.error_class != ErrorClass::kTypeMismatch;
  const bool same_shape = graph.error_class != ErrorClass::kShapeMismatch;
  block.Tagged("[Datatype][compiled]: {}", same_type ? Dtypes(graph.outputs) : "differs");
  block.Tagged("[DataType] eager:{} compiled:{} match:{}", PythonList(graph.outputs),
               same_type ? PythonList(graph.outputs) : "['differs']", same_type ? "True" : "False");
  block.Tagged("[Shape] match:{}", same_shape ? "True" : "False");
  if (graph.error_class == ErrorClass::kRuntimeFail) {
    WriteFailure(graph, false, "RuntimeError", block);
    return block.Take();
  }
  if (same_type && same_shape) WriteComparison(graph.outputs, block);
  block.Tagged("[Result] status: success");
  WriteTimes("eager", graph.baseline, block);
  WriteTimes("compiled", graph.candidate, block);
  if (graph.speedup) block.Tagged("[Speedup][e2e]: {}", *graph.speedup);
  return block.Take();
}

}  // namespace assay::measure
