#include "server/lowering_store.h"
#include "server/services.h"
#include "server/worker_store.h"

namespace assay::server {

void AddWorkers(Api& api, const Services& services) {
  Database& database = services.database;
  const Queue& queue = services.queue;
  Coordinator& coordinator = services.coordinator;
  api.AddAsync("assay.v1.Workers.Synchronise", [&coordinator](const auto& call) { coordinator.Synchronise(call); });
  api.AddAsync("assay.v1.Workers.Report", [&coordinator](const auto& call) { coordinator.Report(call); });
  api.Add<v1::GetLoweringRequest, v1::Lowering>("assay.v1.Workers.GetLowering",
                                                [&database](const v1::Token&, const auto& request, auto* response) {
                                                  return database.Run([&](Transaction& transaction) {
                                                    auto content = LoadLowering(transaction, request.key());
                                                    if (content.ok()) response->set_content(*std::move(content));
                                                    return content.status();
                                                  });
                                                });
  api.Add<v1::PutLoweringRequest, v1::PutLoweringResponse>(
      "assay.v1.Workers.PutLowering", [&database](const v1::Token&, const auto& request, auto*) {
        return database.Run(
            [&](Transaction& transaction) { return StoreLowering(transaction, request.key(), request.content()); });
      });
  api.Add<v1::ListWorkersRequest, v1::ListWorkersResponse>(
      "assay.v1.Workers.ListWorkers", [&database, &queue](const v1::Token&, const auto&, auto* response) {
        return database.Run([&](Transaction& transaction) {
          response->Clear();
          for (auto& worker : ListWorkers(transaction, queue.options().lease_seconds, queue.Now())) {
            *response->add_workers() = std::move(worker);
          }
          return absl::OkStatus();
        });
      });
  api.Add<v1::ListTargetsRequest, v1::ListTargetsResponse>(
      "assay.v1.Workers.ListTargets", [&database, &queue](const v1::Token&, const auto&, auto* response) {
        return database.Run([&](Transaction& transaction) {
          response->Clear();
          for (const auto& offer : AllOffers(transaction, queue.options().lease_seconds, queue.Now())) {
            v1::OfferedTarget* target = response->add_targets();
            *target->mutable_target() = ResolvedTarget{offer, {}}.ToProto();
            *target->mutable_options_schema() = offer.options_schema;
            target->set_baseline(offer.baseline);
            target->set_live_workers(offer.live_workers);
            target->set_trusted(offer.trusted);
            target->set_compiles_only(offer.compiles_only);
          }
          return absl::OkStatus();
        });
      });
}

}  // namespace assay::server
