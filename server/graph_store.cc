#include "server/graph_store.h"

#include <pqxx/pqxx>

#include "absl/strings/ascii.h"
#include "google/protobuf/util/time_util.h"
#include "server/compression.h"
#include "server/digest.h"
#include "server/text.h"

namespace assay::server {

namespace {

// Of what a user gave, as much as a message should hold.
std::string Shortened(const std::string& text) {
  constexpr size_t kMost = 80;
  return text.size() <= kMost ? CleanText(text) : CleanText(text.substr(0, kMost)) + "…";
}

bool IsHashPrefix(const std::string& text) {
  if (text.size() < 8 || text.size() > 64) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}

v1::Suite SuiteOf(const pqxx::row& row) {
  v1::Suite suite;
  suite.set_name(row[1].c_str());
  suite.set_version(row[2].as<int>());
  suite.set_graph_count(row[3].as<int>());
  suite.set_structure_count(row[4].as<int>());
  *suite.mutable_created() = google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(row[5].as<int64_t>());
  return suite;
}

constexpr char kSuiteColumns[] =
    "id, name, version, graph_count, structure_count, (extract(epoch FROM created) * 1000000)::bigint";

}  // namespace

std::vector<std::string> MissingGraphs(Transaction& transaction, const std::vector<std::string>& hashes) {
  ArrayParameter wanted;
  for (const auto& hash : hashes) wanted.Add(CleanText(hash));
  std::vector<std::string> out;
  for (const auto& row :
       transaction.exec_params("SELECT u.hash FROM unnest($1::text[]) WITH ORDINALITY AS u(hash, n) "
                               "WHERE NOT EXISTS (SELECT 1 FROM graphs g WHERE g.hash = u.hash) ORDER BY n",
                               wanted.str())) {
    out.emplace_back(row[0].c_str());
  }
  return out;
}

int StoreGraphs(Transaction& transaction, const std::vector<v1::GraphSample>& graphs) {
  ArrayParameter hashes, canonical, structures, operations, bytes, callees;
  for (const auto& graph : graphs) {
    v1::GraphSample kept = graph;
    kept.clear_hash();
    kept.clear_structure();
    kept.clear_operations();
    kept.clear_parameter_bytes();
    kept.clear_callees();
    hashes.Add(graph.hash());
    canonical.AddBytes(Compress(kept.SerializeAsString()));
    structures.Add(graph.structure());
    operations.Add(graph.operations());
    bytes.Add(graph.parameter_bytes());
    callees.Add(Join(graph.callees(), "\n"));  // an array of arrays would need equal lengths
  }
  // In order of the hashes: two imports of the same graphs do not wait for each other crosswise.
  return static_cast<int>(
      transaction
          .exec_params(
              "INSERT INTO graphs (hash, canonical, structure, operations, parameter_bytes, callees) "
              "SELECT * FROM unnest($1::text[], $2::bytea[], $3::text[], $4::bigint[], $5::bigint[], $6::text[]) AS "
              "u(hash) ORDER BY hash ON CONFLICT DO NOTHING",
              hashes.str(), canonical.str(), structures.str(), operations.str(), bytes.str(), callees.str())
          .affected_rows());
}

absl::StatusOr<v1::GraphSample> LoadGraph(Transaction& transaction, const std::string& hash) {
  if (!IsHashPrefix(hash)) {
    return absl::InvalidArgumentError(
        Cat("'", hash, "' is not a graph's hash: give 64 lower-case hex digits, or the first 8 or more"));
  }
  const pqxx::result rows = transaction.exec_params(
      "SELECT hash, canonical, structure, operations, parameter_bytes, callees FROM graphs "
      "WHERE hash >= $1 AND hash <= $1 || 'g' ORDER BY hash LIMIT 2",
      hash);
  if (rows.empty()) return absl::NotFoundError(Cat("no stored graph's hash begins with ", hash));
  if (rows.size() > 1) {
    return absl::InvalidArgumentError(Cat("several graphs' hashes begin with ", hash, ": give more digits"));
  }
  const auto text = Decompress(BytesFromText(rows[0][1].c_str()));
  if (!text.ok()) return text.status();
  v1::GraphSample out;
  if (!out.ParseFromString(*text)) return absl::DataLossError(Cat("the stored graph ", hash, " is not readable"));
  out.set_hash(rows[0][0].c_str());
  out.set_structure(rows[0][2].c_str());
  out.set_operations(rows[0][3].as<int64_t>());
  out.set_parameter_bytes(rows[0][4].as<int64_t>());
  for (const std::string& callee : Lines(rows[0][5].c_str())) out.add_callees(callee);
  return out;
}

absl::Status CheckSuiteName(std::string_view field, const std::string& name) {
  const bool good = !name.empty() && name.size() <= 64 &&
                    name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string::npos &&
                    std::string_view("._-").find(name[0]) == std::string_view::npos;
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(field, ": '", Shortened(name),
                                        "' is not a suite's name: 1 to 64 of a-z, 0-9, '.', '_', '-', "
                                        "the first a letter or a digit"));
}

absl::StatusOr<v1::Suite> StoreSuite(Transaction& transaction, const v1::CreateSuiteRequest& request) {
  std::vector<std::string> hashes;
  ArrayParameter names, graphs;
  std::string contents;
  for (const auto& graph : request.graphs()) {
    hashes.push_back(graph.hash());
    names.Add(graph.name());
    graphs.Add(graph.hash());
    contents += Cat(graph.name().size(), ":", graph.name(), graph.hash(), "\n");
  }
  const std::vector<std::string> missing = MissingGraphs(transaction, hashes);
  if (!missing.empty()) {
    return absl::FailedPreconditionError(Cat(missing.size(), " of the suite's graphs are not stored, the first is ",
                                             missing.front(), ": upload them before"));
  }
  const std::string digest = Sha256Hex(contents);
  transaction.exec_params("SELECT pg_advisory_xact_lock(hashtextextended('suite ' || $1, 0))", request.name());
  const pqxx::result newest = transaction.exec_params(
      "SELECT version, contents_hash FROM suites WHERE name = $1 ORDER BY version DESC LIMIT 1", request.name());
  int version = newest.empty() ? 1 : newest[0][0].as<int>();
  if (newest.empty() || newest[0][1].as<std::string>() != digest) {
    if (!newest.empty()) ++version;
    transaction.exec_params(
        "WITH s AS (INSERT INTO suites (name, version, contents_hash, graph_count, structure_count) "
        "  SELECT $1, $2::int, $3, $4::int, count(DISTINCT structure) FROM graphs WHERE hash = ANY($6::text[]) "
        "RETURNING id) "
        "INSERT INTO suite_graphs (suite_id, position, name, graph_hash) "
        "SELECT s.id, u.n - 1, u.name, u.hash FROM s, unnest($5::text[], $6::text[]) WITH ORDINALITY AS u(name, hash, "
        "n)",
        request.name(), version, digest, request.graphs_size(), names.str(), graphs.str());
  }
  return LoadSuite(transaction, request.name(), version, true);
}

std::vector<v1::Suite> ListSuites(Transaction& transaction) {
  std::vector<v1::Suite> out;
  for (const auto& row :
       transaction.exec(Cat("SELECT DISTINCT ON (name) ", kSuiteColumns, " FROM suites ORDER BY name, version DESC"))) {
    out.push_back(SuiteOf(row));
  }
  return out;
}

absl::StatusOr<v1::Suite> LoadSuite(Transaction& transaction, const std::string& name, int version, bool graphs,
                                    int64_t* id) {
  const pqxx::result rows =
      transaction.exec_params(Cat("SELECT ", kSuiteColumns,
                                  " FROM suites WHERE name = $1 AND ($2::int = 0 OR version = $2::int) "
                                  "ORDER BY version DESC LIMIT 1"),
                              CleanText(name), version);
  if (rows.empty()) {
    return absl::NotFoundError(version == 0 ? Cat("there is no suite '", name, "': import it first")
                                            : Cat("there is no version ", version, " of a suite '", name, "'"));
  }
  v1::Suite suite = SuiteOf(rows[0]);
  if (id != nullptr) *id = rows[0][0].as<int64_t>();
  if (graphs) {
    for (const auto& row : transaction.exec_params(
             "SELECT s.name, coalesce(s.graph_hash, ''), coalesce(g.structure, ''), coalesce(g.operations, 0), "
             "coalesce(g.parameter_bytes, 0) FROM suite_graphs s "
             "LEFT JOIN graphs g ON g.hash = s.graph_hash WHERE s.suite_id = $1 ORDER BY s.position",
             rows[0][0].as<int64_t>())) {
      v1::SuiteGraph* graph = suite.add_graphs();
      graph->set_name(row[0].c_str());
      graph->set_hash(row[1].c_str());
      graph->set_structure(row[2].c_str());
      graph->set_operations(row[3].as<int64_t>());
      graph->set_parameter_bytes(row[4].as<int64_t>());
    }
  }
  return suite;
}

}  // namespace assay::server
