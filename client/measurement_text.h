// One measurement as people read it: outcome, phases with the harness' own cost, timing with its interval and
// quantiles, the comparison of every output, the environment, and the evidence of a failure. Thread safety: pure
// functions.
#pragma once

#include <string>

#include "assay/v1/evaluations.pb.h"

namespace assay::client {

std::string MeasurementText(const v1::Measurement& measurement);

}  // namespace assay::client
