// Says how two graphs differ; for tests. Locations and SampleInfo's texts are not part of a graph's identity.
// Thread safety: pure functions.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "graph/callees.h"
#include "graph/graph.h"
#include "graph/text.h"

namespace assay::graph {

inline bool SameNumber(const std::optional<double>& a, const std::optional<double>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a.has_value() || (*a != *a && *b != *b) || std::bit_cast<uint64_t>(*a) == std::bit_cast<uint64_t>(*b);
}

inline bool SameData(const TensorMeta& a, const TensorMeta& b) {
  if (a.data.has_value() != b.data.has_value()) return false;
  if (!a.data.has_value()) return true;
  if (a.data->size() != b.data->size()) return false;
  for (size_t i = 0; i < a.data->size(); ++i) {
    const auto* x = std::get_if<double>(&(*a.data)[i]);
    const auto* y = std::get_if<double>(&(*b.data)[i]);
    if (x != nullptr && y != nullptr ? !SameNumber(*x, *y) : (*a.data)[i] != (*b.data)[i]) return false;
  }
  return true;
}

// Empty where they are equal.
inline std::string Difference(const Graph& a, const Graph& b) {
  if (a.parameters.size() != b.parameters.size()) return "number of parameters";
  for (size_t i = 0; i < a.parameters.size(); ++i) {
    const Parameter &p = a.parameters[i], &q = b.parameters[i];
    if (p.name != q.name || p.annotation != q.annotation || p.meta.name != q.meta.name ||
        p.meta.shape != q.meta.shape || p.meta.dtype != q.meta.dtype || !SameNumber(p.meta.mean, q.meta.mean) ||
        !SameNumber(p.meta.std, q.meta.std) || !SameNumber(p.meta.min_val, q.meta.min_val) ||
        !SameNumber(p.meta.max_val, q.meta.max_val) || !SameData(p.meta, q.meta)) {
      return Cat("parameter ", i, " (", p.name, ")");
    }
  }
  if (a.operations.size() != b.operations.size()) return "number of operations";
  for (size_t i = 0; i < a.operations.size(); ++i) {
    const Operation &o = a.operations[i], &p = b.operations[i];
    if (o.callee != p.callee || o.positional != p.positional || o.keyword != p.keyword || o.result != p.result) {
      return Cat("operation ", i, " (", o.callee->name, ", line ", o.location.line, ")");
    }
  }
  if (a.outputs != b.outputs) return "outputs";
  if (a.value_count != b.value_count) return "number of values";
  if (a.info.framework != b.info.framework) return "framework";
  return "";
}

}  // namespace assay::graph
