// The table of everything that a graph may call: one row a callee, written in callees.inc, which is the one place
// where an operator is added. A row says how the callee is written, how its arguments bind, and what it calls.
// Thread safety: immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace assay::graph {

enum class CalleeKind : uint8_t {
  kFunction,   // torch.nn.functional.relu(x)
  kMethod,     // x.view(…): name ".view"
  kOperator,   // x + y, x[i], x[i] = v, x += y, -x: name "operator:+", "operator:getitem", …
  kAttribute,  // x.T: name "getattr:.T"
};

struct Callee {
  // As in the census: "torch.conv2d", ".view", "operator:+", "getattr:.T".
  std::string_view name;
  CalleeKind kind;
  // The Python signature that arguments bind by: "(input, weight, bias=None, stride=1, *, groups=1)"; a method's
  // receiver is the first parameter. `*size` collects further positional arguments; what follows it is given by
  // keyword. Aliases stand behind a bar, the operator's own name first: "self|input", "dim|axis". Several signatures
  // are tried in order: "(end); (start, end, step=1)". Arguments that fit none are refused when the graph is parsed.
  // signature.h reads and binds it.
  std::string_view signature;
  // What runs: "aten::relu" (an overload packet; the overload is chosen by the arguments), or
  // "composite::NAME" (a function of runner/torch that makes the same calls as PyTorch's Python wrapper).
  std::string_view target;
  // Flags, any of: "m" mutates its first argument; "i" does so where its argument `inplace` is true; "r" random;
  // "d" random where its arguments ask for dropout; "n" result not deterministic; "0" gives no result; "t" gives a
  // tuple or list of tensors, "a" does so where it has a dimension (any callee does with `return_indices`); "o" gives
  // something else than a tensor or a number.
  std::string_view flags;
};

// All rows, sorted by name.
std::span<const Callee> Callees();
// nullptr where there is none.
const Callee* FindCallee(std::string_view name);
// The name in the table most like this one, of the same kind; empty where the name is too long to compare.
std::string_view NearestCallee(std::string_view name, CalleeKind kind);

}  // namespace assay::graph
