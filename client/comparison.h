// Two evaluations graph by graph: what became of the candidate's outcomes, and of its speed against the common
// baseline.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "measure/speedup_difference.h"

namespace assay::client {

// In the order in which they are shown.
enum class Change : uint8_t {
  kNewFailure,    // correct before, and not after
  kRepair,        // the reverse
  kOtherFailure,  // wrong or failed on both sides, in different classes
  kSlower,
  kFaster,
  kUnclear,
  kSame,
  kFailing,  // the same failure on both sides
  kSkipped,  // not measured on a side
  kMissing,  // one evaluation has no such graph
};
inline constexpr int kChangeCount = 10;
std::string_view ChangeWord(Change change);  // "new-failure", "repair", "other-failure", "slower", …
absl::StatusOr<std::set<Change>> ParseChanges(const std::vector<std::string>& words);

struct GraphChange {
  std::string graph;
  Change change = Change::kMissing;
  std::string before, after;              // what each outcome was: "correct", "compile_fail" … ; "–": there is none
  std::string message;                    // of a failure after, or why it is missing
  bool timed = false;                     // correct on both sides: `difference` holds
  measure::SpeedupDifference difference;  // of the later candidate against the earlier one
  double p_value = 1;                     // corrected for the number of graphs
  double before_ns = 0, after_ns = 0;     // median of a call
  bool unstable = false;                  // on a side
  std::optional<Change> at_first;         // what the evaluations' own outcomes said, where the graph was measured again
};

struct Comparison {
  v1::Evaluation before, after;
  std::vector<GraphChange> graphs;  // by change, then by the size of the effect
  std::map<Change, int> counts;
  int timed = 0;
  double mean_ratio = 1;  // geometric, over the timed graphs: above 1 the later candidate is faster
};

struct CompareOptions {
  double tolerance = 1;                      // a graph is correct where its t* is at most this
  bool across_cohorts = false;               // other devices, software, baselines or numbers of threads
  std::map<std::string, Change> remeasured;  // whose outcomes are of another look, and what the first one said
};

// FailedPrecondition: the two cannot be compared, and the message says why and what to do.
absl::Status CheckComparable(const v1::Evaluation& before, const v1::Evaluation& after, bool across_cohorts);

// Precondition: comparable.
Comparison Compare(const v1::Evaluation& before, const v1::ListOutcomesResponse& before_outcomes,
                   const v1::Evaluation& after, const v1::ListOutcomesResponse& after_outcomes,
                   const CompareOptions& options);

// Whether a graph has one of these changes.
bool IsFailure(const Comparison& comparison, const std::set<Change>& failures);

// Whether it is a departure, which is measured again before it is called one.
bool IsDeparture(Change change);

struct BothOutcomes {
  v1::ListOutcomesResponse before, after;
};
// Measures these graphs afresh on both sides.
using MeasureAgain = std::function<absl::StatusOr<BothOutcomes>(const std::set<std::string>& graphs)>;

// Compares, has every departure measured again, whichever way it points, and lets that decide: once, and not until it
// suits. The outcomes of the two evaluations stay as they are. Precondition: comparable.
absl::StatusOr<Comparison> CompareTwice(const v1::Evaluation& before, const v1::Evaluation& after,
                                        BothOutcomes outcomes, CompareOptions options, const MeasureAgain& measure);

}  // namespace assay::client
