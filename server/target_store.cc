#include "server/target_store.h"

#include <pqxx/pqxx>

#include "google/protobuf/util/json_util.h"
#include "server/option_schema.h"

namespace assay::server {

int64_t StoreTarget(Transaction& transaction, const ResolvedTarget& target) {
  const Offer& offer = target.offer;
  const std::string key = target.key();
  transaction.exec_params("INSERT INTO runner_environments (hash, name) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                          offer.environment_hash, offer.environment);
  transaction.exec_params(
      "INSERT INTO targets (key, name, compiler, version, runner, runner_build, trusted, environment, "
      "environment_hash, "
      "device_kind, options) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
      key, target.name(), offer.compiler, offer.version, offer.runner, offer.build, offer.trusted, offer.environment,
      offer.environment_hash, offer.device_kind, CanonicalJson(target.options));
  return transaction.exec_params1("SELECT id FROM targets WHERE key = $1", key)[0].as<int64_t>();
}

std::map<int64_t, v1::Target> LoadTargets(Transaction& transaction, const std::set<int64_t>& ids) {
  ArrayParameter wanted;
  for (const int64_t id : ids) wanted.Add(id);
  std::map<int64_t, v1::Target> out;
  for (const auto& row : transaction.exec_params("SELECT id, name, compiler, version, runner, environment, "
                                                 "environment_hash, device_kind, options FROM targets "
                                                 "WHERE id = ANY($1::bigint[])",
                                                 wanted.str())) {
    v1::Target& target = out[row[0].as<int64_t>()];
    target.set_name(row[1].c_str());
    target.set_compiler(row[2].c_str());
    target.set_version(row[3].c_str());
    target.set_runner(row[4].c_str());
    target.set_environment(row[5].c_str());
    target.set_environment_hash(row[6].c_str());
    target.set_device_kind(row[7].c_str());
    if (!google::protobuf::util::JsonStringToMessage(row[8].c_str(), target.mutable_options()).ok()) {
      throw std::runtime_error("a stored target's options are not readable");
    }
  }
  return out;
}

}  // namespace assay::server
