#include "worker/words.h"

namespace assay::worker {

v1::OutcomeClass ToProto(measure::ErrorClass error_class) {
  using measure::ErrorClass;
  switch (error_class) {
    case ErrorClass::kCorrect:
      return v1::CORRECT;
    case ErrorClass::kEagerFail:
      return v1::EAGER_FAIL;
    case ErrorClass::kCompileFail:
      return v1::COMPILE_FAIL;
    case ErrorClass::kRuntimeFail:
      return v1::RUNTIME_FAIL;
    case ErrorClass::kShapeMismatch:
      return v1::SHAPE_MISMATCH;
    case ErrorClass::kTypeMismatch:
      return v1::TYPE_MISMATCH;
    case ErrorClass::kAccuracy:
      return v1::ACCURACY;
    case ErrorClass::kNan:
      return v1::NAN_MISMATCH;
    case ErrorClass::kInf:
      return v1::INF_MISMATCH;
    case ErrorClass::kSkipped:
      return v1::SKIPPED;
    case ErrorClass::kInfrastructure:
      return v1::INFRASTRUCTURE;
  }
  return v1::OUTCOME_CLASS_UNSPECIFIED;
}

v1::FailureDetail DetailOf(const CallFailure& failure) {
  if (failure.error_class == "out_of_memory") return v1::OUT_OF_MEMORY;
  switch (failure.kind) {
    case CallFailure::Kind::kError:
      if (failure.error_class == "unsupported") return v1::UNSUPPORTED;
      return v1::ERROR;
    case CallFailure::Kind::kTimeout:
      return v1::TIMEOUT;
    case CallFailure::Kind::kExit:
      return v1::EXIT;
    case CallFailure::Kind::kSignal:
      return v1::SIGNAL;
    case CallFailure::Kind::kProtocol:
      return v1::PROTOCOL;
    case CallFailure::Kind::kCancelled:
    case CallFailure::Kind::kParentEnded:
      return v1::FAILURE_DETAIL_UNSPECIFIED;
  }
  return v1::FAILURE_DETAIL_UNSPECIFIED;
}

}  // namespace assay::worker
