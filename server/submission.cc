#include "server/submission.h"

#include <map>
#include <optional>
#include <pqxx/pqxx>
#include <set>

#include "fmt/format.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/util/json_util.h"
#include "graph/replay.h"
#include "measure/schedule.h"
#include "server/digest.h"
#include "server/fair_queue.h"
#include "server/graph_store.h"
#include "server/target_store.h"
#include "server/text.h"
#include "server/worker_store.h"

namespace assay::server {

namespace {

constexpr double kShortestSeconds = 0.1, kLongestSeconds = 86400;  // of a time limit
constexpr double kLoadSeconds = 300, kCompileSeconds = 600;

// Fills `value` where it is 0 and checks its range.
absl::Status Decide(std::string_view name, double& value, double standard, double least, double most) {
  if (value == 0) value = standard;
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("policy.", name, " is ", value, "; accepted: ", least, " to ", most));
}

std::string Json(const google::protobuf::Message& message) {
  std::string out;
  if (!google::protobuf::util::MessageToJsonString(message, &out).ok())
    throw std::runtime_error("a message has no JSON form");
  return out;
}

// The same for equal messages: in JSON the order of a map's entries, of a target's options, is left to chance.
std::string DeterministicBytes(const google::protobuf::Message& message) {
  std::string out;
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return out;
}

// Positions of the graphs wanted, all where none are named.
absl::StatusOr<std::vector<int>> Choose(const v1::Suite& suite, const v1::CreateEvaluationRequest& request) {
  std::vector<int> out;
  if (request.graphs().empty()) {
    for (int i = 0; i < suite.graphs_size(); ++i) out.push_back(i);
    return out;
  }
  std::map<std::string, std::vector<int>> index;
  for (int i = 0; i < suite.graphs_size(); ++i) {
    index[suite.graphs(i).name()].push_back(i);
    if (suite.graphs(i).hash() != suite.graphs(i).name()) index[suite.graphs(i).hash()].push_back(i);
  }
  std::set<int> chosen;
  for (const auto& name : request.graphs()) {
    const auto it = index.find(name);
    if (it == index.end()) {
      return absl::InvalidArgumentError(
          Cat("graphs: the suite ", suite.name(), " version ", suite.version(), " has no graph '", name, "'"));
    }
    chosen.insert(it->second.begin(), it->second.end());
  }
  out.assign(chosen.begin(), chosen.end());
  return out;
}

// Queued trials that a measurement of a device that now offers the same answers need no run.
void ReuseAtOnce(Transaction& transaction, const Queue& queue, int64_t evaluation) {
  ArrayParameter trials, measurements;
  const pqxx::result rows = transaction.exec_params(
      fmt::format("SELECT t.id, m.id FROM trials t CROSS JOIN LATERAL ("
                  "  SELECT m.id FROM measurements m WHERE m.reuse_key = t.reuse_key AND m.reusable AND EXISTS ("
                  "    SELECT 1 FROM devices d JOIN workers w ON w.id = d.worker_id WHERE d.model = m.device_model "
                  "      AND d.machine_hash = m.machine_hash AND w.last_seen > {} - make_interval(secs => $2)) "
                  "  ORDER BY m.id DESC LIMIT 1) m WHERE t.evaluation_id = $1 AND NOT t.fresh",
                  queue.Now()),
      evaluation, queue.options().lease_seconds);
  for (const auto& row : rows) {
    trials.Add(row[0].as<int64_t>());
    measurements.Add(row[1].as<int64_t>());
  }
  if (!rows.empty()) FinishByReuse(transaction, trials.str(), measurements.str());
}

absl::Status CheckResources(const v1::Policy& policy) {
  if (policy.threads() < 0 || policy.threads() > 4096) {
    return absl::InvalidArgumentError(
        Cat("policy.threads is ", policy.threads(), "; accepted: 0 (the worker's default) to 4096"));
  }
  if (policy.memory_limit_bytes() < 0) return absl::InvalidArgumentError("policy.memory_limit_bytes is below 0");
  return absl::OkStatus();
}

absl::Status DecideReplay(v1::Policy& policy) {
  if (policy.replay().empty()) policy.set_replay(std::string(graph::Name(graph::ReplayMode::kAssay)));
  if (graph::ReplayModeFromName(policy.replay())) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("policy.replay is '", CleanText(policy.replay()), "'; accepted: assay (the default), graphnet"));
}

absl::StatusOr<v1::Policy> CompleteCompileOnly(v1::Policy policy) {
  if (policy.budget_seconds() != 0 || policy.half_width() != 0 || policy.processes() != 0 ||
      policy.run_timeout_seconds() != 0 || policy.two_processes() || !policy.cache().empty() ||
      policy.reference_float64()) {
    return absl::InvalidArgumentError(
        "policy: aot runs nothing, so it has no budget_seconds, half_width, processes, run_timeout_seconds, "
        "two_processes, cache or reference_float64");
  }
  double load = policy.load_timeout_seconds(), compile = policy.compile_timeout_seconds();
  for (const absl::Status& status :
       {Decide("load_timeout_seconds", load, kLoadSeconds, kShortestSeconds, kLongestSeconds),
        Decide("compile_timeout_seconds", compile, kCompileSeconds, kShortestSeconds, kLongestSeconds),
        CheckResources(policy)}) {
    if (!status.ok()) return status;
  }
  policy.set_load_timeout_seconds(load);
  policy.set_compile_timeout_seconds(compile);
  if (const absl::Status status = DecideReplay(policy); !status.ok()) return status;
  return policy;
}

// Where the candidate's runner only compiles, nothing else can be asked for.
absl::StatusOr<v1::Policy> PolicyFor(const ResolvedTarget& candidate, const v1::CreateEvaluationRequest& request) {
  v1::Policy asked = request.policy();
  if (candidate.offer.compiles_only && asked.name().empty()) asked.set_name(kCompileOnly);
  if (candidate.offer.compiles_only && asked.name() != kCompileOnly) {
    return absl::InvalidArgumentError(Cat("policy.name: ", candidate.name(), " on ", candidate.offer.device_kind,
                                          " is only compiled, so its policy is aot, not ", asked.name()));
  }
  if (asked.name() == kCompileOnly && request.has_baseline()) {
    return absl::InvalidArgumentError("baseline: the policy aot only compiles the candidate; it has no baseline");
  }
  return CompletePolicy(asked);
}

}  // namespace

absl::StatusOr<v1::Policy> CompletePolicy(const v1::Policy& request) {
  v1::Policy policy = request;
  if (policy.name().empty()) policy.set_name("standard");
  if (policy.name() == kCompileOnly) return CompleteCompileOnly(policy);
  const auto standard = measure::PolicyFromName(policy.name());
  if (!standard.ok()) {
    return absl::InvalidArgumentError(Cat("policy.name: ", standard.status().message(), ", or aot to compile only"));
  }
  double budget = policy.budget_seconds(), half_width = policy.half_width(), load = policy.load_timeout_seconds(),
         compile = policy.compile_timeout_seconds(), run = policy.run_timeout_seconds(), processes = policy.processes();
  for (const absl::Status& status :
       {Decide("budget_seconds", budget, standard->budget_seconds, 0.01, 3600),
        Decide("half_width", half_width, standard->target_half_width, 0.0001, 1),
        Decide("processes", processes, standard->processes, 1, 100),
        Decide("load_timeout_seconds", load, kLoadSeconds, kShortestSeconds, kLongestSeconds),
        Decide("compile_timeout_seconds", compile, kCompileSeconds, kShortestSeconds, kLongestSeconds),
        Decide("run_timeout_seconds", run, 120, kShortestSeconds, kLongestSeconds)}) {
    if (!status.ok()) return status;
  }
  if (const absl::Status status = CheckResources(policy); !status.ok()) return status;
  if (policy.cache().empty()) policy.set_cache("warm");
  if (policy.cache() != "warm" && policy.cache() != "cold") {
    return absl::InvalidArgumentError(Cat("policy.cache is '", policy.cache(), "'; accepted: warm, cold"));
  }
  policy.set_budget_seconds(budget);
  policy.set_half_width(half_width);
  policy.set_processes(static_cast<int>(processes));
  policy.set_load_timeout_seconds(load);
  policy.set_compile_timeout_seconds(compile);
  policy.set_run_timeout_seconds(run);
  if (const absl::Status status = DecideReplay(policy); !status.ok()) return status;
  return policy;
}

absl::StatusOr<Submitted> FindSubmitted(Transaction& transaction, int64_t submitter, const std::string& client_key,
                                        const google::protobuf::Message& request) {
  Submitted out;
  out.client_key = client_key.empty() ? "none-" + RandomHex(16) : CleanText(client_key);
  if (out.client_key.size() > 200) return absl::InvalidArgumentError("client_key is longer than 200 bytes");
  out.request_hash = Sha256Hex(DeterministicBytes(request));
  transaction.exec_params("SELECT pg_advisory_xact_lock(hashtextextended('submit ' || $1, $2))", out.client_key,
                          submitter);
  const pqxx::result before = transaction.exec_params(
      "SELECT id, request_hash FROM evaluations WHERE submitter = $1 AND client_key = $2", submitter, out.client_key);
  if (before.empty()) return out;
  if (before[0][1].as<std::string>() != out.request_hash) {
    return absl::AlreadyExistsError(Cat("client_key '", out.client_key, "' was used for another request (evaluation ",
                                        before[0][0].c_str(), "): use a new key for a new request"));
  }
  out.id = before[0][0].as<int64_t>();
  return out;
}

absl::StatusOr<int64_t> Submit(Transaction& transaction, const Queue& queue, const SubmissionLimits& limits,
                               int64_t submitter, const v1::CreateEvaluationRequest& request) {
  const auto before = FindSubmitted(transaction, submitter, request.client_key(), request);
  if (!before.ok()) return before.status();
  if (before->id != 0) return before->id;
  if (request.suite().empty()) return absl::InvalidArgumentError("suite is empty: name a suite");
  if (request.priority() < -100 || request.priority() > 100) {
    return absl::InvalidArgumentError(Cat("priority is ", request.priority(), "; accepted: -100 to 100"));
  }
  int64_t suite_id = 0;
  const auto suite = LoadSuite(transaction, request.suite(), request.suite_version(), true, &suite_id);
  if (!suite.ok()) return suite.status();
  const auto positions = Choose(*suite, request);
  if (!positions.ok()) return positions.status();
  for (const int position : *positions) {
    if (suite->graphs(position).hash().empty()) {
      return absl::FailedPreconditionError(
          Cat("the suite ", suite->name(), " version ", suite->version(),
              " was made from a log, and its graphs are known by name alone: import the graphs themselves"));
    }
  }
  if (static_cast<int>(positions->size()) > limits.trials) {
    return absl::InvalidArgumentError(Cat("the evaluation would have ", positions->size(), " trials; at most ",
                                          limits.trials, " are accepted: name fewer graphs"));
  }
  const std::vector<Offer> offers = AllOffers(transaction, queue.options().lease_seconds, queue.Now());
  const auto candidate = Resolve(request.candidate(), offers, "candidate");
  if (!candidate.ok()) return candidate.status();
  const auto policy = PolicyFor(*candidate, request);
  if (!policy.ok()) return policy.status();
  std::optional<ResolvedTarget> baseline;
  if (policy->name() != kCompileOnly) {
    auto found =
        request.has_baseline() ? Resolve(request.baseline(), offers, "baseline") : DefaultBaseline(*candidate, offers);
    if (!found.ok()) return found.status();
    baseline = *std::move(found);
  }
  const auto requirement = RequirementOf(*candidate, baseline ? &*baseline : nullptr);
  if (!requirement.ok()) return requirement.status();

  const int64_t candidate_id = StoreTarget(transaction, *candidate);
  const std::optional<int64_t> baseline_id =
      baseline ? std::optional(StoreTarget(transaction, *baseline)) : std::nullopt;
  const std::string policy_json = Json(*policy);
  const std::string_view replay = graph::ReplayVersion(*graph::ReplayModeFromName(policy->replay()));
  LockClass(transaction, *requirement, request.priority());
  const int64_t id =
      transaction
          .exec_params1(
              fmt::format(
                  "INSERT INTO evaluations (client_key, request_hash, submitter, suite_id, candidate_id, baseline_id, "
                  "policy, partial, fresh, priority, trial_count, created) "
                  "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, {}) RETURNING id",
                  queue.Now()),
              before->client_key, before->request_hash, submitter, suite_id, candidate_id, baseline_id, policy_json,
              static_cast<int>(positions->size()) < suite->graphs_size(), request.fresh(), request.priority(),
              static_cast<int>(positions->size()))[0]
          .as<int64_t>();
  ArrayParameter place, hashes, keys;
  for (const int position : *positions) {
    const std::string& hash = suite->graphs(position).hash();
    place.Add(int64_t{position});
    hashes.Add(hash);
    keys.Add(Sha256Hex(
        Cat(hash, "\n", candidate->key(), "\n", baseline ? baseline->key() : "", "\n", policy_json, "\n", replay)));
  }
  // Expected seconds: the last time this candidate took on the graph, else any candidate, else a guess.
  transaction.exec_params(
      "INSERT INTO trials (evaluation_id, position, graph_hash, submitter, requirement, reuse_key, fresh, priority, "
      "fair_tag, expected_seconds) "
      "SELECT $1::bigint, u.position, u.hash, $2::bigint, $3::text, u.key, $4::boolean, $5::int, 'infinity', "
      "greatest(0.01, coalesce("
      "  (SELECT wall_seconds FROM measurements m WHERE m.graph_hash = u.hash AND m.candidate_id = $6::bigint ORDER BY "
      "id DESC LIMIT 1),"
      "  (SELECT wall_seconds FROM measurements m WHERE m.graph_hash = u.hash ORDER BY candidate_id DESC, id DESC "
      "LIMIT 1),"
      "  $7::float8 + 5 + 0.01 * g.operations)) "
      "FROM unnest($8::int[], $9::text[], $10::text[]) AS u(position, hash, key) JOIN graphs g ON g.hash = u.hash",
      id, submitter, *requirement, request.fresh(), request.priority(), candidate_id,
      policy->budget_seconds() * policy->processes(), place.str(), hashes.str(), keys.str());
  if (!request.fresh()) ReuseAtOnce(transaction, queue, id);
  Retag(transaction, *requirement, request.priority(), submitter, queue.Now());
  return id;
}

}  // namespace assay::server
