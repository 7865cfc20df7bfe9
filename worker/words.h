// The words of the API for those of measure/ and of a runner's failures.
// Thread safety: pure functions.
#pragma once

#include "assay/v1/common.pb.h"
#include "measure/error_class.h"
#include "worker/runner_process.h"

namespace assay::worker {

v1::OutcomeClass ToProto(measure::ErrorClass error_class);
v1::FailureDetail DetailOf(const CallFailure& failure);

}  // namespace assay::worker
