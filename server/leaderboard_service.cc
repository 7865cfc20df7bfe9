#include "server/scoring.h"
#include "server/services.h"

namespace assay::server {

void AddLeaderboard(Api& api, const Services& services) {
  Database& database = services.database;
  api.Add<v1::GetLeaderboardRequest, v1::GetLeaderboardResponse>(
      "assay.v1.Leaderboard.GetLeaderboard", [&database](const v1::Token&, const auto& request, auto* response) {
        return database.Run([&](Transaction& transaction) {
          response->Clear();
          return GetLeaderboard(transaction, request, response);
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
