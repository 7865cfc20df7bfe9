// Splits StableHLO text (MLIR's textual form) into tokens, as far as the accepted subset has them. A few tokens may be
// looked at ahead. Errors are recorded once, with their place.
// Not thread-safe; tokens point into the text.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "graph/parse.h"

namespace assay::graph {

inline constexpr std::string_view kStableHloFile = "model.stablehlo.mlir";

inline constexpr int kMlirDepth = 64;  // of regions and brackets

struct MlirToken {
  enum class Kind : uint8_t {
    kEnd,
    kWord,         // stablehlo.add, dense, across
    kValue,        // %name; `text` is without the sign, as of the next two
    kSymbol,       // @name
    kAttribute,    // #stablehlo, #stablehlo.gather
    kLabel,        // ^bb0
    kNumber,       // 12, -0.5e+00, 0xFF800000
    kString,       // what stands between the quotes; without escapes
    kPunctuation,  // one of ( ) [ ] { } < > , = : or ->
    kBad,
  };
  Kind kind = Kind::kEnd;
  bool first = false;  // on its line
  int line = 0, column = 0;
  size_t end = 0;  // where the text goes on
  std::string_view text;
};

class MlirLexer {
 public:
  explicit MlirLexer(std::string_view text) : text_(text) {}

  const MlirToken& Peek(size_t ahead = 0);
  MlirToken Take();
  bool Is(MlirToken::Kind kind, size_t ahead = 0) { return Peek(ahead).kind == kind; }
  bool Is(std::string_view punctuation, size_t ahead = 0) {
    return Is(MlirToken::Kind::kPunctuation, ahead) && Peek(ahead).text == punctuation;
  }
  bool IsWord(std::string_view word, size_t ahead = 0) {
    return Is(MlirToken::Kind::kWord, ahead) && Peek(ahead).text == word;
  }
  // Steps over a punctuation, or fails.
  bool Expect(std::string_view punctuation);

  // What stands between the current token's end and `close`, which is stepped over: for the insides of tensor<…>, whose
  // words are not tokens. Fails at the end of the line. Nothing may have been looked at ahead.
  bool TakeRaw(char close, std::string_view* inside);

  // Steps over one token, or all from a bracket to its partner.
  bool SkipBalanced();
  // Over a dictionary; where `check_devices`, it must not ask for several devices.
  bool SkipDictionary(bool check_devices = false);
  // Over "loc(…)", or "#loc1 = loc(…)".
  bool SkipLocation();

  // Records the first error, at a token; always false.
  bool FailAt(const MlirToken& token, std::string_view message,
              absl::StatusCode code = absl::StatusCode::kInvalidArgument);
  // "expected WHAT, found the current token".
  bool Expected(std::string_view what);
  const absl::Status& status() const { return status_; }

 private:
  MlirToken Read();

  std::string_view text_;
  size_t position_ = 0, line_begin_ = 0;
  int line_ = 1;
  bool line_used_ = false;
  std::deque<MlirToken> ahead_;
  absl::Status status_;
};

}  // namespace assay::graph
