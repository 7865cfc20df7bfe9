#include "server/calibration.h"
#include "server/scoring.h"
#include "server/services.h"

namespace assay::server {

void AddLeaderboard(Api& api, const Services& services) {
  Database& database = services.database;
  api.Add<v1::GetLeaderboardRequest, v1::GetLeaderboardResponse>(
      "assay.v1.Leaderboard.GetLeaderboard", [&database](const v1::Token&, const auto& request, auto* response) {
        return database.Run([&](Transaction& transaction) {
          response->Clear();
          const absl::Status status = GetLeaderboard(transaction, request, response);
          if (status.ok()) AddCalibration(transaction, response);
          return status;
        });
      });
  api.Add<v1::GetCurveRequest, v1::Curve>("assay.v1.Leaderboard.GetCurve",
                                          [&database](const v1::Token&, const auto& request, auto* response) {
                                            return database.Run([&](Transaction& transaction) {
                                              response->Clear();
                                              return GetCurve(transaction, request, response);
                                            });
                                          });
}

}  // namespace assay::server
