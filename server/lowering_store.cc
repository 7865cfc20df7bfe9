#include "server/lowering_store.h"

#include <pqxx/pqxx>

#include "server/text.h"

namespace assay::server {

namespace {

constexpr size_t kLongestKeyText = 1000;

absl::Status CheckKey(const v1::LoweringKey& key) {
  for (const auto& [name, text] : {std::pair{"graph_hash", &key.graph_hash()},
                                   {"lowering", &key.lowering()},
                                   {"environment_hash", &key.environment_hash()}}) {
    if (text->empty() || text->size() > kLongestKeyText || CleanText(*text) != *text) {
      return absl::InvalidArgumentError(Cat("key.", name, " must be 1 to ", kLongestKeyText, " bytes of text"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> LoadLowering(Transaction& transaction, const v1::LoweringKey& key) {
  if (const absl::Status status = CheckKey(key); !status.ok()) return status;
  const pqxx::result rows = transaction.exec_params(
      "SELECT content FROM lowerings WHERE graph_hash = $1 AND environment_hash = $2 AND lowering = $3",
      key.graph_hash(), key.environment_hash(), key.lowering());
  if (rows.empty()) return absl::NotFoundError(Cat("the graph ", key.graph_hash(), " was not lowered so yet"));
  return BytesFromText(rows[0][0].c_str());
}

absl::Status StoreLowering(Transaction& transaction, const v1::LoweringKey& key, const std::string& content) {
  if (const absl::Status status = CheckKey(key); !status.ok()) return status;
  if (content.empty() || content.size() > kMostLoweringBytes) {
    return absl::InvalidArgumentError(
        Cat("content must have 1 to ", kMostLoweringBytes, " bytes, and has ", content.size()));
  }
  const pqxx::result known = transaction.exec_params("SELECT 1 FROM graphs WHERE hash = $1", key.graph_hash());
  if (known.empty()) return absl::InvalidArgumentError(Cat("key.graph_hash: there is no graph ", key.graph_hash()));
  transaction.exec_params(
      "INSERT INTO lowerings (graph_hash, environment_hash, lowering, content) VALUES ($1, $2, $3, $4) "
      "ON CONFLICT DO NOTHING",
      key.graph_hash(), key.environment_hash(), key.lowering(), BytesParameter(content));
  return absl::OkStatus();
}

}  // namespace assay::server
