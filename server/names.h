// How the API's enumerations are written in the database and in `counts`: the names of measure/error_class.h.
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "assay/v1/admin.pb.h"
#include "assay/v1/common.pb.h"
#include "assay/v1/evaluations.pb.h"
#include "measure/error_class.h"

namespace assay::server {

// nullopt for *_UNSPECIFIED and for values of a newer API.
std::optional<measure::ErrorClass> ErrorClassOf(v1::OutcomeClass outcome_class);
v1::OutcomeClass OutcomeClassOf(measure::ErrorClass error_class);
// As in the database: measure::Name(), or "compiled"; empty where ErrorClassOf() has nothing and it is not COMPILED.
std::string OutcomeClassName(v1::OutcomeClass outcome_class);
// By the name in the database; unspecified for an unknown one.
v1::OutcomeClass OutcomeClassFromName(std::string_view name);
v1::FailureDetail DetailFromName(std::string_view name);
std::string DetailName(v1::FailureDetail detail);

std::string DegeneracyName(v1::Degeneracy degeneracy);
v1::Degeneracy DegeneracyFromName(std::string_view name);

// "assay", "graphnet": the mode that a policy's `replay` means, also where it was written before there were modes.
// Empty for anything else.
std::string ReplayName(std::string_view policy_replay);

v1::EvaluationState StateFromName(std::string_view name);

// "viewer", "submitter", "worker", "admin"; empty for an unspecified role.
std::string RoleName(v1::Role role);
v1::Role RoleFromName(std::string_view name);

}  // namespace assay::server
