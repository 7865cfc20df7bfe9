#include "measure/graphnet_log_block.h"

#include <algorithm>
#include <array>
#include <set>

#include "fmt/format.h"

namespace assay::measure {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

bool Has(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> out;
  for (size_t begin = 0; (begin = text.find_first_not_of(kSpace, begin)) != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    out.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return out;
}

bool IsWord(std::string_view text) {
  for (const char c : text) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!good) return false;
  }
  return !text.empty();
}

struct Keyed {
  std::string key;
  std::string_view value;
};

// The first "TAG[WORD]: VALUE" of the line.
std::optional<Keyed> FindKeyed(std::string_view line, std::string_view tag) {
  const std::string opening = fmt::format("{}[", tag);
  for (size_t at = line.find(opening); at != std::string_view::npos; at = line.find(opening, at + 1)) {
    const size_t begin = at + opening.size();
    const size_t end = line.find("]: ", begin);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view key = line.substr(begin, end - begin);
    if (IsWord(key) && end + 3 < line.size()) return Keyed{std::string(key), line.substr(end + 3)};
  }
  return std::nullopt;
}

// "[Correctness][…]: VALUE"; the key with its brackets, up to the last "]: " that has something behind it.
std::optional<Keyed> FindCorrectness(std::string_view line) {
  constexpr std::string_view kTag = "[Correctness][";
  const size_t at = line.find(kTag);
  if (at == std::string_view::npos) return std::nullopt;
  const size_t begin = at + kTag.size() - 1;
  size_t end = line.rfind("]: ");
  if (end != std::string_view::npos && end + 3 >= line.size() && end > 0) end = line.rfind("]: ", end - 1);
  if (end == std::string_view::npos || end <= begin + 1) return std::nullopt;
  return Keyed{std::string(line.substr(begin, end + 1 - begin)), line.substr(end + 3)};
}

std::optional<Keyed> FindConfiguration(std::string_view line) {
  constexpr std::string_view kTag = "[Config] ";
  const size_t at = line.find(kTag);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + kTag.size());
  const size_t end = rest.find(": ");
  if (end == 0 || end == std::string_view::npos || end + 2 >= rest.size()) return std::nullopt;
  const std::string_view key = rest.substr(0, end);
  if (key.find_first_of(kSpace) != std::string_view::npos) return std::nullopt;
  return Keyed{std::string(key), Trim(rest.substr(end + 2))};
}

// In the order in which the scripts look: a line counts as the first that it is.
void TakeData(std::string_view line, LogBlock& block) {
  if (const auto found = FindConfiguration(line)) {
    block.configuration[found->key] = found->value;
  } else if (const auto found = FindKeyed(line, "[Performance]")) {
    block.performance[found->key] = Trim(found->value);
  } else if (const auto found = FindKeyed(line, "[Datatype]")) {
    block.dtypes[found->key] = Words(found->value);
  } else if (const auto found = FindCorrectness(line)) {
    block.correctness[found->key] = Words(found->value);
  } else if (const auto found = FindKeyed(line, "[Speedup]")) {
    block.speedup[found->key] = Trim(found->value);
  }
}

void TakeMarks(std::string_view line, LogBlock& block) {
  if (Has(line, "[Datatype][eager]")) {
    block.has_eager = true;
  } else if (Has(line, "[Datatype][compiled]")) {
    block.has_compiled = true;
  } else if (Has(line, "[Shape]") && Has(line, "match:True")) {
    block.has_matching_shape = true;
  } else if (Has(line, "[DataType]") && Has(line, "match:True")) {
    block.has_matching_type = true;
  } else if (Has(line, "all_close")) {
    block.has_eager = block.has_compiled = block.has_matching_shape = true;
  }
  if (Has(line, "Exception:") || Has(line, "Error:")) block.has_error = true;
}

// "RuntimeError: …", "torch._dynamo.exc.TorchRuntimeError: …": how a traceback ends.
bool IsExceptionLine(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(": "));
  if (name.size() == line.size() || name.find_first_of(kSpace) != std::string_view::npos) return false;
  return name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Unsupported") ||
         name.ends_with("BackendCompilerFailed");
}

void TakeFailure(std::string_view line, LogBlock& block, bool& within_eager) {
  constexpr std::string_view kEager = "Eager model execution failed: ", kCompiled = "Compiled model execution failed: ",
                             kDebug = "debug-model-execution ", kNoise = "Environment fluctuation detected";
  if (line.starts_with(kEager)) {
    block.eager_error = Trim(line.substr(kEager.size()));
    within_eager = true;
    block.eager_noisy = Has(line, kNoise);
  } else if (line.starts_with(kCompiled)) {
    block.compiled_error = Trim(line.substr(kCompiled.size()));
    within_eager = false;
    block.compiled_noisy = Has(line, kNoise);
  } else if (line.starts_with("--- Full Traceback ---")) {
    within_eager = false;
  } else if (line.starts_with("  IQR/median = ")) {
    if (block.noise.empty() || !within_eager) block.noise = Trim(line);
  } else if (line.starts_with(kDebug)) {
    const std::vector<std::string> words = Words(line.substr(kDebug.size()));
    if (!words.empty()) block.exception = words.front();
    if (words.size() > 1 && words.back() != block.path) {
      block.interleaved = fmt::format("it holds the end of {}", words.back());
    }
  } else if (IsExceptionLine(line)) {
    block.exception_line = line;
    if (!within_eager && Has(line, kNoise)) block.compiled_noisy = true;
  }
  if (Has(line, "[Fail due to eager model execution error.]")) block.blames_eager = true;
  if (Has(line, "[Fail due to compiled model execution error.]")) block.blames_compiled = true;
}

void TakeResult(std::string_view line, LogBlock& block) {
  if (Has(line, "[DataType]") && Has(line, "match:False")) block.type_differs = true;
  if (Has(line, "[Shape]") && Has(line, "match:False")) block.shape_differs = true;
  if (Has(line, "[Result] status: ")) block.succeeded = Has(line, "status: success");
  // Another form of the line, one for each side.
  if (Has(line, "[Result][status] ")) {
    if (Has(line, "eager:failed")) block.blames_eager = true;
    if (Has(line, "compiled:failed")) block.blames_compiled = true;
    if (Has(line, "compiled:") || block.blames_eager) block.succeeded = !block.blames_eager && !block.blames_compiled;
  }
}

// Signs that two processes wrote at once: lines that a runner writes once a graph stand twice, or one line has two.
class Interleaving {
 public:
  // What the [Processing] line begins with, all of the runner's lines begin with.
  explicit Interleaving(std::string_view first) : prompt_(Trim(first.substr(0, first.find("[Processing]")))) {}

  void Look(std::string_view line, LogBlock& block) {
    constexpr std::array<std::string_view, 12> kOnce = {"[Processing] ",
                                                        "[Config] model: ",
                                                        "[Config] compiler: ",
                                                        "[Datatype][eager]: ",
                                                        "[Datatype][compiled]: ",
                                                        "[Correctness][equal]: ",
                                                        "[Correctness][max_diff]: ",
                                                        "[Result] status: ",
                                                        "[Performance][eager]: ",
                                                        "[Performance][compiled]: ",
                                                        "[Speedup][e2e]: ",
                                                        "[Correctness][mean_diff]: "};
    int tags = 0;
    for (const std::string_view tag : kOnce) {
      if (!Has(line, tag)) continue;
      ++tags;
      if (!seen_.insert(tag).second) block.interleaved = fmt::format("it has two lines with {}", Trim(tag));
    }
    const bool two_prompts = !prompt_.empty() && line.find(prompt_, 1) != std::string_view::npos;
    if (tags > 1 || two_prompts) block.interleaved = "two lines of it are one";
  }

 private:
  const std::string_view prompt_;
  std::set<std::string_view> seen_;
};

}  // namespace

LogBlock TakeApart(const std::vector<std::string_view>& lines) {
  LogBlock block;
  Interleaving interleaving(lines.front());
  bool within_eager = false;
  for (const std::string_view line : lines) {
    if (Has(line, "[Processing] ")) {
      const std::vector<std::string> words = Words(line);
      if (words.back() != "[Processing]") block.path = words.back();
    } else {
      TakeData(line, block);
    }
    TakeMarks(line, block);
    TakeResult(line, block);
    TakeFailure(line, block, within_eager);
    interleaving.Look(line, block);
  }
  return block;
}

}  // namespace assay::measure
