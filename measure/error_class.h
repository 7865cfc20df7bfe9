// How a graph's trial ended, as the scores see it, and the tolerance level from which a failure of each class is
// tolerated. This is the one table of error classes: the database, the API and the reports use the names given here.
//
// `correct` means: both arms ran, dtypes and shapes agree, and the critical tolerance (tolerance.h) is at most 1;
// whether the graph counts as correct at a given t is then a matter of its critical tolerance. `skipped` and
// `infrastructure` never count in a score: the first is outside of N, the second is retried.
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::measure {

enum class ErrorClass : uint8_t {
  kCorrect,
  kEagerFail,       // the baseline failed, in whatever phase, not for want of memory alone (kSkipped)
  kCompileFail,     // the candidate failed in load or compile
  kRuntimeFail,     // the candidate failed in run or pair
  kShapeMismatch,   // another number of outputs, or another shape of one
  kTypeMismatch,    // another dtype of an output
  kAccuracy,        // not close at any t <= 1
  kNan,             // a NaN on either side
  kInf,             // an infinity that the other side does not have
  kSkipped,         // not measured, and not in N
  kInfrastructure,  // not the compiler's doing: retried, not in N
};
inline constexpr int kErrorClassCount = 11;
inline constexpr std::array<ErrorClass, kErrorClassCount> kErrorClasses = {
    ErrorClass::kCorrect,       ErrorClass::kEagerFail,    ErrorClass::kCompileFail,   ErrorClass::kRuntimeFail,
    ErrorClass::kShapeMismatch, ErrorClass::kTypeMismatch, ErrorClass::kAccuracy,      ErrorClass::kNan,
    ErrorClass::kInf,           ErrorClass::kSkipped,      ErrorClass::kInfrastructure};

// "correct", "eager_fail", … "infrastructure".
std::string_view Name(ErrorClass error_class);
std::optional<ErrorClass> ErrorClassFromName(std::string_view name);

// Whether the class counts in N: all but `skipped` and `infrastructure`.
bool IsScored(ErrorClass error_class);

// How a failure came about. The class decides the score, the detail explains.
enum class FailureDetail : uint8_t {
  kNone,
  kError,        // the runner said so in an error reply
  kUnsupported,  // the compiler does not handle the graph
  kTimeout,      // a phase passed its time limit and the runner was ended
  kSignal,       // ended by a signal
  kExit,         // exited without being asked to
  kOutOfMemory,  // the memory limit, or the allocator's refusal
  kProtocol,     // answered something that is not the protocol (a truncated output among it)
  kQuarantined,  // its worker died with it too often
  kCheating,     // outputs or times that contradict what the worker saw itself
};
inline constexpr int kFailureDetailCount = 10;

// "" for kNone, "error", "unsupported", "timeout", "signal", "exit", "out_of_memory", "protocol", "quarantined",
// "cheating".
std::string_view Name(FailureDetail detail);
std::optional<FailureDetail> FailureDetailFromName(std::string_view name);

// Three readings of the error levels of ES(t).
enum class Interpretation : uint8_t {
  kReport,            // the GraphNet technical report's text
  kDefault,           // the public GraphNet scoring code
  kMismatchExtended,  // the same code's extended reading
};
inline constexpr int kInterpretationCount = 3;

// "report", "default", "mismatch_extended".
std::string_view Name(Interpretation interpretation);
std::optional<Interpretation> InterpretationFromName(std::string_view name);

// The level t from which on a failure of this class is tolerated (it then counts as 1 instead of b in ES(t));
// +infinity for never. A failure of class c is penalised at t where t < ToleratedFrom(c).
// Precondition: a scored class other than `correct`.
double ToleratedFrom(ErrorClass error_class, Interpretation interpretation);

// The last whole level that the interpretation draws: 4, 4 and 5. The first is -10 in each.
int LastLevel(Interpretation interpretation);
inline constexpr int kFirstLevel = -10;

}  // namespace assay::measure
