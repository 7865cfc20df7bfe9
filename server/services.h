// The API's services, as handlers for the door. Each function adds the methods of one service.
#pragma once

#include "server/api.h"
#include "server/coordinator.h"
#include "server/database.h"
#include "server/progress_watcher.h"
#include "server/queue.h"
#include "server/submission.h"

namespace assay::server {

// What the handlers use; everything outlives the Api.
struct Services {
  Database& database;
  const Queue& queue;
  Coordinator& coordinator;
  ProgressWatcher& watcher;
  Authenticator& authenticator;
  SubmissionLimits limits;
};

void AddSuites(Api& api, const Services& services);
void AddEvaluations(Api& api, const Services& services);
void AddLeaderboard(Api& api, const Services& services);
void AddWorkers(Api& api, const Services& services);
void AddAdmin(Api& api, const Services& services);

inline void AddAllServices(Api& api, const Services& services) {
  AddSuites(api, services);
  AddEvaluations(api, services);
  AddLeaderboard(api, services);
  AddWorkers(api, services);
  AddAdmin(api, services);
}

}  // namespace assay::server
