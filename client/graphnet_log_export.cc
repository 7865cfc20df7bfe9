#include "client/graphnet_log_export.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "client/words.h"
#include "fmt/format.h"
#include "measure/graphnet_log.h"

namespace assay::client {
namespace {

// Each output's worst comparison: it was compared on several input sets and on a timed call.
std::vector<measure::LoggedOutput> Outputs(const v1::Measurement& measurement, double critical_t) {
  std::map<int, measure::LoggedOutput> outputs;
  for (const v1::OutputComparison& comparison : measurement.comparisons()) {
    const auto [place, added] = outputs.try_emplace(comparison.output());
    measure::LoggedOutput& output = place->second;
    output.dtype = comparison.dtype();
    output.critical_t = added ? comparison.critical_t() : std::max(output.critical_t, comparison.critical_t());
    output.max_abs_diff = std::max(output.max_abs_diff, comparison.max_abs_diff());
    output.mean_abs_diff = std::max(output.mean_abs_diff, comparison.mean_abs_diff());
    if (comparison.output_class() == v1::NAN_MISMATCH) output.max_abs_diff = std::nan("");
    if (comparison.output_class() == v1::INF_MISMATCH) output.max_abs_diff = std::numeric_limits<double>::infinity();
  }
  std::vector<measure::LoggedOutput> list;
  for (auto& [index, output] : outputs) list.push_back(std::move(output));
  // The graph's own t* counts; a check that has no comparison of its own in the list may have raised it.
  const auto worst = std::max_element(list.begin(), list.end(),
                                      [](const auto& a, const auto& b) { return a.critical_t < b.critical_t; });
  if (worst != list.end()) worst->critical_t = std::max(worst->critical_t, critical_t);
  return list;
}

std::optional<measure::LoggedTimes> Times(const google::protobuf::RepeatedField<double>& quantiles) {
  if (quantiles.size() != 5) return std::nullopt;
  return measure::LoggedTimes{quantiles[0], quantiles[1], quantiles[2], quantiles[3], quantiles[4]};
}

}  // namespace

absl::StatusOr<std::string> ExportGraph(const v1::Evaluation& evaluation, const v1::Outcome& outcome,
                                        const v1::ListMeasurementsResponse& measurements) {
  const auto measurement = std::find_if(measurements.measurements().begin(), measurements.measurements().end(),
                                        [&](const auto& m) { return m.id() == outcome.measurement_id(); });
  if (measurement == measurements.measurements().end()) {
    return absl::FailedPreconditionError(
        fmt::format("evaluation {} has no measurement of {} that its outcome is of: it cannot be written as a log",
                    evaluation.id(), outcome.graph()));
  }
  const auto error_class = measure::ErrorClassFromName(ClassWord(outcome.outcome_class()));
  if (!error_class) {
    return absl::FailedPreconditionError(
        fmt::format("the outcome of {} has a class that this program does not know: use a newer one", outcome.graph()));
  }
  measure::LoggedGraph graph;
  graph.path = outcome.graph();
  graph.error_class = *error_class;
  graph.message = outcome.message();
  const bool compared = *error_class == measure::ErrorClass::kCorrect || *error_class == measure::ErrorClass::kAccuracy;
  graph.outputs = Outputs(*measurement, compared ? outcome.critical_t() : std::numeric_limits<double>::infinity());
  if (*error_class == measure::ErrorClass::kCorrect && (graph.outputs.empty() || !(outcome.speedup() > 0))) {
    return absl::FailedPreconditionError(
        fmt::format("{} is correct, but its comparisons or its speed-up are not there", outcome.graph()));
  }
  if (outcome.speedup() > 0) graph.speedup = outcome.speedup();
  graph.baseline = Times(measurement->timing().baseline_quantiles_ns());
  graph.candidate = Times(measurement->timing().candidate_quantiles_ns());
  const v1::Target& target = evaluation.candidate();
  graph.configuration = {{"model", outcome.graph().substr(outcome.graph().rfind('/') + 1)},
                         {"device", target.device_kind()},
                         {"hardware", evaluation.cohort()},
                         {"compiler", TargetWord(target)},
                         {"warmup", std::to_string(measurement->timing().warmup_calls())},
                         {"trials", std::to_string(measurement->timing().pairs())},
                         {"compile_framework_version", target.version()}};
  return measure::WriteLogBlock(graph);
}

}  // namespace assay::client
