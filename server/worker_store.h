// Workers and their devices, as they last said.
// Thread safety: works in the caller's transaction.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "assay/v1/workers.pb.h"
#include "server/database.h"
#include "server/offers.h"

namespace assay::server {

// Writes down what the worker says of itself, and that it lives. Returns whether an operator has asked it to drain.
bool StoreWorker(Transaction& transaction, const v1::SynchroniseRequest& request, int64_t token_id,
                 const std::string& now);

// `live_seconds`: a worker seen within them is live.
std::vector<v1::Worker> ListWorkers(Transaction& transaction, double live_seconds, const std::string& now);

// NotFound. A worker that starts anew begins undrained.
absl::Status DrainWorker(Transaction& transaction, const std::string& worker_id);

// Every offer of every worker that was ever seen, equal ones once, with the number of those that have it.
std::vector<Offer> AllOffers(Transaction& transaction, double live_seconds, const std::string& now);

}  // namespace assay::server
