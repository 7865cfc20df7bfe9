#include "server/subset_store.h"

#include <algorithm>
#include <map>
#include <pqxx/pqxx>
#include <set>
#include <tuple>

#include "measure/schedule.h"
#include "server/graph_store.h"
#include "server/subset.h"
#include "server/text.h"

namespace assay::server {

namespace {

// A graph of the suite, with what is stored of it.
struct Known {
  CostFacts facts;
  double seconds = 0;
  std::vector<std::string> callees;
  bool degenerate = false;
  std::string unusable;  // why it is never measured; empty: it may be
};

std::optional<double> Optional(const pqxx::field& field) {
  if (field.is_null()) return std::nullopt;
  return field.as<double>();
}

// By hash.
std::map<std::string, Known> LoadKnown(Transaction& transaction, const v1::Suite& suite, const std::string& compiler) {
  std::map<std::string, Known> out;
  ArrayParameter hashes;
  for (const v1::SuiteGraph& graph : suite.graphs()) {
    const auto [it, first] = out.try_emplace(graph.hash());
    if (!first) continue;
    it->second.facts.operations = graph.operations();
    it->second.facts.parameter_bytes = graph.parameter_bytes();
    hashes.Add(graph.hash());
  }
  for (const auto& row :
       transaction.exec_params("SELECT hash, callees FROM graphs WHERE hash = ANY($1::text[])", hashes.str())) {
    out.at(row[0].c_str()).callees = Lines(row[1].c_str());
  }
  for (const auto& row : transaction.exec_params(
           "SELECT o.graph_hash, "
           "  percentile_cont(0.5) WITHIN GROUP (ORDER BY o.compile_ns) FILTER (WHERE o.candidate_ns IS NOT NULL) / "
           "1e9, "
           "  percentile_cont(0.5) WITHIN GROUP (ORDER BY o.candidate_ns + o.baseline_ns) / 1e9, "
           "  percentile_cont(0.5) WITHIN GROUP (ORDER BY m.wall_seconds) FILTER (WHERE o.candidate_ns IS NULL), "
           "  bool_or(o.degenerate), bool_and(o.outcome_class IN ('skipped', 'eager_fail')), "
           "  max(o.outcome_class || ': ' || left(o.message, 200)) "
           "FROM outcomes o JOIN evaluations e ON e.id = o.evaluation_id JOIN targets t ON t.id = e.candidate_id "
           "LEFT JOIN measurements m ON m.id = o.measurement_id "
           "WHERE o.graph_hash = ANY($1::text[]) AND e.imported = '' AND o.outcome_class <> 'compiled' AND ($2 = '' OR "
           "t.compiler = $2) GROUP BY "
           "o.graph_hash",
           hashes.str(), compiler)) {
    Known& known = out.at(row[0].c_str());
    known.facts.compile_seconds = Optional(row[1]);
    known.facts.pair_seconds = Optional(row[2]);
    known.facts.failed_seconds = Optional(row[3]);
    known.degenerate = row[4].as<bool>();
    if (row[5].as<bool>()) known.unusable = row[6].c_str();
  }
  if (const auto nameless = out.find(""); nameless != out.end()) nameless->second.unusable = "only its name is known";
  return out;
}

// Graphs of which one is taken at most, and the one that would be.
struct Unit {
  std::vector<int> members;  // positions in the suite
  int representative = 0;
};

// Of those that can be measured the one of median cost; one whose outputs prove something goes before one whose do not.
int Representative(const v1::Suite& suite, const std::map<std::string, Known>& known, const std::vector<int>& members) {
  std::vector<std::tuple<bool, bool, double, int>> order;
  for (const int position : members) {
    const Known& graph = known.at(suite.graphs(position).hash());
    order.emplace_back(!graph.unusable.empty(), graph.degenerate, graph.seconds, position);
  }
  std::sort(order.begin(), order.end());
  const auto alike = [&](const auto& one) {
    return std::get<0>(one) == std::get<0>(order[0]) && std::get<1>(one) == std::get<1>(order[0]);
  };
  const auto count = std::count_if(order.begin(), order.end(), alike);
  return std::get<3>(order[(count - 1) / 2]);
}

class Coverage {
 public:
  void Add(const std::string& kind, const std::string& what, int count, bool covered) {
    auto [it, first] = kinds_[kind].try_emplace(what, count, false);
    it->second.second |= covered;
  }
  void Write(v1::CreateSubsetResponse* response) const {
    for (const char* kind : {"graphs", "structures", "callees", "sizes", "sources"}) {
      v1::SubsetCoverage* told = response->add_coverage();
      told->set_kind(kind);
      const auto found = kinds_.find(kind);
      if (found == kinds_.end()) continue;
      for (const auto& [what, count_and_covered] : found->second) {
        told->set_all(told->all() + count_and_covered.first);
        if (count_and_covered.second) told->set_covered(told->covered() + count_and_covered.first);
      }
    }
  }

 private:
  std::map<std::string, std::map<std::string, std::pair<int, bool>>> kinds_;
};

absl::Status Check(const v1::CreateSubsetRequest& request) {
  if (!(request.budget_seconds() > 0 && request.budget_seconds() <= 1e9)) {
    return absl::InvalidArgumentError(
        Cat("budget_seconds is ", request.budget_seconds(), "; accepted: above 0, at most 1e9"));
  }
  if (request.subset() == request.name()) {
    return absl::InvalidArgumentError(
        Cat("subset: '", CleanText(request.subset()), "' is the suite that graphs are taken from: give another name"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CreateSubset(Transaction& transaction, const v1::CreateSubsetRequest& request,
                          v1::CreateSubsetResponse* response) {
  if (const absl::Status status = Check(request); !status.ok()) return status;
  const auto policy = measure::PolicyFromName(request.policy().empty() ? "sweep" : request.policy());
  if (!policy.ok()) return absl::InvalidArgumentError(Cat("policy: ", policy.status().message()));
  const auto suite = LoadSuite(transaction, request.name(), request.version(), true);
  if (!suite.ok()) return suite.status();

  std::map<std::string, Known> known = LoadKnown(transaction, *suite, CleanText(request.compiler()));
  std::vector<CostFacts> facts;
  for (const auto& [hash, graph] : known) facts.push_back(graph.facts);
  const std::vector<double> seconds = EstimateCosts(facts, policy->budget_seconds * policy->processes);
  size_t number = 0;
  for (auto& [hash, graph] : known) graph.seconds = seconds[number++];

  std::vector<Unit> units;
  std::map<std::string, size_t> by_structure;
  for (int i = 0; i < suite->graphs_size(); ++i) {
    size_t unit = units.size();
    if (request.structures()) unit = by_structure.try_emplace(suite->graphs(i).structure(), unit).first->second;
    if (unit == units.size()) units.emplace_back();
    units[unit].members.push_back(i);
  }
  std::vector<SubsetCandidate> candidates;
  std::vector<size_t> unit_of;  // of each candidate
  for (size_t u = 0; u < units.size(); ++u) {
    Unit& unit = units[u];
    unit.representative = Representative(*suite, known, unit.members);
    const v1::SuiteGraph& graph = suite->graphs(unit.representative);
    const Known& facts_of = known.at(graph.hash());
    if (!facts_of.unusable.empty()) continue;
    candidates.push_back({facts_of.seconds, static_cast<int>(unit.members.size()), graph.structure(), facts_of.callees,
                          SizeClass(graph.operations(), graph.parameter_bytes()), SourceOf(graph.name())});
    unit_of.push_back(u);
  }
  std::set<size_t> chosen;
  for (const size_t candidate : ChooseSubset(candidates, request.budget_seconds())) chosen.insert(unit_of[candidate]);
  if (chosen.empty()) {
    const auto cheapest = std::min_element(candidates.begin(), candidates.end(),
                                           [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    return absl::FailedPreconditionError(
        candidates.empty() ? Cat("no graph of the suite ", suite->name(), " was ever measured without failing before")
                           : Cat("nothing fits into ", request.budget_seconds(), " s: the cheapest graph takes about ",
                                 cheapest->seconds, " s"));
  }

  v1::CreateSuiteRequest create;
  create.set_name(request.subset());
  Coverage coverage;
  std::vector<std::pair<int, v1::SubsetGraph>> taken;  // by position
  for (size_t u = 0; u < units.size(); ++u) {
    const v1::SuiteGraph& graph = suite->graphs(units[u].representative);
    const Known& facts_of = known.at(graph.hash());
    const bool in = chosen.contains(u);
    v1::SubsetGraph told;
    told.set_name(graph.name());
    told.set_hash(graph.hash());
    told.set_structure(graph.structure());
    told.set_graphs(static_cast<int>(units[u].members.size()));
    told.set_expected_seconds(facts_of.seconds);
    told.set_measured(facts_of.facts.pair_seconds.has_value());
    told.set_reason(facts_of.unusable);
    if (facts_of.unusable.empty()) response->set_whole_seconds(response->whole_seconds() + facts_of.seconds);
    for (const int member : units[u].members) coverage.Add("graphs", std::to_string(member), 1, in);
    coverage.Add("structures", graph.structure(), 1, in);
    coverage.Add("sizes", SizeClass(graph.operations(), graph.parameter_bytes()), 1, in);
    coverage.Add("sources", SourceOf(graph.name()), 1, in);
    for (const std::string& callee : facts_of.callees) coverage.Add("callees", callee, 1, in);
    if (in) {
      response->set_expected_seconds(response->expected_seconds() + facts_of.seconds);
      taken.emplace_back(units[u].representative, std::move(told));
    } else {
      *response->add_left_out() = std::move(told);
    }
  }
  std::sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [position, told] : taken) {
    v1::SuiteGraph* graph = create.add_graphs();
    graph->set_name(told.name());
    graph->set_hash(told.hash());
    *response->add_chosen() = std::move(told);
  }
  std::stable_sort(response->mutable_left_out()->begin(), response->mutable_left_out()->end(),
                   [](const auto& a, const auto& b) { return a.graphs() > b.graphs(); });
  coverage.Write(response);
  response->set_name(suite->name());
  response->set_version(suite->version());
  response->set_budget_seconds(request.budget_seconds());
  response->set_policy(policy->name);
  if (request.dry_run()) return absl::OkStatus();
  auto made = StoreSuite(transaction, create);
  if (made.ok()) *response->mutable_suite() = *std::move(made);
  return made.status();
}

}  // namespace assay::server
