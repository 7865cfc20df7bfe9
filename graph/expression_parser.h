// Parses the right-hand sides of model.py: one operation, or one value. Part of the parser of model.py.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/callees.h"
#include "graph/graph.h"
#include "graph/lexer.h"
#include "graph/parse.h"

namespace assay::graph {

// What an expression is: a value that stands for itself, or an operation that is still to be added.
struct Expression {
  const Callee* callee = nullptr;  // nullptr: it is `value`
  Argument value;
  std::vector<Argument> positional;
  std::vector<KeywordArgument> keyword;
  Token at;
  bool bare_negative = false;  // `-2` without parentheses, which `**` would take apart

  bool is_value() const { return callee == nullptr; }
};

class ExpressionParser {
 public:
  // `text_bytes` is the size of the text behind `lexer`.
  ExpressionParser(Lexer& lexer, const Limits& limits, size_t text_bytes)
      : lexer_(lexer), limits_(limits), memory_(limits.memory_floor + limits.memory_factor * text_bytes) {}

  static constexpr int32_t kFreed = -1;
  // What each name is bound to: a value number, or kFreed after it was set to None.
  absl::flat_hash_map<std::string_view, int32_t> names;
  bool has_device = false, has_inf = false;  // imported
  Graph graph;                               // operations are added to it

  // All return false after recording an error in the lexer.
  bool ParseExpression(Expression* out, int depth);
  bool ParseArgument(Argument* out, int depth);
  bool ParseIndex(Argument* out, int depth);
  bool Lookup(const Token& name, int32_t* value);
  // Checks the arguments and adds the operation; `result`, where given, gets a new value.
  bool Add(Expression&& expression, int32_t* result);

 private:
  bool ParsePrimary(Expression* out, int depth);
  bool ParseParenthesised(Expression* out, int depth);
  bool ParseList(Expression* out, int depth);
  bool ParseUnary(Expression* out, int depth);
  bool ParseName(Expression* out, int depth);
  bool ParseTorchName(Expression* out, int depth);
  // `receiver` is the value whose method is called.
  bool ParseCall(Expression* out, std::optional<int32_t> receiver, int depth);
  bool ParseSlice(Expression* out, int depth);
  bool ParseDevice(Expression* out, int depth);
  bool NumberToken(bool negative, Argument* out);
  bool Enter(int depth);
  // Takes memory, or fails where the text describes more than Limits allows it.
  bool Spend(size_t bytes);
  // Has room for one more made in `items`.
  template <typename T>
  bool Grow(std::vector<T>& items);
  // The items of an open bracket are on `open_` until it closes, so that they get one vector of their size.
  bool ParseItem(int depth);
  bool TakeItems(size_t begin, std::vector<Argument>* items);
  bool UnknownCallee(const Token& at, std::string_view name, CalleeKind kind);

  Lexer& lexer_;
  const Limits& limits_;
  size_t memory_;               // what operations and their arguments may still take
  std::vector<Argument> open_;  // items of the open brackets
};

// The operators of statements, which the callee table has as rows.
const Callee* AugmentedOperator(uint32_t op);  // nullptr where there is none
const Callee* SetItemOperator();

}  // namespace assay::graph
