#include <algorithm>

#include "server/evaluation_store.h"
#include "server/imported_evaluation.h"
#include "server/services.h"
#include "server/text.h"

namespace assay::server {

namespace {

constexpr double kLongestWait = 60;

}  // namespace

void AddEvaluations(Api& api, const Services& services) {
  Database& database = services.database;
  const Queue& queue = services.queue;
  Coordinator& coordinator = services.coordinator;
  ProgressWatcher& watcher = services.watcher;
  api.Add<v1::CreateEvaluationRequest, v1::Evaluation>(
      "assay.v1.Evaluations.CreateEvaluation", [&database, &queue, &coordinator, limits = services.limits](
                                                   const v1::Token& token, const auto& request, auto* response) {
        int64_t made = 0;
        const absl::Status status = database.Run([&](Transaction& transaction) -> absl::Status {
          const auto id = Submit(transaction, queue, limits, ParseInt(token.id()).value_or(0), request);
          if (!id.ok()) return id.status();
          made = *id;
          auto evaluation = LoadEvaluation(transaction, queue, *id);
          if (evaluation.ok()) *response = *std::move(evaluation);
          return evaluation.status();
        });
        if (status.ok()) {
          coordinator.Submitted();
          coordinator.Touched({made});  // it has ended already where every trial's measurement was there
        }
        return status;
      });
  api.Add<v1::ImportEvaluationRequest, v1::Evaluation>(
      "assay.v1.Evaluations.ImportEvaluation",
      [&database, &queue, limits = services.limits](const v1::Token& token, const auto& request, auto* response) {
        return database.Run([&](Transaction& transaction) -> absl::Status {
          const auto id = ImportEvaluation(transaction, queue, limits, ParseInt(token.id()).value_or(0), request);
          if (!id.ok()) return id.status();
          auto evaluation = LoadEvaluation(transaction, queue, *id);
          if (evaluation.ok()) *response = *std::move(evaluation);
          return evaluation.status();
        });
      });
  api.AddAsync("assay.v1.Evaluations.GetEvaluation",
               [&api, &database, &queue, &watcher](const std::shared_ptr<Call>& call) {
                 const auto& request = static_cast<const v1::GetEvaluationRequest&>(*call->request);
                 const auto id = EvaluationId(request.id());
                 if (!id.ok()) {
                   call->done(id.status());
                   return;
                 }
                 const auto answer = [call, &database, &queue, id = *id] {
                   call->done(database.Run([&](Transaction& transaction) {
                     auto evaluation = LoadEvaluation(transaction, queue, id);
                     if (evaluation.ok()) static_cast<v1::Evaluation&>(*call->response) = *std::move(evaluation);
                     return evaluation.status();
                   }));
                 };
                 if (!(request.wait_seconds() > 0)) {
                   answer();
                   return;
                 }
                 watcher.Wait(
                     *id, request.after_finished(), std::min(request.wait_seconds(), kLongestWait),
                     [call] { return call->cancelled.load(); }, [&api, answer] { api.Post(answer); });
               });
  api.Add<v1::ListEvaluationsRequest, v1::ListEvaluationsResponse>(
      "assay.v1.Evaluations.ListEvaluations", [&database](const v1::Token&, const auto& request, auto* response) {
        return database.Run([&](Transaction& transaction) {
          response->Clear();
          return ListEvaluations(transaction, request, response);
        });
      });
  api.Add<v1::CancelEvaluationRequest, v1::Evaluation>(
      "assay.v1.Evaluations.CancelEvaluation",
      [&database, &queue, &coordinator, &watcher](const v1::Token&, const auto& request,
                                                  auto* response) -> absl::Status {
        const auto id = EvaluationId(request.id());
        if (!id.ok()) return id.status();
        const absl::Status status = database.Run([&](Transaction& transaction) -> absl::Status {
          if (const absl::Status cancelled = queue.Cancel(transaction, *id); !cancelled.ok()) return cancelled;
          auto evaluation = LoadEvaluation(transaction, queue, *id);
          if (evaluation.ok()) *response = *std::move(evaluation);
          return evaluation.status();
        });
        if (status.ok()) {
          coordinator.Submitted();
          watcher.Wake();
        }
        return status;
      });
  api.Add<v1::ListOutcomesRequest, v1::ListOutcomesResponse>(
      "assay.v1.Evaluations.ListOutcomes", [&database](const v1::Token&, const auto& request, auto* response) {
        return database.Run([&](Transaction& transaction) {
          response->Clear();
          return ListOutcomes(transaction, request, response);
        });
      });
  api.Add<v1::ListMeasurementsRequest, v1::ListMeasurementsResponse>(
      "assay.v1.Evaluations.ListMeasurements", [&database](const v1::Token&, const auto& request, auto* response) {
        return database.Run([&](Transaction& transaction) {
          response->Clear();
          return ListMeasurements(transaction, request, response);
        });
      });
}

}  // namespace assay::server
