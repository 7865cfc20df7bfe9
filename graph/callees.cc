#include "graph/callees.h"

#include <algorithm>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "graph/edit_distance.h"

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

std::string_view NearestCallee(std::string_view name, CalleeKind kind) {
  constexpr size_t kLongest = 128;
  if (name.size() > kLongest) return {};
  std::string_view best;
  size_t best_distance = std::numeric_limits<size_t>::max();
  for (const Callee& callee : Callees()) {
    if (callee.kind != kind) continue;
    const size_t distance = EditDistance(name, callee.name);
    if (distance < best_distance) {
      best_distance = distance;
      best = callee.name;
    }
  }
  return best;
}

}  // namespace assay::graph
