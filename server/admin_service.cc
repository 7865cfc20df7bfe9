#include <pqxx/pqxx>

#include "server/calibration.h"
#include "server/names.h"
#include "server/services.h"
#include "server/text.h"
#include "server/token_store.h"
#include "server/worker_store.h"

namespace assay::server {

namespace {

// Who did what, for later.
void Audit(Transaction& transaction, const v1::Token& actor, const std::string& action, const std::string& subject) {
  transaction.exec_params("INSERT INTO events (actor, action, subject) VALUES ($1, $2, $3)",
                          Cat(actor.id(), " ", actor.name()), action, CleanText(subject));
}

}  // namespace

void AddAdmin(Api& api, const Services& services) {
  Database& database = services.database;
  Authenticator& authenticator = services.authenticator;
  api.Add<v1::CreateTokenRequest, v1::CreateTokenResponse>(
      "assay.v1.Admin.CreateToken",
      [&database](const v1::Token& actor, const auto& request, auto* response) -> absl::Status {
        if (request.name().empty() || request.name().size() > 100 || CleanText(request.name()) != request.name()) {
          return absl::InvalidArgumentError("name must be 1 to 100 bytes of text: say who or what holds the token");
        }
        if (RoleName(request.role()).empty())
          return absl::InvalidArgumentError("role must be VIEWER, SUBMITTER, WORKER or ADMIN");
        if (!(request.days() >= 0 && request.days() <= 36500))
          return absl::InvalidArgumentError("days must be 0 (never expires) to 36500");
        return database.Run([&](Transaction& transaction) {
          NewToken made = CreateToken(transaction, request.name(), request.role(), request.days());
          Audit(transaction, actor, "create token", made.token.id());
          *response->mutable_token() = std::move(made.token);
          response->set_secret(made.secret);
          return absl::OkStatus();
        });
      });
  api.Add<v1::ListTokensRequest, v1::ListTokensResponse>("assay.v1.Admin.ListTokens",
                                                         [&database](const v1::Token&, const auto&, auto* response) {
                                                           return database.Run([&](Transaction& transaction) {
                                                             response->Clear();
                                                             for (auto& token : ListTokens(transaction))
                                                               *response->add_tokens() = std::move(token);
                                                             return absl::OkStatus();
                                                           });
                                                         });
  api.Add<v1::RevokeTokenRequest, v1::Token>(
      "assay.v1.Admin.RevokeToken",
      [&database, &authenticator](const v1::Token& actor, const auto& request, auto* response) -> absl::Status {
        const auto id = ParseInt(request.id());
        if (!id)
          return absl::NotFoundError(
              Cat("'", CleanText(request.id()), "' is not a token's number: `assay token list` shows them"));
        const absl::Status status = database.Run([&](Transaction& transaction) {
          auto token = RevokeToken(transaction, *id);
          if (token.ok()) {
            Audit(transaction, actor, "revoke token", request.id());
            *response = *std::move(token);
          }
          return token.status();
        });
        authenticator.Forget();
        return status;
      });
  api.Add<v1::DrainWorkerRequest, v1::DrainWorkerResponse>(
      "assay.v1.Admin.DrainWorker", [&database](const v1::Token& actor, const auto& request, auto*) {
        return database.Run([&](Transaction& transaction) {
          const absl::Status status = DrainWorker(transaction, request.worker_id());
          if (status.ok()) Audit(transaction, actor, "drain worker", request.worker_id());
          return status;
        });
      });
  api.Add<v1::RecordCalibrationRequest, v1::RecordCalibrationResponse>(
      "assay.v1.Admin.RecordCalibration", [&database](const v1::Token& actor, const auto& request, auto* response) {
        return database.Run([&](Transaction& transaction) {
          response->Clear();
          auto calibrations =
              RecordCalibration(transaction, {request.evaluation_ids().begin(), request.evaluation_ids().end()});
          if (!calibrations.ok()) return calibrations.status();
          for (auto& calibration : *calibrations) {
            Audit(transaction, actor, "calibrate", Cat(calibration.worker_id(), " ", calibration.device()));
            *response->add_calibrations() = std::move(calibration);
          }
          return absl::OkStatus();
        });
      });
}

}  // namespace assay::server
