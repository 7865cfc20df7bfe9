// Evaluations as people read them.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "assay/v1/evaluations.pb.h"
#include "client/progress.h"

namespace assay::client {

bool IsFinal(v1::EvaluationState state);

// "12/40 graphs · 1 running · 11 correct, 1 compile_fail · 0.4 a second · 1 min 10 s left"
std::string ProgressLine(const v1::Evaluation& evaluation, const Rate& rate);
// "evaluation 7: inductor against eager on bundled version 1 (sweep): completed, 16 correct"
std::string Headline(const v1::Evaluation& evaluation);
// "11 correct, 1 compile_fail": in the order of the classes, those with none left out.
std::string CountsText(const v1::Evaluation& evaluation);
// A table, newest first as given.
std::string EvaluationTable(const v1::ListEvaluationsResponse& list);

}  // namespace assay::client
