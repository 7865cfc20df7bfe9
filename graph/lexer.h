// Splits the text of a sample's Python files into tokens, for their parsers. Only what
// the closed grammar can use is a token: ASCII, no tabs, no line continuation, no string prefixes.
// Not thread-safe; tokens point into the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "graph/parse.h"

namespace assay::graph {

enum class TokenKind : uint8_t { kEnd, kNewline, kName, kInt, kFloat, kString, kPunctuation, kBad };

// The code of a punctuation: Op("//=").
constexpr uint32_t Op(std::string_view text) {
  uint32_t code = 0;
  for (const char c : text) code = code << 8 | static_cast<unsigned char>(c);
  return code;
}

struct Token {
  TokenKind kind = TokenKind::kEnd;
  bool escaped = false;  // a string that holds backslashes
  uint32_t op = 0;       // of a punctuation
  uint32_t dot = 0;      // of a dotted name: where its first dot stands; 0 where it has none
  int line = 0;
  int column = 0;
  std::string_view text;  // of a string: what stands between the quotes
};

inline constexpr size_t kLongestName = 4096;     // bytes, dots included
inline constexpr size_t kLongestString = 65536;  // bytes between the quotes

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  // Moves to the next token. Line breaks inside brackets are white space; elsewhere a run of them is one kNewline.
  void Advance();
  const Token& token() const { return token_; }
  bool Is(uint32_t op) const { return token_.kind == TokenKind::kPunctuation && token_.op == op; }
  bool IsName(std::string_view name) const { return token_.kind == TokenKind::kName && token_.text == name; }
  // A plain name with one '=' behind it on its line: a target, or the name of a keyword argument.
  bool IsTarget() const;
  // The same in parentheses: "(NAME) =".
  bool IsParenthesisedTarget() const;
  bool Is(TokenKind kind) const { return token_.kind == kind; }
  // At the '[' of a list without lists in it: how many items it has at most.
  size_t ItemsAhead() const;

  // Records the first error, at the current token or at another; always false.
  bool Fail(std::string_view message);
  bool FailAt(const Token& token, std::string_view message);
  bool FailWith(absl::StatusCode code, const Token& token, std::string_view message);
  // "expected WHAT, found the current token".
  bool Expected(std::string_view what);
  // Steps over a punctuation, or fails.
  bool Take(uint32_t op, std::string_view what);

  const absl::Status& status() const { return status_; }

 private:
  bool AssignsAt(size_t position) const;
  void ReadName(size_t begin);
  void ReadNumber(size_t begin);
  void ReadString(size_t begin);
  void ReadPunctuation(size_t begin);
  void Bad(size_t begin, std::string_view why);

  std::string_view text_;
  std::string_view file_;
  size_t position_ = 0;
  size_t line_begin_ = 0;
  int line_ = 1;
  int depth_ = 0;           // of open brackets
  bool line_used_ = false;  // the logical line has a token
  Token token_;
  std::string bad_;  // why the current token is kBad
  absl::Status status_;
};

// InvalidArgument or ResourceExhausted where the file or one of its lines is too long.
absl::Status CheckSize(std::string_view text, std::string_view file, const Limits& limits);

// The value of a string token. False where it holds an escape other than \\ \' \" \n \r \t.
bool StringValue(const Token& token, std::string* value);
// The value of a number token. False where it is out of range (int64, finite float64).
bool IntValue(const Token& token, bool negative, int64_t* value);
bool FloatValue(const Token& token, double* value);

}  // namespace assay::graph
