#include "graph/callees.h"

#include "absl/container/flat_hash_map.h"

namespace assay::graph {
namespace {

using enum CalleeKind;

constexpr Callee kCallees[] = {
#define CALLEE(name, kind, signature, target, flags) {name, kind, signature, target, flags},
#include "graph/callees.inc"
#undef CALLEE
};

constexpr bool Sorted() {
  for (size_t i = 1; i < std::size(kCallees); ++i) {
    if (!(kCallees[i - 1].name < kCallees[i].name)) return false;
  }
  return true;
}
static_assert(Sorted(), "callees.inc must be in byte order of the names, each name once");

}  // namespace

std::span<const Callee> Callees() { return kCallees; }

const Callee* FindCallee(std::string_view name) {
  static const auto& index = *[] {
    auto* map = new absl::flat_hash_map<std::string_view, const Callee*>;
    for (const Callee& callee : kCallees) map->emplace(callee.name, &callee);
    return map;
  }();
  const auto it = index.find(name);
  return it == index.end() ? nullptr : it->second;
}

}  // namespace assay::graph
