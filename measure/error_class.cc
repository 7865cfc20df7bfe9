#include "measure/error_class.h"

#include <cstddef>
#include <limits>

namespace assay::measure {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct ClassRow {
  ErrorClass error_class;
  std::string_view name;
  bool scored;
  // From which level tolerated: report, default, mismatch_extended.
  double tolerated_from[kInterpretationCount];
};

constexpr ClassRow kClassTable[kErrorClassCount] = {
    {ErrorClass::kCorrect, "correct", true, {kNever, kNever, kNever}},
    {ErrorClass::kEagerFail, "eager_fail", true, {kNever, 3, kNever}},
    {ErrorClass::kCompileFail, "compile_fail", true, {3, 3, 4}},
    {ErrorClass::kRuntimeFail, "runtime_fail", true, {2, 3, 3}},
    {ErrorClass::kShapeMismatch, "shape_mismatch", true, {2, 3, 2}},
    {ErrorClass::kTypeMismatch, "type_mismatch", true, {2, 3, 2}},
    {ErrorClass::kAccuracy, "accuracy", true, {1, 1, 1}},
    {ErrorClass::kNan, "nan", true, {2, 3, 2}},
    {ErrorClass::kInf, "inf", true, {2, 3, 2}},
    {ErrorClass::kSkipped, "skipped", false, {kNever, kNever, kNever}},
    {ErrorClass::kInfrastructure, "infrastructure", false, {kNever, kNever, kNever}},
};

constexpr bool TableIsInOrder() {
  for (int i = 0; i < kErrorClassCount; ++i) {
    if (static_cast<int>(kClassTable[i].error_class) != i || kErrorClasses[i] != kClassTable[i].error_class)
      return false;
  }
  return true;
}
static_assert(TableIsInOrder());

constexpr std::string_view kDetailNames[kFailureDetailCount] = {
    "", "error", "unsupported", "timeout", "signal", "exit", "out_of_memory", "protocol", "quarantined", "cheating"};
constexpr std::string_view kInterpretationNames[kInterpretationCount] = {"report", "default", "mismatch_extended"};

const ClassRow& RowOf(ErrorClass error_class) { return kClassTable[static_cast<size_t>(error_class)]; }

}  // namespace

std::string_view Name(ErrorClass error_class) { return RowOf(error_class).name; }

std::optional<ErrorClass> ErrorClassFromName(std::string_view name) {
  for (const ClassRow& row : kClassTable) {
    if (row.name == name) return row.error_class;
  }
  return std::nullopt;
}

bool IsScored(ErrorClass error_class) { return RowOf(error_class).scored; }

std::string_view Name(FailureDetail detail) { return kDetailNames[static_cast<size_t>(detail)]; }

std::optional<FailureDetail> FailureDetailFromName(std::string_view name) {
  for (int i = 0; i < kFailureDetailCount; ++i) {
    if (kDetailNames[i] == name) return static_cast<FailureDetail>(i);
  }
  return std::nullopt;
}

std::string_view Name(Interpretation interpretation) {
  return kInterpretationNames[static_cast<size_t>(interpretation)];
}

std::optional<Interpretation> InterpretationFromName(std::string_view name) {
  for (int i = 0; i < kInterpretationCount; ++i) {
    if (kInterpretationNames[i] == name) return static_cast<Interpretation>(i);
  }
  return std::nullopt;
}

double ToleratedFrom(ErrorClass error_class, Interpretation interpretation) {
  return RowOf(error_class).tolerated_from[static_cast<size_t>(interpretation)];
}

int LastLevel(Interpretation interpretation) { return interpretation == Interpretation::kMismatchExtended ? 5 : 4; }

}  // namespace assay::measure
