#include "graph/expression_parser.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "graph/diagnostic.h"
#include "graph/signature.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

constexpr std::string_view kTorchConstants[] = {
    "channels_last", "channels_last_3d", "contiguous_format", "preserve_format", "sparse_coo", "sparse_csr", "strided",
};

struct OperatorRow {
  uint32_t op;
  const Callee* callee;
};

// The operators, looked up in the callee table once.
struct Operators {
  std::vector<OperatorRow> binary, augmented;
  const Callee* neg = FindCallee("operator:neg");
  const Callee* invert = FindCallee("operator:~");
  const Callee* getitem = FindCallee("operator:getitem");
  const Callee* setitem = FindCallee("operator:setitem");

  Operators() {
    constexpr std::string_view kBinary[] = {"+", "-", "*",  "/",  "//", "%",  "**", "@",
                                            "&", "|", "==", "!=", "<",  "<=", ">",  ">="};
    constexpr std::string_view kAugmented[] = {"+=", "-=", "*=", "/=", "//="};
    for (const std::string_view op : kBinary) binary.push_back({Op(op), FindCallee(Cat("operator:", op))});
    for (const std::string_view op : kAugmented) augmented.push_back({Op(op), FindCallee(Cat("operator:", op))});
  }
  static const Callee* Find(const std::vector<OperatorRow>& rows, uint32_t op) {
    for (const OperatorRow& row : rows) {
      if (row.op == op) return row.callee;
    }
    return nullptr;
  }
};

const Operators& TheOperators() {
  static const auto& operators = *new Operators;
  return operators;
}

bool IsTorchConstant(std::string_view name) {
  return std::find(std::begin(kTorchConstants), std::end(kTorchConstants), name) != std::end(kTorchConstants);
}

Expression Value(Argument argument, const Token& at) {
  Expression expression;
  expression.value = std::move(argument);
  expression.at = at;
  return expression;
}

}  // namespace

const Callee* AugmentedOperator(uint32_t op) { return Operators::Find(TheOperators().augmented, op); }

const Callee* SetItemOperator() { return TheOperators().setitem; }

bool ExpressionParser::Enter(int depth) {
  if (depth < limits_.depth) return true;
  return lexer_.FailWith(absl::StatusCode::kResourceExhausted, lexer_.token(),
                         Cat("brackets nest deeper than the limit of ", limits_.depth));
}

template <typename T>
bool ExpressionParser::Grow(std::vector<T>& items) {
  if (items.size() < items.capacity()) return true;
  const size_t capacity = std::max<size_t>(1, 2 * items.capacity());
  if (!Spend(capacity * sizeof(T))) return false;
  items.reserve(capacity);
  return true;
}

bool ExpressionParser::Spend(size_t bytes) {
  if (bytes > memory_) {
    return lexer_.FailWith(absl::StatusCode::kResourceExhausted, lexer_.token(),
                           Cat("the operations and arguments up to here take more memory than the limit of ",
                               limits_.memory_factor, " times the text and ", limits_.memory_floor, " bytes"));
  }
  memory_ -= bytes;
  return true;
}

bool ExpressionParser::ParseItem(int depth) {
  Argument item;
  if (!ParseArgument(&item, depth) || !Grow(open_)) return false;
  open_.push_back(std::move(item));
  return true;
}

bool ExpressionParser::TakeItems(size_t begin, std::vector<Argument>* items) {
  if (!Spend((open_.size() - begin) * sizeof(Argument))) return false;
  items->reserve(items->size() + open_.size() - begin);
  std::move(open_.begin() + begin, open_.end(), std::back_inserter(*items));
  open_.resize(begin);
  return true;
}

bool ExpressionParser::Lookup(const Token& name, int32_t* value) {
  const auto it = names.find(name.text);
  if (it == names.end()) {
    return lexer_.FailAt(name, Cat("the name ", Quoted(name.text), " is used before anything is assigned to it"));
  }
  if (it->second == kFreed) {
    return lexer_.FailAt(name, Cat("the name ", Quoted(name.text), " is used after it was set to None"));
  }
  *value = it->second;
  return true;
}

bool ExpressionParser::Add(Expression&& expression, int32_t* result) {
  if (graph.operations.size() >= limits_.operations) {
    return lexer_.FailWith(absl::StatusCode::kResourceExhausted, expression.at,
                           Cat("more operations than the limit of ", limits_.operations));
  }
  if (!Fits(*expression.callee, expression.positional.size(), expression.keyword, nullptr)) {
    std::string why;
    Fits(*expression.callee, expression.positional.size(), expression.keyword, &why);
    return lexer_.FailAt(expression.at, why);
  }
  if (!Grow(graph.operations)) return false;
  Operation& operation = graph.operations.emplace_back();
  operation.callee = expression.callee;
  operation.positional = std::move(expression.positional);
  operation.keyword = std::move(expression.keyword);
  operation.location = {expression.at.line, expression.at.column};
  if (result != nullptr) *result = operation.result = graph.value_count++;
  return true;
}

bool ExpressionParser::UnknownCallee(const Token& at, std::string_view name, CalleeKind kind) {
  const std::string_view nearest = NearestCallee(name, kind);
  std::string message = Cat("expected a callee that is in the table, found ", Quoted(name));
  if (!nearest.empty()) message += Cat("; the nearest known one is ", Quoted(nearest));
  return lexer_.FailAt(at, message);
}

bool ExpressionParser::ParseExpression(Expression* out, int depth) {
  if (!ParsePrimary(out, depth)) return false;
  if (!lexer_.Is(TokenKind::kPunctuation)) return true;
  const Callee* callee = Operators::Find(TheOperators().binary, lexer_.token().op);
  if (callee == nullptr) return true;
  const Token at = lexer_.token();
  constexpr std::string_view kNesting =
      "an operator's operand must be a name or a literal: name the inner result first";
  if (!out->is_value()) return lexer_.FailAt(out->at, kNesting);
  if (at.op == Op("**") && out->bare_negative) {
    return lexer_.FailAt(out->at, "a negative base of '**' must stand in parentheses");
  }
  lexer_.Advance();
  Expression right;
  if (!ParsePrimary(&right, depth)) return false;
  if (!right.is_value()) return lexer_.FailAt(right.at, kNesting);
  if (lexer_.Is(TokenKind::kPunctuation) && Operators::Find(TheOperators().binary, lexer_.token().op) != nullptr) {
    return lexer_.Fail(kNesting);
  }
  if (!Spend(2 * sizeof(Argument))) return false;
  out->positional.reserve(2);
  out->positional.push_back(std::move(out->value));
  out->positional.push_back(std::move(right.value));
  out->callee = callee;
  out->at = at;
  out->bare_negative = false;
  return true;
}

bool ExpressionParser::ParsePrimary(Expression* out, int depth) {
  const Token at = lexer_.token();
  switch (at.kind) {
    case TokenKind::kName:
      return ParseName(out, depth);
    case TokenKind::kInt:
    case TokenKind::kFloat: {
      Argument number;
      if (!NumberToken(false, &number)) return false;
      *out = Value(std::move(number), at);
      return true;
    }
    case TokenKind::kString: {
      std::string text;
      if (!StringValue(at, &text)) return lexer_.Fail("a string's escapes are \\\\ \\' \\\" \\n \\r and \\t");
      *out = Value({std::move(text)}, at);
      lexer_.Advance();
      return true;
    }
    case TokenKind::kPunctuation:
      if (at.op == Op("(")) return ParseParenthesised(out, depth);
      if (at.op == Op("[")) return ParseList(out, depth);
      if (at.op == Op("-") || at.op == Op("~")) return ParseUnary(out, depth);
      break;
    default:
      break;
  }
  return lexer_.Expected("a name, a number, a string, '(', '[', '-' or '~'");
}

bool ExpressionParser::ParseParenthesised(Expression* out, int depth) {
  if (!Enter(depth)) return false;
  const Token at = lexer_.token();
  lexer_.Advance();
  Sequence tuple;
  if (!lexer_.Is(Op(")"))) {
    if (!ParseExpression(out, depth + 1)) return false;
    if (!lexer_.Is(Op(","))) {
      out->bare_negative = false;
      return lexer_.Take(Op(")"), "',' or ')'");
    }
    if (!out->is_value())
      return lexer_.FailAt(out->at, "a tuple holds names and literals: name the inner result first");
    const size_t begin = open_.size();
    if (!Grow(open_)) return false;
    open_.push_back(std::move(out->value));
    while (lexer_.Is(Op(","))) {
      lexer_.Advance();
      if (lexer_.Is(Op(")"))) break;
      if (!ParseItem(depth + 1)) return false;
    }
    if (!TakeItems(begin, &tuple.items)) return false;
  }
  if (!lexer_.Take(Op(")"), "',' or ')'")) return false;
  *out = Value({std::move(tuple)}, at);
  return true;
}

bool ExpressionParser::ParseList(Expression* out, int depth) {
  if (!Enter(depth)) return false;
  const Token at = lexer_.token();
  Sequence list{.tuple = false};
  const size_t begin = open_.size();
  do {
    lexer_.Advance();
    if (lexer_.Is(Op("]"))) break;
    if (!ParseItem(depth + 1)) return false;
  } while (lexer_.Is(Op(",")));
  if (!TakeItems(begin, &list.items) || !lexer_.Take(Op("]"), "',' or ']'")) return false;
  *out = Value({std::move(list)}, at);
  return true;
}

bool ExpressionParser::ParseUnary(Expression* out, int depth) {
  const Token at = lexer_.token();
  lexer_.Advance();
  if (at.op == Op("-") && (lexer_.Is(TokenKind::kInt) || lexer_.Is(TokenKind::kFloat))) {
    Argument number;
    if (!NumberToken(true, &number)) return false;
    *out = Value(std::move(number), at);
    out->bare_negative = true;
    return true;
  }
  if (!lexer_.Is(TokenKind::kName)) return lexer_.Expected("a name or a number");
  if (!ParsePrimary(out, depth)) return false;
  if (out->is_value()) {
    if (const double* number = std::get_if<double>(&out->value.v); number != nullptr && at.op == Op("-")) {
      *out = Value({-*number}, at);  // -inf
      out->bare_negative = true;
      return true;
    }
    if (std::holds_alternative<ValueRef>(out->value.v)) {
      out->positional.push_back(std::move(out->value));
      out->callee = at.op == Op("-") ? TheOperators().neg : TheOperators().invert;
      out->at = at;
      return true;
    }
  }
  return lexer_.FailAt(at, "expected a name or a number after '-', or a name after '~'");
}

bool ExpressionParser::NumberToken(bool negative, Argument* out) {
  const Token& token = lexer_.token();
  if (token.kind == TokenKind::kInt) {
    int64_t value = 0;
    if (!IntValue(token, negative, &value)) {
      return lexer_.Fail(Cat("the integer ", Quoted(token.text), " does not fit 64 bits"));
    }
    out->v = value;
  } else {
    double value = 0;
    if (!FloatValue(token, &value)) {
      return lexer_.Fail(Cat("the number ", Quoted(token.text), " does not fit a 64-bit float"));
    }
    out->v = negative ? -value : value;
  }
  lexer_.Advance();
  return true;
}

bool ExpressionParser::ParseName(Expression* out, int depth) {
  const Token at = lexer_.token();
  if (at.dot != 0) {
    const std::string_view head = at.text.substr(0, at.dot);
    if (head == "torch") return ParseTorchName(out, depth);
    int32_t value = 0;
    Token name = at;
    name.text = head;
    if (!Lookup(name, &value)) return false;
    const std::string_view member = at.text.substr(at.dot);
    lexer_.Advance();
    const bool call = lexer_.Is(Op("("));
    const CalleeKind kind = call ? CalleeKind::kMethod : CalleeKind::kAttribute;
    const Callee* callee = FindCallee(call ? std::string(member) : Cat("getattr:", member));
    if (callee == nullptr) return UnknownCallee(at, call ? std::string(member) : Cat("getattr:", member), kind);
    *out = Expression{.callee = callee, .at = at};
    if (call) return ParseCall(out, value, depth);
    out->positional.push_back({ValueRef{value}});
    return true;
  }
  lexer_.Advance();
  if (lexer_.Is(Op("("))) {
    if (at.text == "slice") return ParseSlice(out, depth);
    if (at.text == "device" && has_device) return ParseDevice(out, depth);
    return UnknownCallee(at, at.text, CalleeKind::kFunction);
  }
  if (at.text == "None") return *out = Value({NoneLiteral{}}, at), true;
  if (at.text == "True") return *out = Value({true}, at), true;
  if (at.text == "False") return *out = Value({false}, at), true;
  if (at.text == "Ellipsis") return *out = Value({EllipsisLiteral{}}, at), true;
  if (at.text == "inf" && has_inf && !names.contains("inf")) {
    return *out = Value({std::numeric_limits<double>::infinity()}, at), true;
  }
  int32_t value = 0;
  if (!Lookup(at, &value)) return false;
  *out = Value({ValueRef{value}}, at);
  if (!lexer_.Is(Op("["))) return true;
  if (!Spend(2 * sizeof(Argument))) return false;
  out->callee = TheOperators().getitem;
  out->positional.resize(2);
  out->positional[0] = std::move(out->value);
  return ParseIndex(&out->positional[1], depth);
}

bool ExpressionParser::ParseTorchName(Expression* out, int depth) {
  const Token at = lexer_.token();
  lexer_.Advance();
  if (lexer_.Is(Op("("))) {
    if (at.text == "torch.device") return ParseDevice(out, depth);
    const Callee* callee = FindCallee(at.text);
    if (callee == nullptr) return UnknownCallee(at, at.text, CalleeKind::kFunction);
    *out = Expression{.callee = callee, .at = at};
    return ParseCall(out, std::nullopt, depth);
  }
  const std::string_view name = at.text.substr(at.dot + 1);
  if (const std::optional<DType> dtype = DTypeFromName(name)) return *out = Value({*dtype}, at), true;
  if (name == "inf") return *out = Value({std::numeric_limits<double>::infinity()}, at), true;
  if (IsTorchConstant(name)) return *out = Value({TorchConstant{std::string(name)}}, at), true;
  std::string known;
  for (const std::string_view constant : kTorchConstants) known += Cat(", torch.", constant);
  return lexer_.FailAt(
      at, Cat("expected a call, a dtype such as torch.float32, torch.inf", known, "; found ", Quoted(at.text)));
}

bool ExpressionParser::ParseCall(Expression* out, std::optional<int32_t> receiver, int depth) {
  if (!Enter(depth)) return false;
  const size_t begin = open_.size();
  if (receiver) {
    if (!Grow(open_)) return false;
    open_.push_back({ValueRef{*receiver}});
  }
  do {
    lexer_.Advance();
    if (lexer_.Is(Op(")"))) break;
    const Token name = lexer_.token();
    if (!lexer_.IsTarget()) {
      if (!out->keyword.empty()) return lexer_.Fail("a positional argument may not follow a keyword argument");
      if (!ParseItem(depth + 1)) return false;
      continue;
    }
    for (const KeywordArgument& earlier : out->keyword) {
      if (earlier.name == name.text) {
        return lexer_.FailAt(name, Cat("the argument ", Quoted(name.text), " is given twice"));
      }
    }
    lexer_.Advance();
    lexer_.Advance();
    if (!Grow(out->keyword)) return false;
    KeywordArgument& keyword = out->keyword.emplace_back();
    keyword.name = name.text;
    if (!ParseArgument(&keyword.value, depth + 1)) return false;
    // A device's name is a placeholder like device(…).
    if (keyword.name == "device" && std::holds_alternative<std::string>(keyword.value.v)) {
      keyword.value.v = DevicePlaceholder{};
    }
  } while (lexer_.Is(Op(",")));
  return TakeItems(begin, &out->positional) && lexer_.Take(Op(")"), "',' or ')'");
}

// The current token is '['.
bool ExpressionParser::ParseIndex(Argument* out, int depth) {
  if (!Enter(depth)) return false;
  lexer_.Advance();
  if (!ParseArgument(out, depth + 1)) return false;
  if (lexer_.Is(Op(","))) {
    const size_t begin = open_.size();
    if (!Grow(open_)) return false;
    open_.push_back(std::move(*out));
    while (lexer_.Is(Op(","))) {
      lexer_.Advance();
      if (lexer_.Is(Op("]"))) break;
      if (!ParseItem(depth + 1)) return false;
    }
    Sequence tuple;
    if (!TakeItems(begin, &tuple.items)) return false;
    out->v = std::move(tuple);
  }
  return lexer_.Take(Op("]"), "',' or ']'");
}

bool ExpressionParser::ParseArgument(Argument* out, int depth) {
  Expression expression;
  if (!ParsePrimary(&expression, depth)) return false;
  if (!expression.is_value()) {
    return lexer_.FailAt(expression.at, "an argument must be a name or a literal: name the inner result first");
  }
  *out = std::move(expression.value);
  return true;
}

bool ExpressionParser::ParseSlice(Expression* out, int depth) {
  if (!Enter(depth)) return false;
  const Token at = lexer_.token();
  SliceLiteral slice;
  const size_t begin = open_.size();
  do {
    lexer_.Advance();
    if (lexer_.Is(Op(")"))) break;
    const Token item = lexer_.token();
    if (!ParseItem(depth + 1)) return false;
    const Argument& argument = open_.back();
    if (!std::holds_alternative<NoneLiteral>(argument.v) && !std::holds_alternative<int64_t>(argument.v) &&
        !std::holds_alternative<ValueRef>(argument.v)) {
      return lexer_.FailAt(item, "expected None, an integer or a name in slice(…)");
    }
  } while (lexer_.Is(Op(",")));
  if (!TakeItems(begin, &slice.items)) return false;
  if (!lexer_.Take(Op(")"), "',' or ')'")) return false;
  if (slice.items.size() != 3) return lexer_.FailAt(at, "slice(start, stop, step) takes three arguments");
  *out = Value({std::move(slice)}, at);
  return true;
}

// device("cuda"), device("cuda", 0), device(type="cuda", index=0): where it is does not matter, it is replaced.
bool ExpressionParser::ParseDevice(Expression* out, int depth) {
  if (!Enter(depth)) return false;
  const Token at = lexer_.token();
  bool type = false, index = false;
  do {
    lexer_.Advance();
    if (lexer_.Is(Op(")"))) break;
    bool is_index = type;
    if (lexer_.Is(TokenKind::kName)) {
      if (!lexer_.IsName("type") && !lexer_.IsName("index")) return lexer_.Expected("'type=' or 'index='");
      is_index = lexer_.IsName("index");
      lexer_.Advance();
      if (!lexer_.Take(Op("="), "'='")) return false;
    }
    if (!lexer_.Is(is_index ? TokenKind::kInt : TokenKind::kString)) {
      return lexer_.Expected(is_index ? "a device's index" : "a device's name");
    }
    if (std::exchange(is_index ? index : type, true)) return lexer_.Fail("device(…) has this argument already");
    const std::string_view name = lexer_.token().text;
    if (!is_index && name != "cpu" && name != "cuda" && !name.starts_with("cuda:")) {
      return lexer_.Expected("\"cpu\" or \"cuda\"");
    }
    lexer_.Advance();
  } while (lexer_.Is(Op(",")));
  if (!lexer_.Take(Op(")"), "',' or ')'")) return false;
  if (!type) return lexer_.FailAt(at, "device(…) takes a device's name");
  *out = Value({DevicePlaceholder{}}, at);
  return true;
}

}  // namespace assay::graph
