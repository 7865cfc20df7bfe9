#include <set>

#include "graph/callees.h"
#include "graph/canonical.h"
#include "graph/parse.h"
#include "graph/structure.h"
#include "server/graph_store.h"
#include "server/services.h"
#include "server/subset_store.h"
#include "server/text.h"

namespace assay::server {

namespace {

constexpr int kMostHashes = 10000;
constexpr size_t kMostUploadBytes = size_t{32} << 20;
constexpr int kMostSuiteGraphs = 50000;
constexpr size_t kLongestName = 300;

bool IsHash(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Parses, re-prints and compares: what is stored is the re-print.
absl::StatusOr<v1::GraphSample> Check(const v1::GraphSample& given, int number) {
  const std::string where = Cat("graphs[", number, "]: ");
  const auto parsed = graph::Parse({given.model(), given.weight_meta(), given.input_meta(), given.info()});
  if (!parsed.ok()) return absl::Status(parsed.status().code(), Cat(where, parsed.status().message()));
  const graph::Sample canonical = graph::Canonical(*parsed);
  const std::string hash = graph::HashOfCanonical(canonical);
  if (!given.hash().empty() && given.hash() != hash) {
    return absl::InvalidArgumentError(Cat(where, "the hash given is ", given.hash(), ", the canonical form's is ", hash,
                                          " (", std::string(graph::kCanonicalVersion),
                                          "): the client is of another version"));
  }
  v1::GraphSample out;
  out.set_hash(hash);
  out.set_model(canonical.model);
  out.set_weight_meta(canonical.weight_meta);
  out.set_input_meta(canonical.input_meta);
  out.set_info(canonical.info);
  out.set_structure(graph::StructureHash(*parsed));
  out.set_operations(parsed->operation_count());
  out.set_parameter_bytes(parsed->parameter_bytes());
  std::set<std::string> callees;
  for (const graph::Operation& operation : parsed->operations) callees.emplace(operation.callee->name);
  for (const std::string& callee : callees) out.add_callees(callee);
  return out;
}

absl::Status CheckSuite(const v1::CreateSuiteRequest& request) {
  if (absl::Status status = CheckSuiteName("name", request.name()); !status.ok()) return status;
  if (request.graphs().empty()) return absl::InvalidArgumentError("graphs is empty: a suite has at least one");
  if (request.graphs_size() > kMostSuiteGraphs)
    return absl::InvalidArgumentError(Cat("graphs: at most ", kMostSuiteGraphs));
  std::set<std::string> names;
  for (int i = 0; i < request.graphs_size(); ++i) {
    const v1::SuiteGraph& graph = request.graphs(i);
    if (graph.name().empty() || graph.name().size() > kLongestName || CleanText(graph.name()) != graph.name()) {
      return absl::InvalidArgumentError(Cat("graphs[", i, "].name must be 1 to ", kLongestName, " bytes of text"));
    }
    if (!names.insert(graph.name()).second)
      return absl::InvalidArgumentError(Cat("graphs: the name '", graph.name(), "' is there twice"));
    if (!IsHash(graph.hash()))
      return absl::InvalidArgumentError(Cat("graphs[", i, "].hash is not 64 lower-case hex digits"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddSuites(Api& api, const Services& services) {
  Database& database = services.database;
  api.Add<v1::FindMissingGraphsRequest, v1::FindMissingGraphsResponse>(
      "assay.v1.Suites.FindMissingGraphs",
      [&database](const v1::Token&, const auto& request, auto* response) -> absl::Status {
        if (request.hashes_size() > kMostHashes)
          return absl::InvalidArgumentError(Cat("hashes: at most ", kMostHashes));
        return database.Run([&](Transaction& transaction) {
          response->Clear();
          for (const auto& hash : MissingGraphs(transaction, {request.hashes().begin(), request.hashes().end()})) {
            response->add_missing(hash);
          }
          return absl::OkStatus();
        });
      });
  api.Add<v1::UploadGraphsRequest, v1::UploadGraphsResponse>(
      "assay.v1.Suites.UploadGraphs",
      [&database](const v1::Token&, const auto& request, auto* response) -> absl::Status {
        if (request.ByteSizeLong() > kMostUploadBytes) {
          return absl::InvalidArgumentError(
              Cat("an upload is at most ", kMostUploadBytes >> 20, " MiB: send fewer graphs at once"));
        }
        std::vector<v1::GraphSample> graphs;
        std::set<std::string> hashes;
        for (int i = 0; i < request.graphs_size(); ++i) {
          auto graph = Check(request.graphs(i), i);
          if (!graph.ok()) return graph.status();
          if (hashes.insert(graph->hash()).second) graphs.push_back(*std::move(graph));
        }
        return database.Run([&](Transaction& transaction) {
          response->set_stored(StoreGraphs(transaction, graphs));
          return absl::OkStatus();
        });
      });
  api.Add<v1::GetGraphRequest, v1::GraphSample>("assay.v1.Suites.GetGraph",
                                                [&database](const v1::Token&, const auto& request, auto* response) {
                                                  return database.Run([&](Transaction& transaction) {
                                                    auto graph = LoadGraph(transaction, CleanText(request.hash()));
                                                    if (graph.ok()) *response = *std::move(graph);
                                                    return graph.status();
                                                  });
                                                });
  api.Add<v1::CreateSuiteRequest, v1::Suite>(
      "assay.v1.Suites.CreateSuite",
      [&database](const v1::Token&, const auto& request, auto* response) -> absl::Status {
        if (const absl::Status status = CheckSuite(request); !status.ok()) return status;
        return database.Run([&](Transaction& transaction) {
          auto suite = StoreSuite(transaction, request);
          if (suite.ok()) *response = *std::move(suite);
          return suite.status();
        });
      });
  api.Add<v1::ListSuitesRequest, v1::ListSuitesResponse>("assay.v1.Suites.ListSuites",
                                                         [&database](const v1::Token&, const auto&, auto* response) {
                                                           return database.Run([&](Transaction& transaction) {
                                                             response->Clear();
                                                             for (auto& suite : ListSuites(transaction))
                                                               *response->add_suites() = std::move(suite);
                                                             return absl::OkStatus();
                                                           });
                                                         });
  api.Add<v1::GetSuiteRequest, v1::Suite>(
      "assay.v1.Suites.GetSuite", [&database](const v1::Token&, const auto& request, auto* response) {
        return database.Run([&](Transaction& transaction) {
          auto suite = LoadSuite(transaction, request.name(), request.version(), true);
          if (suite.ok()) *response = *std::move(suite);
          return suite.status();
        });
      });
  api.Add<v1::CreateSubsetRequest, v1::CreateSubsetResponse>(
      "assay.v1.Suites.CreateSubset",
      [&database](const v1::Token&, const auto& request, auto* response) -> absl::Status {
        if (!request.dry_run() || !request.subset().empty()) {
          if (const absl::Status status = CheckSuiteName("subset", request.subset()); !status.ok()) return status;
        }
        return database.Run([&](Transaction& transaction) {
          response->Clear();
          return CreateSubset(transaction, request, response);
        });
      });
}

}  // namespace assay::server
