#include "graph/stablehlo_parser.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/diagnostic.h"
#include "graph/stablehlo_calls.h"
#include "graph/stablehlo_lexer.h"
#include "graph/stablehlo_names.h"
#include "graph/stablehlo_type.h"
#include "graph/stablehlo_writer.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

using Kind = MlirToken::Kind;

constexpr int kMostResults = 1000;
constexpr size_t kMostFunctions = 10'000;
constexpr std::string_view kMain = "main";

class Parser {
 public:
  Parser(std::string_view text, const Limits& limits) : lexer_(text), limits_(limits) {}

  absl::StatusOr<Graph> Run() {
    if (!Module()) return lexer_.status();
    if (absl::Status status = CheckCalls(functions_, kMain, limits_); !status.ok()) return status;
    Graph graph;
    graph.info.framework = kStableHloFramework;
    for (size_t i = 0; i < main_arguments_.size(); ++i) {
      Parameter parameter;
      parameter.name = Cat("arg", i);
      parameter.meta.name = parameter.name;
      parameter.meta.shape = main_arguments_[i].shape;
      parameter.meta.dtype = *main_arguments_[i].element->dtype;
      graph.parameters.push_back(std::move(parameter));
    }
    graph.value_count = static_cast<int32_t>(graph.parameters.size());
    graph.stablehlo.emplace(
        StableHlo{std::move(writer_.text), std::move(writer_.structure), static_cast<int64_t>(operations_)});
    return graph;
  }

 private:
  struct Value {
    std::string name;  // as printed, without '%'
    int count = 1;
  };
  using Names = std::vector<std::pair<std::string_view, Value>>;

  bool Module();
  bool TopLevel(bool in_module);
  bool ParseFunction();
  bool FunctionArguments(bool main);
  bool FunctionResults();
  bool Region(const Names& given);
  bool Label();
  bool Statement();
  bool Results(Names* results);
  bool OperationName(bool* calls, bool* loops);
  bool LoopArguments();
  bool StatementEnds();
  bool Item();
  bool Items(std::string_view close);
  bool Word();
  bool Use();
  bool Type(TensorType* type = nullptr);
  bool Literal();
  bool Braces();
  bool Dictionary();
  bool ReducerArguments();
  bool TypedNames(Names* names);
  // "(ITEM, ITEM)", which are printed so.
  template <typename One>
  bool Listed(const One& one);
  // A value's name where it is defined.
  bool NameOfValue(Names* names, std::string_view expected);

  bool Enter() {
    if (++depth_ <= kMlirDepth) return true;
    return lexer_.FailAt(lexer_.Peek(), Cat("nested more than ", kMlirDepth, " deep"),
                         absl::StatusCode::kResourceExhausted);
  }
  std::string NewName() { return std::to_string(next_value_++); }
  const Value* Find(std::string_view name) const {
    for (size_t i = scopes_.size(); i-- > 0;) {
      const auto found = scopes_[i].find(name);
      if (found != scopes_[i].end()) return &found->second;
    }
    return nullptr;
  }
  bool Define(const MlirToken& at, std::string_view name, Value value) {
    if (Find(name) != nullptr) return lexer_.FailAt(at, Cat("%", name, " is defined already"));
    scopes_.back().emplace(name, std::move(value));
    return true;
  }

  MlirLexer lexer_;
  const Limits& limits_;
  StableHloWriter writer_;
  std::vector<absl::flat_hash_map<std::string_view, Value>> scopes_;
  StableHloFunctions functions_;
  StableHloFunction* function_ = nullptr;
  std::vector<TensorType> main_arguments_;
  Names region_arguments_;  // of the regions of the statement that is read
  size_t operations_ = 0;
  int64_t next_value_ = 0;
  int64_t argument_bytes_ = 0;
  int depth_ = 0;
};

bool Parser::Module() {
  bool in_module = false;
  while (lexer_.Is(Kind::kAttribute)) {
    if (!lexer_.SkipLocation()) return false;
  }
  if (lexer_.IsWord("module")) {
    lexer_.Take();
    if (lexer_.Is(Kind::kSymbol)) lexer_.Take();
    if (lexer_.IsWord("attributes")) {
      lexer_.Take();
      if (!lexer_.SkipDictionary(/*check_devices=*/true)) return false;
    }
    if (!lexer_.Expect("{")) return false;
    in_module = true;
  }
  return TopLevel(in_module);
}

bool Parser::TopLevel(bool in_module) {
  writer_.Begin();
  while (lexer_.IsWord("func.func")) {
    if (!ParseFunction()) return false;
  }
  if (in_module && !lexer_.Is("}")) return lexer_.Expected("func.func or '}'");
  if (in_module) {
    lexer_.Take();
    if (lexer_.IsWord("loc") && !lexer_.SkipLocation()) return false;
  }
  while (lexer_.Is(Kind::kAttribute)) {
    if (!lexer_.SkipLocation()) return false;
  }
  if (!lexer_.Is(Kind::kEnd)) return lexer_.Expected(in_module ? "the end of the file" : "module or func.func");
  if (!functions_.contains(kMain)) return lexer_.FailAt(lexer_.Peek(), "there is no function @main");
  writer_.End();
  return true;
}

bool Parser::ParseFunction() {
  lexer_.Take();
  if (lexer_.IsWord("public") || lexer_.IsWord("private")) lexer_.Take();
  if (!lexer_.Is(Kind::kSymbol)) return lexer_.Expected("the function's name, such as @main");
  const MlirToken name = lexer_.Take();
  if (functions_.size() == kMostFunctions) {
    return lexer_.FailAt(name, Cat("more than ", kMostFunctions, " functions"), absl::StatusCode::kResourceExhausted);
  }
  const auto [place, added] = functions_.try_emplace(name.text);
  if (!added) return lexer_.FailAt(name, Cat("the function @", name.text, " is defined twice"));
  function_ = &place->second;
  function_->line = name.line;
  function_->column = name.column;
  const bool main = name.text == kMain;
  next_value_ = 0;
  writer_.StartLine();
  for (const std::string_view word : {std::string_view("func.func"), std::string_view(main ? "public" : "private")}) {
    writer_.Word(word);
  }
  writer_.Symbol(name.text);
  scopes_.assign(1, {});
  if (!FunctionArguments(main) || !FunctionResults()) return false;
  if (lexer_.IsWord("attributes")) {
    lexer_.Take();
    if (!lexer_.SkipDictionary()) return false;
  }
  if (!lexer_.Expect("{") || !Region({})) return false;
  return !lexer_.IsWord("loc") || lexer_.SkipLocation();
}

bool Parser::FunctionArguments(bool main) {
  if (!lexer_.Expect("(")) return false;
  writer_.Punctuation("(");
  for (int count = 0; !lexer_.Is(")"); ++count) {
    if (count > 0 && !lexer_.Expect(",")) return false;
    if (count > 0) writer_.Punctuation(",");
    if (!lexer_.Is(Kind::kValue)) return lexer_.Expected("an argument such as %arg0");
    const MlirToken name = lexer_.Take();
    if (static_cast<size_t>(count) >= limits_.parameters) {
      return lexer_.FailAt(name, Cat("more than ", limits_.parameters, " arguments"),
                           absl::StatusCode::kResourceExhausted);
    }
    Value value{Cat("arg", count), 1};
    writer_.Value(value.name);
    if (!Define(name, name.text, std::move(value)) || !lexer_.Expect(":")) return false;
    writer_.Punctuation(":");
    const MlirToken at = lexer_.Peek();
    TensorType type;
    if (!Type(&type)) return false;
    if (main) {
      if (!type.element->dtype) {
        return lexer_.FailAt(at, Cat("an argument of @main with elements of type ", type.element->name,
                                     ", which no graph's tensor has"));
      }
      argument_bytes_ += ElementCount(type.shape) * ElementSize(*type.element->dtype);
      if (argument_bytes_ > limits_.total_bytes) {
        return lexer_.FailAt(at,
                             Cat("the arguments up to here have more bytes than the limit of ", limits_.total_bytes),
                             absl::StatusCode::kResourceExhausted);
      }
      main_arguments_.push_back(std::move(type));
    }
    if (lexer_.Is("{") && !lexer_.SkipDictionary()) return false;
    if (lexer_.IsWord("loc") && !lexer_.SkipLocation()) return false;
  }
  lexer_.Take();
  writer_.Punctuation(")");
  return true;
}

bool Parser::FunctionResults() {
  if (!lexer_.Is("->")) return lexer_.Expected("'->' and the types of the results");
  lexer_.Take();
  writer_.Punctuation("->");
  if (lexer_.Is("(")) {
    return Listed([&] { return Type() && (!lexer_.Is("{") || lexer_.SkipDictionary()); });
  }
  writer_.Punctuation("(");
  if (!Type()) return false;
  writer_.Punctuation(")");
  return true;
}

// After its '{'. `given`: values that it has besides those of its label.
bool Parser::Region(const Names& given) {
  if (!Enter()) return false;
  writer_.OpenRegion();
  scopes_.emplace_back();
  const MlirToken at = lexer_.Peek();
  for (const auto& [name, value] : given) {
    if (!Define(at, name, value)) return false;
  }
  if (lexer_.Is(Kind::kLabel) && !Label()) return false;
  while (!lexer_.Is("}")) {
    if (lexer_.Is(Kind::kLabel)) return lexer_.FailAt(lexer_.Peek(), "a region has one block");
    if (!Statement()) return false;
  }
  lexer_.Take();
  scopes_.pop_back();
  writer_.CloseRegion();
  --depth_;
  return true;
}

bool Parser::Label() {
  lexer_.Take();
  writer_.StartLabel();
  if (lexer_.Is("(")) {
    Names names;
    if (!TypedNames(&names)) return false;
    for (auto& [name, value] : names) {
      if (!Define(lexer_.Peek(), name, std::move(value))) return false;
    }
  }
  if (!lexer_.Expect(":")) return false;
  writer_.Punctuation(":");
  return true;
}

// "(%a: tensor<f32>, %b: tensor<f32>)"; they are printed, and not yet defined.
bool Parser::TypedNames(Names* names) {
  return Listed([&] {
    if (!NameOfValue(names, "a value such as %arg0")) return false;
    if (!lexer_.Expect(":")) return false;
    writer_.Punctuation(":");
    if (!Type()) return false;
    return !lexer_.IsWord("loc") || lexer_.SkipLocation();
  });
}

template <typename One>
bool Parser::Listed(const One& one) {
  if (!lexer_.Expect("(")) return false;
  writer_.Punctuation("(");
  for (bool first = true; !lexer_.Is(")"); first = false) {
    if (!first && !lexer_.Expect(",")) return false;
    if (!first) writer_.Punctuation(",");
    if (!one()) return false;
  }
  lexer_.Take();
  writer_.Punctuation(")");
  return true;
}

bool Parser::NameOfValue(Names* names, std::string_view expected) {
  if (!lexer_.Is(Kind::kValue)) return lexer_.Expected(expected);
  names->emplace_back(lexer_.Take().text, Value{NewName(), 1});
  writer_.Value(names->back().second.name);
  return true;
}

bool Parser::Statement() {
  const MlirToken at = lexer_.Peek();
  if (!at.first && !lexer_.Is(Kind::kEnd)) return lexer_.FailAt(at, "an operation begins a line");
  if (++operations_ > limits_.operations) {
    return lexer_.FailAt(at, Cat("more than ", limits_.operations, " operations"),
                         absl::StatusCode::kResourceExhausted);
  }
  ++function_->operations;
  writer_.StartLine();
  Names results;
  bool calls = false, loops = false;
  if (!Results(&results) || !OperationName(&calls, &loops)) return false;
  Names outer = std::exchange(region_arguments_, {});
  if (calls) {
    if (!lexer_.Is(Kind::kSymbol)) return lexer_.Expected("the function that is called");
    const MlirToken callee = lexer_.Take();
    ++function_->calls[callee.text];
    writer_.Symbol(callee.text);
  }
  if (loops && !LoopArguments()) return false;
  while (!StatementEnds()) {
    if (!Item()) return false;
  }
  region_arguments_ = std::move(outer);
  for (auto& [name, value] : results) {
    if (!Define(at, name, std::move(value))) return false;
  }
  return true;
}

// "%0, %1:2 =", or nothing.
bool Parser::Results(Names* results) {
  if (!lexer_.Is(Kind::kValue)) return true;
  for (;;) {
    if (!lexer_.Is(Kind::kValue)) return lexer_.Expected("a value such as %0");
    const MlirToken name = lexer_.Take();
    Value value{NewName(), 1};
    writer_.Value(value.name);
    if (lexer_.Is(":")) {
      lexer_.Take();
      const std::optional<int64_t> count = ParseInteger(lexer_.Peek().text);
      if (!lexer_.Is(Kind::kNumber) || !count || *count < 1 || *count > kMostResults) {
        return lexer_.Expected(Cat("a number of results from 1 to ", kMostResults));
      }
      value.count = static_cast<int>(*count);
      writer_.Count(lexer_.Take().text);
    }
    results->emplace_back(name.text, std::move(value));
    if (!lexer_.Is(",")) break;
    lexer_.Take();
    writer_.Punctuation(",");
  }
  if (!lexer_.Expect("=")) return false;
  writer_.Punctuation("=");
  return true;
}

bool Parser::OperationName(bool* calls, bool* loops) {
  const bool generic = lexer_.Is(Kind::kString);
  if (!generic && !lexer_.Is(Kind::kWord)) return lexer_.Expected("an operation such as stablehlo.add");
  const MlirToken name = lexer_.Take();
  if (!IsStableHloOperation(name.text) || (generic && !lexer_.Is("("))) {
    return lexer_.FailAt(name, Cat("the operation ", Quoted(name.text), " is not among those that a graph may have"));
  }
  if (generic) {
    writer_.String(name.text);
  } else {
    writer_.Word(name.text);
  }
  *calls = !generic && (name.text == "call" || name.text == "func.call");
  *loops = !generic && name.text == "stablehlo.while";
  if (generic && name.text.ends_with("call")) {
    return lexer_.FailAt(name, "a call is written in its short form, `call @function(…)`");
  }
  return true;
}

// "(%iterArg = %0, %iterArg_1 = %c)": values that both regions of a loop have.
bool Parser::LoopArguments() {
  return Listed([&] {
    if (!NameOfValue(&region_arguments_, "a value of the loop such as %iterArg")) return false;
    if (!lexer_.Expect("=")) return false;
    writer_.Punctuation("=");
    if (!lexer_.Is(Kind::kValue)) return lexer_.Expected("the value that the loop starts with");
    return Use();
  });
}

// At the first token of a line, unless that goes on with the regions of the operation.
bool Parser::StatementEnds() {
  if (lexer_.Is(Kind::kEnd) || lexer_.Is("}")) return true;
  return lexer_.Peek().first && !lexer_.IsWord("cond") && !lexer_.IsWord("do") && !lexer_.IsWord("reducer") &&
         !lexer_.Is("{");
}

bool Parser::Items(std::string_view close) {
  if (!Enter()) return false;
  while (!lexer_.Is(close)) {
    if (!Item()) return false;
  }
  lexer_.Take();
  writer_.Punctuation(close);
  --depth_;
  return true;
}

// Every kind of token that an operation may have behind its name. An operation's name is none of them, wherever it
// stands.
bool Parser::Item() {
  const MlirToken& token = lexer_.Peek();
  switch (token.kind) {
    case Kind::kWord:
      return Word();
    case Kind::kValue:
      return Use();
    case Kind::kNumber:
      writer_.Number(lexer_.Take().text);
      return true;
    case Kind::kAttribute:
      if (token.text != "stablehlo" && !token.text.starts_with("stablehlo.")) {
        return lexer_.Expected("an attribute of StableHLO");
      }
      writer_.Attribute(lexer_.Take().text);
      return lexer_.Is("<") || lexer_.Expected("'<'");
    case Kind::kPunctuation:
      break;
    default:
      return lexer_.Expected("a value, a type or an attribute");
  }
  if (token.text == "{") return Braces();
  for (const auto& [open, close] : {std::pair<std::string_view, std::string_view>{"(", ")"}, {"[", "]"}, {"<", ">"}}) {
    if (token.text != open) continue;
    lexer_.Take();
    writer_.Punctuation(open);
    return Items(close);
  }
  if (token.text == "," || token.text == ":" || token.text == "=" || token.text == "->") {
    writer_.Punctuation(lexer_.Take().text);
    return true;
  }
  return lexer_.Expected("a value, a type or an attribute");
}

bool Parser::Word() {
  const MlirToken word = lexer_.Peek();
  if (word.text == "tensor") return Type();
  if (word.text == "dense") return Literal();
  if (word.text == "loc") return lexer_.SkipLocation();
  if (word.text == "reducer") return ReducerArguments();
  lexer_.Take();
  if (word.text == "applies") {
    writer_.Word(word.text);
    if (!lexer_.Is(Kind::kWord) || !IsStableHloOperation(lexer_.Peek().text) || lexer_.Peek().text.ends_with("call")) {
      return lexer_.Expected("an operation that a graph may have");
    }
    writer_.Word(lexer_.Take().text);
    return true;
  }
  if (word.text.starts_with("dense_")) {
    return lexer_.FailAt(word, Cat(word.text, ": contents that are not in the text are refused; write dense<…>"));
  }
  if (word.text.find_first_of(".$") != std::string_view::npos || IsStableHloOperation(word.text)) {
    return lexer_.FailAt(word, Cat("expected a value, a type or an attribute, found ", Quoted(word.text),
                                   "; an operation begins a line"));
  }
  writer_.Word(word.text);
  return true;
}

bool Parser::Use() {
  const MlirToken name = lexer_.Take();
  const Value* value = Find(name.text);
  if (value == nullptr) return lexer_.FailAt(name, Cat("%", name.text, " is not defined here"));
  std::string printed = value->name;
  // "%5#1": the number follows at once.
  if (lexer_.Is(Kind::kAttribute) && lexer_.Peek().line == name.line &&
      lexer_.Peek().column == name.column + static_cast<int>(name.text.size()) + 1) {
    const std::optional<int64_t> number = ParseInteger(lexer_.Peek().text);
    if (!number || *number < 0 || *number >= value->count) {
      return lexer_.FailAt(lexer_.Peek(), Cat("%", name.text, " has ", value->count, " results"));
    }
    printed += Cat("#", lexer_.Take().text);
  }
  writer_.Value(printed);
  return true;
}

// tensor<4x8xf32>
bool Parser::Type(TensorType* out) {
  const MlirToken at = lexer_.Peek();
  if (!lexer_.IsWord("tensor") || !lexer_.Is("<", 1)) {
    return lexer_.Expected("a tensor type such as tensor<4x8xf32>");
  }
  lexer_.Take();
  lexer_.Take();
  std::string_view inside;
  if (!lexer_.TakeRaw('>', &inside)) return false;
  std::string whole(inside);
  if (whole.find("complex<") != std::string::npos) {
    if (!lexer_.Expect(">")) return false;
    whole += '>';
  }
  const absl::StatusOr<TensorType> type = ParseTensorType(whole, limits_);
  if (!type.ok()) return lexer_.FailAt(at, std::string(type.status().message()), type.status().code());
  writer_.Tensor(type->shape, type->element->name);
  if (out != nullptr) *out = *type;
  return true;
}

// dense<…>: numbers, true, false, brackets, or all elements in one string of hex digits.
bool Parser::Literal() {
  const MlirToken at = lexer_.Peek();
  if (!lexer_.Is("<", 1)) return lexer_.FailAt(at, "dense must be followed by '<'");
  lexer_.Take();
  lexer_.Take();
  std::string_view inside;
  if (!lexer_.TakeRaw('>', &inside)) return false;
  std::string contents;
  for (const char c : inside) {
    if (c == ' ' || c == '\t' || c == '\r') continue;
    constexpr std::string_view kAllowed = "0123456789abcdefABCDEFxrtulsE+-.,[]()\"";
    if (kAllowed.find(c) == std::string_view::npos) {
      return lexer_.FailAt(at, "the contents of dense<…> must be numbers, true, false, or one string of hex digits");
    }
    contents += c;
  }
  writer_.Dense(contents);
  return true;
}

// A region, or a dictionary of attributes.
bool Parser::Braces() {
  const bool named = lexer_.Is(Kind::kWord, 1) && !IsStableHloOperation(lexer_.Peek(1).text);
  const bool dictionary = named && (lexer_.Is("=", 2) || lexer_.Is(",", 2) || lexer_.Is("}", 2));
  if (dictionary) return Dictionary();
  lexer_.Take();
  return Region(region_arguments_);
}

bool Parser::Dictionary() {
  if (!Enter()) return false;
  lexer_.Take();
  const StableHloWriter::Mark mark = writer_.Here();
  writer_.Punctuation("{");
  bool empty = true;
  for (bool first = true; !lexer_.Is("}"); first = false) {
    if (!first && !lexer_.Expect(",")) return false;
    if (!lexer_.Is(Kind::kWord)) return lexer_.Expected("an attribute's name");
    const MlirToken name = lexer_.Take();
    // What frameworks note for themselves.
    const bool note = name.text.starts_with("mhlo.") || name.text.starts_with("jax.");
    if (!note && !IsStableHloAttribute(name.text)) {
      return lexer_.FailAt(name,
                           Cat("the attribute ", Quoted(name.text), " is not among those that an operation may have"));
    }
    const StableHloWriter::Mark before = writer_.Here();
    if (!note && !empty) writer_.Punctuation(",");
    if (!note) writer_.Word(name.text);
    if (lexer_.Is("=")) {
      lexer_.Take();
      writer_.Punctuation("=");
      while (!lexer_.Is(",") && !lexer_.Is("}")) {
        if (note ? !lexer_.SkipBalanced() : !Item()) return false;
      }
    }
    if (note) {
      writer_.BackTo(before);
    } else {
      empty = false;
    }
  }
  lexer_.Take();
  writer_.Punctuation("}");
  if (empty) writer_.BackTo(mark);
  --depth_;
  return true;
}

// "reducer(%a: …, %b: …) (…)": values of the region that follows.
bool Parser::ReducerArguments() {
  writer_.Word(lexer_.Take().text);
  region_arguments_.clear();
  do {
    if (!TypedNames(&region_arguments_)) return false;
  } while (lexer_.Is("("));
  return lexer_.Is("{") || lexer_.Expected("the reducer's region");
}

}  // namespace

absl::StatusOr<Graph> ParseStableHloText(std::string_view text, const Limits& limits) {
  if (text.size() > limits.file_bytes) {
    return Refusal(absl::StatusCode::kResourceExhausted, kStableHloFile, 0, 0,
                   Cat("the file has ", text.size(), " bytes, more than the limit of ", limits.file_bytes));
  }
  if (text.starts_with("ML\xefR")) {
    return Refusal(absl::StatusCode::kInvalidArgument, kStableHloFile, 0, 0,
                   "this is MLIR bytecode; a graph is given as text");
  }
  return Parser(text, limits).Run();
}

}  // namespace assay::graph
