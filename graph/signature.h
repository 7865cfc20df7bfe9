// Signatures of callees, read from the text in the callee table, and the binding of an operation's arguments to them
// by Python's rules.
// Thread safety: pure functions; what they return lives as long as the program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/callees.h"
#include "graph/graph.h"

namespace assay::graph {

struct SignatureParameter {
  std::string_view name;                  // the operator's own name: "dim" of "dim|axis"
  std::vector<std::string_view> aliases;  // further names that a keyword may have
  std::string_view default_text;          // as in the table ("None", "1e-05"); empty where the argument is required
  bool keyword_only = false;
  bool variadic = false;  // `*size`: takes all positional arguments from here on; one at least
};

struct Signature {
  std::string_view text;
  std::vector<SignatureParameter> parameters;
  int positional_count = 0;  // parameters that may be given by position, a variadic one included
  int variadic = -1;         // index of the variadic parameter

  // Index of the parameter that a keyword names; -1 where there is none.
  int Find(std::string_view keyword) const;
};

// The signatures of a row, in order; one at least.
std::span<const Signature> SignaturesOf(const Callee& callee);

// Which argument each parameter of a signature takes: i is positional[i], positional.size() + j is keyword[j], −1 is
// the default. A variadic parameter given by position has its first argument's index and `variadic_count` arguments.
struct Binding {
  const Signature* signature = nullptr;
  std::vector<int> arguments;
  int variadic_count = 0;
};

// Binds to the first signature that fits; InvalidArgument says why none does.
absl::StatusOr<Binding> Bind(const Operation& operation);

// True where the arguments fit one of the callee's signatures; does not allocate. Otherwise `why` says what is wrong
// and what would be accepted.
bool Fits(const Callee& callee, size_t positional_count, std::span<const KeywordArgument> keyword, std::string* why);

}  // namespace assay::graph
