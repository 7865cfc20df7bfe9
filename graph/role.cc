#include "graph/role.h"

#include <cmath>

#include "graph/graph.h"

namespace assay::graph {
namespace {

bool Contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

bool IsParameter(std::string_view name) { return Contains(name, "parameters_"); }

}  // namespace

bool IsRunningVariance(std::string_view name) { return Contains(name, "running_var"); }

double TypicalMean(std::string_view name, const std::vector<int64_t>& shape) {
  const bool scale = IsParameter(name) && shape.size() == 1 && name.ends_with("weight_");
  return scale || IsRunningVariance(name) ? 1 : 0;
}

double TypicalStd(std::string_view name, const std::vector<int64_t>& shape, double mean) {
  const int64_t elements = ElementCount(shape);
  if (elements <= 1) return 0;
  if (mean != 0) return 0.1 * std::abs(mean);
  if (IsParameter(name)) {
    return shape.size() < 2 ? 0.02 : 1 / std::sqrt(static_cast<double>(elements / shape[0]));
  }
  return Contains(name, "buffers_") ? 0.1 : 1;
}

}  // namespace assay::graph
