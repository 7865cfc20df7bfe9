// Scores as people read them.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "assay/v1/leaderboard.pb.h"

namespace assay::client {

std::string LeaderboardText(const v1::GetLeaderboardResponse& leaderboard);
std::string CurveText(const v1::Curve& curve);
std::string CurveCsv(const v1::Curve& curve);

}  // namespace assay::client
