#include "graph/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "absl/strings/charconv.h"
#include "graph/diagnostic.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

enum : uint8_t { kNameStart = 1, kNamePart = 2, kDigit = 4 };

constexpr std::array<uint8_t, 256> kClass = [] {
  std::array<uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[c] = kNameStart | kNamePart;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = kNameStart | kNamePart;
  for (int c = '0'; c <= '9'; ++c) table[c] = kNamePart | kDigit;
  table['_'] = kNameStart | kNamePart;
  return table;
}();

bool Has(char c, uint8_t classes) { return kClass[static_cast<unsigned char>(c)] & classes; }

// The first character from `p` on that is no part of a name. Compilers write names of a hundred characters: sixteen are
// looked at at once.
const char* SkipName(const char* p, const char* end) {
  using Bytes = unsigned char __attribute__((vector_size(16)));
  while (end - p >= 16) {
    Bytes c;
    std::memcpy(&c, p, sizeof(c));
    const auto part = (((c | 0x20) - 'a') < 26) | ((c - '0') < 10) | (c == '_');
    uint64_t halves[2];
    std::memcpy(halves, &part, sizeof(halves));
    if ((halves[0] & halves[1]) != ~uint64_t{0}) break;
    p += 16;
  }
  while (p != end && Has(*p, kNamePart)) ++p;
  return p;
}

constexpr std::string_view kPunctuations[] = {"//=", "**=", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "//", "**"};

}  // namespace

void Lexer::Bad(size_t begin, std::string_view why) {
  token_.kind = TokenKind::kBad;
  token_.text = text_.substr(begin, std::max<size_t>(1, position_ - begin));
  bad_ = why;
  position_ = text_.size();
}

void Lexer::Advance() {
  for (;;) {
    if (position_ >= text_.size()) break;
    const char c = text_[position_];
    if (c == ' ') {
      ++position_;
    } else if (c == '\n' || (c == '\r' && position_ + 1 < text_.size() && text_[position_ + 1] == '\n')) {
      const bool ends_line = depth_ == 0 && line_used_;
      if (ends_line) {
        token_ = {.kind = TokenKind::kNewline, .line = line_, .column = static_cast<int>(position_ - line_begin_) + 1};
        line_used_ = false;
      }
      position_ += c == '\n' ? 1 : 2;
      line_begin_ = position_;
      ++line_;
      if (ends_line) return;
    } else if (c == '#') {
      const size_t end = text_.find('\n', position_);
      position_ = end == std::string_view::npos ? text_.size() : end;
    } else {
      break;
    }
  }
  token_.escaped = false;
  token_.op = 0;
  token_.dot = 0;
  token_.line = line_;
  token_.column = static_cast<int>(position_ - line_begin_) + 1;
  if (position_ >= text_.size()) {
    token_.kind = line_used_ && depth_ == 0 ? TokenKind::kNewline : TokenKind::kEnd;
    token_.text = {};
    line_used_ = false;
    return;
  }
  line_used_ = true;
  const size_t begin = position_;
  const char c = text_[begin];
  if (Has(c, kNameStart)) return ReadName(begin);
  if (Has(c, kDigit)) return ReadNumber(begin);
  if (c == '"' || c == '\'') return ReadString(begin);
  ReadPunctuation(begin);
}

void Lexer::ReadName(size_t begin) {
  const char* p = text_.data() + begin;
  const char* const end = text_.data() + text_.size();
  for (;;) {
    p = SkipName(p, end);
    if (end - p < 2 || *p != '.' || !Has(p[1], kNameStart)) break;
    if (token_.dot == 0) token_.dot = static_cast<uint32_t>(p - (text_.data() + begin));
    ++p;
  }
  position_ = p - text_.data();
  token_.kind = TokenKind::kName;
  token_.text = text_.substr(begin, position_ - begin);
  if (token_.text.size() > kLongestName) Bad(begin, Cat("a name has at most ", kLongestName, " bytes"));
}

void Lexer::ReadNumber(size_t begin) {
  const auto digits = [&] {
    while (position_ < text_.size() && Has(text_[position_], kDigit)) ++position_;
  };
  token_.kind = TokenKind::kInt;
  digits();
  if (text_[begin] == '0' && position_ - begin > 1) return Bad(begin, "a number may not begin with 0");
  if (position_ < text_.size() && text_[position_] == '.') {
    token_.kind = TokenKind::kFloat;
    ++position_;
    digits();
  }
  if (position_ < text_.size() && (text_[position_] | 0x20) == 'e') {
    token_.kind = TokenKind::kFloat;
    ++position_;
    if (position_ < text_.size() && (text_[position_] == '+' || text_[position_] == '-')) ++position_;
    const size_t exponent = position_;
    digits();
    if (position_ == exponent) return Bad(begin, "a number's exponent needs digits");
  }
  if (position_ < text_.size() && Has(text_[position_], kNamePart)) {
    ++position_;
    return Bad(begin, "numbers are plain decimal integers and floats");
  }
  token_.text = text_.substr(begin, position_ - begin);
}

void Lexer::ReadString(size_t begin) {
  const char quote = text_[begin];
  for (position_ = begin + 1; position_ < text_.size(); ++position_) {
    const char c = text_[position_];
    if (c == quote) {
      token_.kind = TokenKind::kString;
      token_.text = text_.substr(begin + 1, position_ - begin - 1);
      ++position_;
      if (token_.text.empty() && position_ < text_.size() && text_[position_] == quote) {
        return Bad(begin, "strings in three quotes are not accepted");
      }
      if (token_.text.size() > kLongestString) Bad(begin, Cat("a string has at most ", kLongestString, " bytes"));
      return;
    }
    if (c == '\n') break;
    if (c < 0x20 || c > 0x7e) return Bad(position_, "strings hold printable ASCII only");
    if (c == '\\') {
      token_.escaped = true;
      ++position_;
    }
  }
  position_ = std::min(position_, text_.size());
  Bad(begin, "the string has no closing quote on its line");
}

void Lexer::ReadPunctuation(size_t begin) {
  const std::string_view rest = text_.substr(begin);
  size_t length = 0;
  for (const std::string_view candidate : kPunctuations) {
    if (rest.starts_with(candidate)) {
      length = candidate.size();
      break;
    }
  }
  if (length == 0) {
    switch (rest[0]) {
      case '(':
      case '[':
      case '{':
        ++depth_;
        break;
      case ')':
      case ']':
      case '}':
        if (depth_ > 0) --depth_;
        break;
      case ',':
      case ':':
      case '=':
      case '+':
      case '-':
      case '*':
      case '/':
      case '@':
      case '%':
      case '&':
      case '|':
      case '~':
      case '<':
      case '>':
        break;
      case '\t':
        return Bad(begin, "tabs are not accepted, use spaces");
      default:
        return Bad(begin, "this character has no place in the grammar");
    }
    length = 1;
  }
  position_ = begin + length;
  token_.kind = TokenKind::kPunctuation;
  token_.text = text_.substr(begin, length);
  token_.op = Op(token_.text);
}

bool Lexer::AssignsAt(size_t position) const {
  const size_t next = text_.find_first_not_of(' ', position);
  return next != std::string_view::npos && text_[next] == '=' && (next + 1 == text_.size() || text_[next + 1] != '=');
}

size_t Lexer::ItemsAhead() const {
  const std::string_view rest = text_.substr(position_);
  const std::string_view list = rest.substr(0, rest.find(']'));
  return 1 + static_cast<size_t>(std::count(list.begin(), list.end(), ','));
}

bool Lexer::IsTarget() const { return token_.kind == TokenKind::kName && token_.dot == 0 && AssignsAt(position_); }

bool Lexer::IsParenthesisedTarget() const {
  if (!Is(Op("("))) return false;
  constexpr std::string_view kSpace = " \r\n";
  size_t p = text_.find_first_not_of(kSpace, position_);
  if (p == std::string_view::npos || !Has(text_[p], kNameStart)) return false;
  while (p < text_.size() && Has(text_[p], kNamePart)) ++p;
  p = text_.find_first_not_of(kSpace, p);
  return p != std::string_view::npos && text_[p] == ')' && AssignsAt(p + 1);
}

bool Lexer::FailWith(absl::StatusCode code, const Token& token, std::string_view message) {
  if (status_.ok()) status_ = Refusal(code, file_, token.line, token.column, message);
  return false;
}

bool Lexer::FailAt(const Token& token, std::string_view message) {
  return FailWith(absl::StatusCode::kInvalidArgument, token, message);
}

bool Lexer::Fail(std::string_view message) { return FailAt(token_, message); }

bool Lexer::Expected(std::string_view what) {
  switch (token_.kind) {
    case TokenKind::kEnd:
      return Fail(Cat("expected ", what, ", found the end of the file: it is cut off"));
    case TokenKind::kNewline:
      return Fail(Cat("expected ", what, ", found the end of the line"));
    case TokenKind::kBad:
      return Fail(Cat("expected ", what, ", found ", Quoted(token_.text), ": ", bad_));
    case TokenKind::kString:
      return Fail(Cat("expected ", what, ", found the string ", Quoted(token_.text)));
    default:
      return Fail(Cat("expected ", what, ", found ", Quoted(token_.text)));
  }
}

bool Lexer::Take(uint32_t op, std::string_view what) {
  if (!Is(op)) return Expected(what);
  Advance();
  return true;
}

absl::Status CheckSize(std::string_view text, std::string_view file, const Limits& limits) {
  if (text.size() > limits.file_bytes) {
    return Refusal(absl::StatusCode::kResourceExhausted, file, 0, 0,
                   Cat("the file has ", text.size(), " bytes, more than the limit of ", limits.file_bytes));
  }
  // From the beginning of a line as far as one may reach: the lines that end there are short enough.
  size_t begin = 0;
  while (text.size() - begin > limits.line_bytes) {
    const size_t last = text.rfind('\n', begin + limits.line_bytes);
    if (last == std::string_view::npos || last < begin) {
      const auto line = 1 + std::count(text.begin(), text.begin() + begin, '\n');
      return Refusal(absl::StatusCode::kResourceExhausted, file, static_cast<int>(line), 1,
                     Cat("the line has ", std::min(text.find('\n', begin), text.size()) - begin,
                         " bytes, more than the limit of ", limits.line_bytes));
    }
    begin = last + 1;
  }
  return absl::OkStatus();
}

bool StringValue(const Token& token, std::string* value) {
  if (!token.escaped) {
    *value = token.text;
    return true;
  }
  value->clear();
  for (size_t i = 0; i < token.text.size(); ++i) {
    char c = token.text[i];
    if (c == '\\') {
      if (++i == token.text.size()) return false;
      switch (token.text[i]) {
        case '\\':
        case '\'':
        case '"':
          c = token.text[i];
          break;
        case 'n':
          c = '\n';
          break;
        case 'r':
          c = '\r';
          break;
        case 't':
          c = '\t';
          break;
        default:
          return false;
      }
    }
    *value += c;
  }
  return true;
}

bool IntValue(const Token& token, bool negative, int64_t* value) {
  uint64_t magnitude = 0;
  const char* const end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, magnitude);
  if (error != std::errc() || stop != end) return false;
  if (magnitude > uint64_t{INT64_MAX} + (negative ? 1 : 0)) return false;
  *value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return true;
}

bool FloatValue(const Token& token, double* value) {
  const char* const end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, *value);
  if (stop != end) return false;
  if (error == std::errc::result_out_of_range) {
    // Too small, which Python reads as the nearest there is, or too large: this one's value says which.
    absl::from_chars(token.text.data(), end, *value);
    return std::abs(*value) < 1;
  }
  return error == std::errc();
}

}  // namespace assay::graph
