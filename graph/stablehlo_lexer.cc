#include "graph/stablehlo_lexer.h"

#include <vector>

#include "graph/diagnostic.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

using Kind = MlirToken::Kind;

constexpr size_t kLongestWord = 1024;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWordPart(char c) { return IsLetter(c) || IsDigit(c) || c == '.' || c == '$'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The length of the number at the beginning of `text`; 0 where there is none.
size_t NumberLength(std::string_view text) {
  size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  const auto skip = [&](bool (*is)(char)) {
    const size_t before = at;
    while (at < text.size() && is(text[at])) ++at;
    return at > before;
  };
  if (text.substr(at).starts_with("0x")) {
    at += 2;
    return skip(IsHex) ? at : 0;
  }
  if (!skip(IsDigit)) return 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    skip(IsDigit);
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
      const size_t mantissa = at++;
      if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
      if (!skip(IsDigit)) at = mantissa;
    }
  }
  return at;
}

}  // namespace

MlirToken MlirLexer::Read() {
  for (;;) {
    if (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t' || text_[position_] == '\r')) {
      ++position_;
    } else if (position_ < text_.size() && text_[position_] == '\n') {
      line_begin_ = ++position_;
      ++line_;
      line_used_ = false;
    } else if (text_.substr(position_).starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      break;
    }
  }
  MlirToken token;
  token.line = line_;
  token.column = static_cast<int>(position_ - line_begin_) + 1;
  token.first = !line_used_;
  line_used_ = true;
  const std::string_view rest = text_.substr(position_);
  token.end = position_;
  if (rest.empty()) return token;
  const auto take = [&](Kind kind, size_t skip, size_t length) {
    token.kind = length > 0 && length <= kLongestWord ? kind : Kind::kBad;
    token.text = rest.substr(skip, length);
    position_ += std::max<size_t>(skip + length, 1);
  };
  const auto word_length = [&](size_t from) {
    size_t at = from;
    while (at < rest.size() && IsWordPart(rest[at])) ++at;
    return at - from;
  };
  const char c = rest[0];
  if (IsLetter(c)) {
    take(Kind::kWord, 0, word_length(0));
  } else if (c == '%' || c == '@' || c == '#' || c == '^') {
    const Kind kind = c == '%' ? Kind::kValue : c == '@' ? Kind::kSymbol : c == '#' ? Kind::kAttribute : Kind::kLabel;
    take(kind, 1, word_length(1));
  } else if (rest.starts_with("->")) {
    take(Kind::kPunctuation, 0, 2);
  } else if (const size_t number = NumberLength(rest); number > 0) {
    take(Kind::kNumber, 0, number);
  } else if (c == '"') {
    const size_t close = rest.find_first_of("\"\\\n", 1);
    const bool good = close != std::string_view::npos && rest[close] == '"';
    token.kind = good ? Kind::kString : Kind::kBad;
    token.text = rest.substr(1, good ? close - 1 : 0);
    position_ += good ? close + 1 : 1;
  } else {
    take(std::string_view("()[]{}<>,=:").find(c) == std::string_view::npos ? Kind::kBad : Kind::kPunctuation, 0, 1);
  }
  token.end = position_;
  return token;
}

const MlirToken& MlirLexer::Peek(size_t ahead) {
  while (ahead_.size() <= ahead) ahead_.push_back(Read());
  return ahead_[ahead];
}

MlirToken MlirLexer::Take() {
  MlirToken token = Peek();
  ahead_.pop_front();
  return token;
}

bool MlirLexer::Expect(std::string_view punctuation) {
  if (!Is(punctuation)) return Expected(Cat("'", punctuation, "'"));
  Take();
  return true;
}

bool MlirLexer::TakeRaw(char close, std::string_view* inside) {
  if (!ahead_.empty()) return Expected("nothing before the inside of a type");
  const size_t end = text_.find_first_of(Cat(std::string_view(&close, 1), "\n"), position_);
  if (end == std::string_view::npos || text_[end] == '\n') {
    return Expected(Cat("'", std::string_view(&close, 1), "' on this line"));
  }
  *inside = text_.substr(position_, end - position_);
  position_ = end + 1;
  return true;
}

bool MlirLexer::FailAt(const MlirToken& token, std::string_view message, absl::StatusCode code) {
  if (status_.ok()) status_ = Refusal(code, kStableHloFile, token.line, token.column, message);
  return false;
}

bool MlirLexer::Expected(std::string_view what) {
  const MlirToken token = Peek();
  const std::string found = token.kind == Kind::kEnd ? "the end of the file"
                            : token.kind == Kind::kBad && token.text.empty()
                                ? "a character that is no part of the accepted subset"
                                : Quoted(token.text);
  return FailAt(token, Cat("expected ", what, ", found ", found));
}

bool MlirLexer::SkipDictionary(bool check_devices) {
  if (!Is("{")) return Expected("'{'");
  if (!check_devices) return SkipBalanced();
  Take();
  while (!Is("}")) {
    const MlirToken name = Peek();
    const bool devices = name.text == "mhlo.num_partitions" || name.text == "mhlo.num_replicas";
    if (!SkipBalanced()) return false;
    if (devices && Is("=") && Peek(1).text != "1") {
      return FailAt(name, Cat(name.text, " must be 1: a graph runs on one device"));
    }
  }
  Take();
  return true;
}

// One token, or all from a bracket to its partner.
bool MlirLexer::SkipBalanced() {
  std::vector<char> open;
  do {
    const MlirToken token = Take();
    if (token.kind == Kind::kEnd) return FailAt(token, "expected a closing bracket, found the end of the file");
    if (token.kind == Kind::kBad) return FailAt(token, "a character that is no part of the accepted subset");
    if (token.kind != Kind::kPunctuation || token.text == "->") continue;
    const char c = token.text[0];
    if (c == '(' || c == '[' || c == '{' || c == '<') open.push_back(c);
    if (c == ')' || c == ']' || c == '}' || c == '>') {
      const char partner = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '<';
      if (open.empty() || open.back() != partner) return FailAt(token, "a bracket that closes nothing");
      open.pop_back();
    }
    if (open.size() > static_cast<size_t>(kMlirDepth)) {
      return FailAt(token, Cat("nested more than ", kMlirDepth, " deep"), absl::StatusCode::kResourceExhausted);
    }
  } while (!open.empty());
  return true;
}

// "loc(…)", or "#loc1 = loc(…)".
bool MlirLexer::SkipLocation() {
  if (Is(Kind::kAttribute)) {
    if (!Peek().text.starts_with("loc")) return Expected("a location such as #loc1");
    Take();
    if (!Expect("=")) return false;
  }
  if (!IsWord("loc")) return Expected("loc(…)");
  Take();
  if (!Is("(")) return Expected("'('");
  return SkipBalanced();
}

}  // namespace assay::graph
