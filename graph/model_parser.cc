#include "graph/model_parser.h"

#include <algorithm>
#include <utility>

#include "graph/callees.h"
#include "graph/diagnostic.h"
#include "graph/expression_parser.h"
#include "graph/lexer.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

// Names that mean something else in the file, or that Python keeps.
constexpr std::string_view kReserved[] = {
    "Ellipsis", "False",    "None",   "True",  "and",   "as",     "assert",   "async",   "await", "break",
    "class",    "continue", "def",    "del",   "elif",  "else",   "except",   "finally", "for",   "from",
    "global",   "if",       "import", "in",    "is",    "lambda", "nonlocal", "not",     "or",    "pass",
    "raise",    "return",   "self",   "slice", "torch", "try",    "while",    "with",    "yield",
};

// Parameters may not hide these either, since the canonical text uses them; names that begin with two underscores mean
// something in tensor files.
constexpr std::string_view kReservedForParameters[] = {"device", "inf"};

constexpr size_t kLongestReserved = std::ranges::max(kReserved, {}, &std::string_view::size).size();

// `names` are short; most names of graphs are not.
bool Contains(const auto& names, std::string_view name) {
  return name.size() <= kLongestReserved && std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class ModelParser {
 public:
  ModelParser(std::string_view text, const Limits& limits, std::vector<Location>* locations)
      : lexer_(text, kModelFile), limits_(limits), locations_(locations), parser_(lexer_, limits, text.size()) {}

  absl::StatusOr<Graph> Run() {
    lexer_.Advance();
    if (!Module()) return lexer_.status();
    return std::move(parser_.graph);
  }

 private:
  bool Module();
  bool Imports();
  bool Parameters();
  bool OneParameter();
  bool Body();
  bool Statement();
  bool AssignTo(const Token& first);
  bool Augmented(const Token& target, const Callee* callee);
  bool SetItem(const Token& target);
  bool Return();

  bool CheckTarget(const Token& name);
  bool TakeWord(std::string_view word);
  bool TakeNewline();

  Lexer lexer_;
  const Limits& limits_;
  std::vector<Location>* locations_;
  ExpressionParser parser_;
  bool returned_ = false;
  int body_column_ = 0;
};

bool ModelParser::TakeWord(std::string_view word) {
  if (!lexer_.IsName(word)) return lexer_.Expected(Quoted(word));
  lexer_.Advance();
  return true;
}

bool ModelParser::TakeNewline() {
  if (!lexer_.Is(TokenKind::kNewline)) return lexer_.Expected("the end of the line");
  lexer_.Advance();
  return true;
}

bool ModelParser::Module() {
  if (!Imports()) return false;
  if (lexer_.token().column != 1 || !lexer_.IsName("class")) {
    return lexer_.Expected(
        "'import torch', 'from torch import device', 'from torch import inf' or "
        "'class GraphModule(torch.nn.Module):' at the beginning of the line");
  }
  lexer_.Advance();
  if (!TakeWord("GraphModule") || !lexer_.Take(Op("("), "'('") || !TakeWord("torch.nn.Module") ||
      !lexer_.Take(Op(")"), "')'") || !lexer_.Take(Op(":"), "':'") || !TakeNewline()) {
    return false;
  }
  const int def_column = lexer_.token().column;
  if (!lexer_.IsName("def") || def_column == 1) return lexer_.Expected("'def forward(self, …):', indented");
  lexer_.Advance();
  if (!TakeWord("forward") || !lexer_.Take(Op("("), "'('") || !TakeWord("self") || !Parameters() ||
      !lexer_.Take(Op(":"), "':'") || !TakeNewline()) {
    return false;
  }
  body_column_ = lexer_.token().column;
  if (body_column_ <= def_column && !lexer_.Is(TokenKind::kEnd)) {
    return lexer_.Expected("a statement that is indented more than 'def'");
  }
  return Body();
}

bool ModelParser::Imports() {
  bool torch = false;
  for (;;) {
    if (lexer_.token().column != 1) break;
    if (lexer_.IsName("import")) {
      lexer_.Advance();
      if (!TakeWord("torch") || !TakeNewline()) return false;
      torch = true;
    } else if (lexer_.IsName("from")) {
      lexer_.Advance();
      if (!TakeWord("torch") || !TakeWord("import")) return false;
      if (lexer_.IsName("device")) {
        parser_.has_device = true;
      } else if (lexer_.IsName("inf")) {
        parser_.has_inf = true;
      } else {
        return lexer_.Expected("'device' or 'inf'");
      }
      lexer_.Advance();
      if (!TakeNewline()) return false;
    } else {
      break;
    }
  }
  return torch || lexer_.Expected("'import torch'");
}

bool ModelParser::Parameters() {
  while (lexer_.Is(Op(","))) {
    lexer_.Advance();
    if (lexer_.Is(Op(")"))) break;
    if (!OneParameter()) return false;
  }
  return lexer_.Take(Op(")"), "',' or ')'");
}

bool ModelParser::OneParameter() {
  const Token name = lexer_.token();
  if (name.kind != TokenKind::kName || name.dot != 0) return lexer_.Expected("a parameter's name");
  if (Contains(kReserved, name.text) || Contains(kReservedForParameters, name.text) || name.text.starts_with("__")) {
    return lexer_.Fail(Cat("a parameter may not be named ", Quoted(name.text), ", which has another meaning here"));
  }
  if (parser_.graph.parameters.size() >= limits_.parameters) {
    return lexer_.FailWith(absl::StatusCode::kResourceExhausted, name,
                           Cat("more parameters than the limit of ", limits_.parameters));
  }
  if (!parser_.names.try_emplace(name.text, static_cast<int32_t>(parser_.graph.parameters.size())).second) {
    return lexer_.Fail(Cat("the parameter ", Quoted(name.text), " is declared twice"));
  }
  lexer_.Advance();
  if (!lexer_.Take(Op(":"), "':' and an annotation")) return false;
  Parameter& parameter = parser_.graph.parameters.emplace_back();
  parameter.name = name.text;
  if (lexer_.IsName("torch.nn.parameter.Parameter")) {
    parameter.annotation = Annotation::kParameter;
  } else if (lexer_.IsName("torch.Tensor")) {
    parameter.annotation = Annotation::kTensor;
  } else if (lexer_.IsName("torch.SymInt")) {
    parameter.annotation = Annotation::kSymInt;
  } else {
    return lexer_.Expected("'torch.nn.parameter.Parameter', 'torch.Tensor' or 'torch.SymInt'");
  }
  lexer_.Advance();
  if (locations_ != nullptr) locations_->push_back({name.line, name.column});
  return true;
}

bool ModelParser::Body() {
  parser_.graph.value_count = static_cast<int32_t>(parser_.graph.parameters.size());
  while (!lexer_.Is(TokenKind::kEnd)) {
    if (returned_) return lexer_.Expected("the end of the file after 'return'");
    if (lexer_.token().column != body_column_) {
      return lexer_.Expected(Cat("a statement at column ", body_column_));
    }
    if (!Statement()) return false;
  }
  if (!returned_) return lexer_.Expected("a statement or 'return (…,)'");
  return true;
}

bool ModelParser::Statement() {
  const Token first = lexer_.token();
  if (first.kind != TokenKind::kName || first.dot != 0) {
    return lexer_.Expected("'NAME = …', 'NAME[…] = …', 'NAME += …' or 'return (…,)'");
  }
  lexer_.Advance();
  if (first.text == "return") return Return();
  if (!CheckTarget(first)) return false;
  if (lexer_.Is(Op("="))) return AssignTo(first) && TakeNewline();
  if (lexer_.Is(Op("["))) return SetItem(first) && TakeNewline();
  if (lexer_.Is(TokenKind::kPunctuation)) {
    if (const Callee* callee = AugmentedOperator(lexer_.token().op)) {
      return Augmented(first, callee) && TakeNewline();
    }
  }
  return lexer_.Expected("'=', '[', '+=', '-=', '*=', '/=' or '//='");
}

bool ModelParser::CheckTarget(const Token& name) {
  if (!Contains(kReserved, name.text)) return true;
  return lexer_.FailAt(name, Cat("expected a statement 'NAME = …', 'NAME[…] = …', 'NAME += …' or 'return (…,)', found ",
                                 Quoted(name.text)));
}

// `a = EXPRESSION`, `a = b` or `a = b = None`; the current token is the first '='.
bool ModelParser::AssignTo(const Token& first) {
  std::vector<Token> more;
  for (;;) {
    lexer_.Advance();
    const bool parenthesised = lexer_.IsParenthesisedTarget();
    if (parenthesised) lexer_.Advance();
    const Token name = lexer_.token();
    if (parenthesised || lexer_.IsTarget()) {
      if (!CheckTarget(name)) return false;
      more.push_back(name);
      lexer_.Advance();
      if (parenthesised) lexer_.Advance();
      continue;
    }
    Expression expression;
    if (!parser_.ParseExpression(&expression, 0)) return false;
    int32_t value = ExpressionParser::kFreed;
    if (expression.is_value() && std::holds_alternative<NoneLiteral>(expression.value.v)) {
      for (const Token& target : more) parser_.names[target.text] = value;
    } else if (!more.empty()) {
      return lexer_.FailAt(name, "expected None after several '='");
    } else if (expression.is_value()) {
      const ValueRef* reference = std::get_if<ValueRef>(&expression.value.v);
      if (reference == nullptr) {
        return lexer_.FailAt(name,
                             "expected a call, an operator, an index, an attribute, a name or None: a literal is "
                             "not assigned to a name");
      }
      value = reference->value;
    } else if (!parser_.Add(std::move(expression), &value)) {
      return false;
    }
    parser_.names[first.text] = value;
    return true;
  }
}

// `x += y`: the result of the operation takes over the name.
bool ModelParser::Augmented(const Token& target, const Callee* callee) {
  Expression expression;
  expression.callee = callee;
  expression.at = lexer_.token();
  int32_t value = 0;
  if (!parser_.Lookup(target, &value)) return false;
  lexer_.Advance();
  expression.positional.resize(2);
  expression.positional[0].v = ValueRef{value};
  if (!parser_.ParseArgument(&expression.positional[1], 0) || !parser_.Add(std::move(expression), &value)) return false;
  parser_.names[target.text] = value;
  return true;
}

bool ModelParser::SetItem(const Token& target) {
  Expression expression;
  expression.callee = SetItemOperator();
  expression.at = lexer_.token();
  int32_t value = 0;
  if (!parser_.Lookup(target, &value)) return false;
  expression.positional.resize(3);
  expression.positional[0].v = ValueRef{value};
  return parser_.ParseIndex(&expression.positional[1], 0) && lexer_.Take(Op("="), "'='") &&
         parser_.ParseArgument(&expression.positional[2], 0) && parser_.Add(std::move(expression), nullptr);
}

bool ModelParser::Return() {
  if (!lexer_.Take(Op("("), "'(' and a tuple of names")) return false;
  bool comma = false;
  while (!lexer_.Is(Op(")"))) {
    const Token name = lexer_.token();
    if (name.kind != TokenKind::kName || name.dot != 0) return lexer_.Expected("a name or ')'");
    int32_t value = 0;
    if (!parser_.Lookup(name, &value)) return false;
    parser_.graph.outputs.push_back(value);
    lexer_.Advance();
    comma = lexer_.Is(Op(","));
    if (!comma) break;
    lexer_.Advance();
  }
  if (parser_.graph.outputs.empty()) return lexer_.Fail("expected at least one name: a graph returns something");
  if (parser_.graph.outputs.size() == 1 && !comma) return lexer_.Expected("',': a tuple of one is written (x,)");
  if (!lexer_.Take(Op(")"), "',' or ')'") || !TakeNewline()) return false;
  returned_ = true;
  return true;
}

}  // namespace

absl::StatusOr<Graph> ParseModelFile(std::string_view text, const Limits& limits, std::vector<Location>* locations) {
  if (absl::Status status = CheckSize(text, kModelFile, limits); !status.ok()) return status;
  return ModelParser(text, limits, locations).Run();
}

}  // namespace assay::graph
