#include "server/worker_store.h"

#include <map>
#include <pqxx/pqxx>

#include "fmt/format.h"
#include "google/protobuf/util/time_util.h"
#include "server/calibration.h"
#include "server/text.h"

namespace assay::server {

bool StoreWorker(Transaction& transaction, const v1::SynchroniseRequest& request, int64_t token_id,
                 const std::string& now) {
  v1::SynchroniseRequest kept;
  *kept.mutable_runners() = request.runners();
  *kept.mutable_devices() = request.devices();
  std::string body;
  kept.SerializeToString(&body);
  const bool draining =
      transaction
          .exec_params1(
              fmt::format(
                  "INSERT INTO workers AS w (id, incarnation, name, version, sandbox, runners, last_seen, token_id, "
                  "maximum_calibration_error) VALUES ($1, $2, $3, $4, $5, $6, {}, nullif($7::bigint, 0), $8) "
                  "ON CONFLICT (id) DO UPDATE SET draining = w.draining AND w.incarnation = excluded.incarnation, "
                  "incarnation = excluded.incarnation, name = excluded.name, version = excluded.version, "
                  "sandbox = excluded.sandbox, runners = excluded.runners, last_seen = excluded.last_seen, "
                  "token_id = excluded.token_id, maximum_calibration_error = excluded.maximum_calibration_error "
                  "RETURNING draining",
                  now),
              request.worker_id(), request.incarnation(), request.name(), request.version(), request.sandbox(),
              BytesParameter(body), token_id, request.maximum_calibration_error())[0]
          .as<bool>();
  ArrayParameter ids, kinds, models, uuids, memory, machines;
  for (const auto& device : request.devices()) {
    ids.Add(device.id());
    kinds.Add(device.kind());
    models.Add(device.model());
    uuids.Add(device.uuid());
    memory.Add(device.memory_bytes());
    machines.Add(device.machine_hash());
  }
  transaction.exec_params(
      "WITH said AS (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[]) "
      "  AS u(id, kind, model, uuid, memory_bytes, machine_hash)),"
      " gone AS (DELETE FROM devices WHERE worker_id = $1 AND id <> ALL($2::text[])) "
      "INSERT INTO devices AS d (worker_id, id, kind, model, uuid, memory_bytes, machine_hash) SELECT $1, * FROM said "
      "ON CONFLICT (worker_id, id) DO UPDATE SET kind = excluded.kind, model = excluded.model, uuid = excluded.uuid, "
      "  memory_bytes = excluded.memory_bytes, machine_hash = excluded.machine_hash "
      "WHERE (d.kind, d.model, d.uuid, d.memory_bytes, d.machine_hash) IS DISTINCT FROM "
      "  (excluded.kind, excluded.model, excluded.uuid, excluded.memory_bytes, excluded.machine_hash)",
      request.worker_id(), ids.str(), kinds.str(), models.str(), uuids.str(), memory.str(), machines.str());
  return draining;
}

std::vector<v1::Worker> ListWorkers(Transaction& transaction, double live_seconds, const std::string& now) {
  std::vector<v1::Worker> out;
  std::map<std::string, size_t> index;
  for (const auto& row : transaction.exec_params(
           fmt::format(
               "SELECT id, name, version, runners, last_seen > {} - make_interval(secs => $1), draining, "
               "(extract(epoch FROM last_seen) * 1000000)::bigint, sandbox, maximum_calibration_error FROM workers "
               "ORDER BY name, id",
               now),
           live_seconds)) {
    v1::Worker worker;
    worker.set_worker_id(row[0].c_str());
    worker.set_name(row[1].c_str());
    worker.set_version(row[2].c_str());
    v1::SynchroniseRequest said;
    if (!said.ParseFromString(BytesFromText(row[3].c_str())))
      throw std::runtime_error("a stored worker is not readable");
    *worker.mutable_runners() = said.runners();
    *worker.mutable_devices() = said.devices();
    worker.set_live(row[4].as<bool>());
    worker.set_draining(row[5].as<bool>());
    *worker.mutable_last_seen() = google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(row[6].as<int64_t>());
    worker.set_sandbox(row[7].c_str());
    worker.set_maximum_calibration_error(row[8].as<double>());
    index[worker.worker_id()] = out.size();
    out.push_back(std::move(worker));
  }
  for (const auto& row :
       transaction.exec("SELECT worker_id, id, fence, phase FROM trials WHERE state = 'leased' ORDER BY id")) {
    const auto it = index.find(row[0].c_str());
    if (it == index.end()) continue;
    v1::HeldTrial* held = out[it->second].add_held();
    held->set_trial_id(row[1].c_str());
    held->set_fence(row[2].as<int64_t>());
    held->set_phase(row[3].c_str());
    out[it->second].set_running(out[it->second].held_size());
  }
  for (v1::Calibration& calibration : NewestCalibrations(transaction)) {
    const auto it = index.find(calibration.worker_id());
    if (it != index.end()) *out[it->second].add_calibrations() = std::move(calibration);
  }
  return out;
}

absl::Status DrainWorker(Transaction& transaction, const std::string& worker_id) {
  const pqxx::result rows =
      transaction.exec_params("UPDATE workers SET draining = true WHERE id = $1 RETURNING id", CleanText(worker_id));
  if (rows.empty()) {
    return absl::NotFoundError(Cat("there is no worker '", worker_id, "': `assay workers` lists them"));
  }
  return absl::OkStatus();
}

std::vector<Offer> AllOffers(Transaction& transaction, double live_seconds, const std::string& now) {
  std::map<std::string, Offer> merged;
  for (const auto& worker : ListWorkers(transaction, live_seconds, now)) {
    for (Offer& offer : OffersOf(worker.runners(), worker.devices())) {
      const std::string key = Cat(offer.environment, " ", offer.key());
      Offer& kept = merged.emplace(key, std::move(offer)).first->second;
      ++kept.workers;
      if (worker.live()) ++kept.live_workers;
    }
  }
  std::vector<Offer> out;
  for (auto& [key, offer] : merged) out.push_back(std::move(offer));
  return out;
}

}  // namespace assay::server
