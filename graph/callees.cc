#include "graph/callees.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

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

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

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
