#include "server/names.h"

#include "absl/strings/ascii.h"
#include "graph/replay.h"

namespace assay::server {

namespace {

constexpr char kCompiled[] = "compiled";  // has no part in scores, so measure/ does not know it

}  // namespace

std::optional<measure::ErrorClass> ErrorClassOf(v1::OutcomeClass outcome_class) {
  switch (outcome_class) {
    case v1::CORRECT:
      return measure::ErrorClass::kCorrect;
    case v1::EAGER_FAIL:
      return measure::ErrorClass::kEagerFail;
    case v1::COMPILE_FAIL:
      return measure::ErrorClass::kCompileFail;
    case v1::RUNTIME_FAIL:
      return measure::ErrorClass::kRuntimeFail;
    case v1::SHAPE_MISMATCH:
      return measure::ErrorClass::kShapeMismatch;
    case v1::TYPE_MISMATCH:
      return measure::ErrorClass::kTypeMismatch;
    case v1::ACCURACY:
      return measure::ErrorClass::kAccuracy;
    case v1::NAN_MISMATCH:
      return measure::ErrorClass::kNan;
    case v1::INF_MISMATCH:
      return measure::ErrorClass::kInf;
    case v1::SKIPPED:
      return measure::ErrorClass::kSkipped;
    case v1::INFRASTRUCTURE:
      return measure::ErrorClass::kInfrastructure;
    default:
      return std::nullopt;
  }
}

v1::OutcomeClass OutcomeClassOf(measure::ErrorClass error_class) {
  for (int value = v1::OutcomeClass_MIN; value <= v1::OutcomeClass_MAX; ++value) {
    const auto candidate = static_cast<v1::OutcomeClass>(value);
    if (ErrorClassOf(candidate) == error_class) return candidate;
  }
  return v1::OUTCOME_CLASS_UNSPECIFIED;
}

std::string OutcomeClassName(v1::OutcomeClass outcome_class) {
  if (outcome_class == v1::COMPILED) return kCompiled;
  const auto error_class = ErrorClassOf(outcome_class);
  return error_class ? std::string(measure::Name(*error_class)) : "";
}

v1::OutcomeClass OutcomeClassFromName(std::string_view name) {
  if (name == kCompiled) return v1::COMPILED;
  const auto error_class = measure::ErrorClassFromName(name);
  return error_class ? OutcomeClassOf(*error_class) : v1::OUTCOME_CLASS_UNSPECIFIED;
}

v1::FailureDetail DetailFromName(std::string_view name) {
  v1::FailureDetail detail = v1::FAILURE_DETAIL_UNSPECIFIED;
  if (!name.empty())
    v1::FailureDetail_Parse(absl::AsciiStrToUpper(absl::string_view(name.data(), name.size())), &detail);
  return detail;
}

std::string DetailName(v1::FailureDetail detail) {
  if (detail == v1::FAILURE_DETAIL_UNSPECIFIED || !v1::FailureDetail_IsValid(detail)) return "";
  return absl::AsciiStrToLower(v1::FailureDetail_Name(detail));
}

v1::Degeneracy DegeneracyFromName(std::string_view name) {
  v1::Degeneracy degeneracy = v1::DEGENERACY_UNSPECIFIED;
  if (!name.empty()) {
    v1::Degeneracy_Parse(absl::AsciiStrToUpper(absl::string_view(name.data(), name.size())), &degeneracy);
  }
  return degeneracy;
}

std::string DegeneracyName(v1::Degeneracy degeneracy) {
  if (degeneracy == v1::DEGENERACY_UNSPECIFIED || !v1::Degeneracy_IsValid(degeneracy)) return "";
  return absl::AsciiStrToLower(v1::Degeneracy_Name(degeneracy));
}

std::string ReplayName(std::string_view policy_replay) {
  if (policy_replay == "assay-replay-1") return "graphnet";  // the version of the one rule there was
  const auto mode = graph::ReplayModeFromName(policy_replay);
  return mode ? std::string(graph::Name(*mode)) : "";
}

v1::EvaluationState StateFromName(std::string_view name) {
  v1::EvaluationState state = v1::EVALUATION_STATE_UNSPECIFIED;
  v1::EvaluationState_Parse(absl::AsciiStrToUpper(absl::string_view(name.data(), name.size())), &state);
  return state;
}

std::string RoleName(v1::Role role) {
  if (role == v1::ROLE_UNSPECIFIED || !v1::Role_IsValid(role)) return "";
  return absl::AsciiStrToLower(v1::Role_Name(role));
}

v1::Role RoleFromName(std::string_view name) {
  v1::Role role = v1::ROLE_UNSPECIFIED;
  v1::Role_Parse(absl::AsciiStrToUpper(absl::string_view(name.data(), name.size())), &role);
  return role;
}

}  // namespace assay::server
