#include "worker/runner_pool.h"

#include <algorithm>
#include <set>

#include "fmt/format.h"
#include "google/protobuf/util/json_util.h"
#include "graph/graph.h"
#include "worker/environment.h"
#include "worker/runner_environment.h"

namespace assay::worker {
namespace {

namespace json = boost::json;

std::string KeyOf(const RunnerConfig& runner) { return runner.name + "@" + runner.environment; }

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("describe: {} (runner/protocol.md)", what));
}

std::string TextOf(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// A closed schema: an object without other properties, each of them bounded.
absl::Status CheckSchema(const std::string& compiler, const json::object& schema) {
  const json::value* additional = schema.if_contains("additionalProperties");
  if (TextOf(schema, "type") != "object" || additional == nullptr || !additional->is_bool() || additional->get_bool()) {
    return Wrong(
        fmt::format("options of {} must be {{\"type\": \"object\", \"additionalProperties\": false, …}}", compiler));
  }
  const json::value* properties = schema.if_contains("properties");
  if (properties == nullptr) return absl::OkStatus();
  if (!properties->is_object())
    return Wrong(fmt::format("properties of the options of {} must be an object", compiler));
  for (const auto& [name, value] : properties->get_object()) {
    const json::object* property = value.if_object();
    const std::string type = property ? TextOf(*property, "type") : "";
    const bool bounded = property && property->contains("minimum") && property->contains("maximum");
    if (property == nullptr ||
        !(property->contains("enum") || type == "boolean" || ((type == "integer" || type == "number") && bounded))) {
      return Wrong(fmt::format("option {} of {} must be an enumeration, a boolean or a number with minimum and maximum",
                               std::string_view(name), compiler));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadCompiler(const json::value& value, v1::Compiler& compiler) {
  const json::object* object = value.if_object();
  if (object == nullptr || TextOf(*object, "name").empty())
    return Wrong("each of compilers and lowers must be an object with a name");
  compiler.set_name(TextOf(*object, "name"));
  compiler.set_version(TextOf(*object, "version"));
  compiler.set_baseline(TextOf(*object, "baseline"));
  const json::value* options = object->if_contains("options");
  if (options == nullptr || !options->is_object())
    return Wrong(fmt::format("{} has no options schema", compiler.name()));
  if (absl::Status closed = CheckSchema(compiler.name(), options->get_object()); !closed.ok()) return closed;
  if (!google::protobuf::util::JsonStringToMessage(json::serialize(*options), compiler.mutable_options()).ok()) {
    return Wrong(fmt::format("options of {} are not JSON that can be kept", compiler.name()));
  }
  return absl::OkStatus();
}

absl::Status ReadDevice(const json::value& value, KnownRunner& runner) {
  const json::object* object = value.if_object();
  if (object == nullptr) return Wrong("each of devices must be an object");
  v1::Device device;
  device.set_id(TextOf(*object, "id"));
  device.set_kind(TextOf(*object, "kind"));
  device.set_model(TextOf(*object, "model"));
  device.set_uuid(TextOf(*object, "uuid"));
  if (const json::value* bytes = object->if_contains("memory_bytes"); bytes && bytes->is_number()) {
    device.set_memory_bytes(bytes->to_number<int64_t>());
  }
  if (device.id().empty() || device.kind().empty()) return Wrong("a device must have id and kind");
  runner.devices.push_back(std::move(device));
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadDescription(const json::object& description, KnownRunner& runner) {
  const json::value* protocol = description.if_contains("protocol");
  if (protocol == nullptr || !protocol->is_int64() || protocol->get_int64() != 1) return Wrong("protocol must be 1");
  if (TextOf(description, "name").empty()) return Wrong("name must be a text");
  v1::Runner& offer = runner.offer;
  offer.Clear();
  runner.devices.clear();
  runner.lowered_by.clear();
  runner.lowers_for.clear();
  offer.set_name(TextOf(description, "name"));
  offer.set_version(TextOf(description, "version"));
  offer.set_build(TextOf(description, "build"));
  offer.set_trusted(runner.config.trusted);
  offer.set_environment(runner.config.environment);
  const json::value* forks = description.if_contains("fork");
  runner.forks = forks != nullptr && forks->is_bool() && forks->get_bool();
  std::set<std::string> methods;
  if (const json::value* list = description.if_contains("methods"); list && list->is_array()) {
    for (const json::value& method : list->get_array()) {
      if (method.is_string()) methods.insert(std::string(method.get_string()));
    }
  }
  for (const char* needed : {"describe", "load", "inputs", "compile"}) {
    if (!methods.contains(needed)) return Wrong(fmt::format("methods must have {}", needed));
  }
  offer.set_compiles_only(!methods.contains("run"));
  runner.pairs = methods.contains("pair");
  runner.reference = TextOf(description, "reference");
  const json::value* colds = description.if_contains("cold_caches");
  runner.colds = colds != nullptr && colds->is_bool() && colds->get_bool();
  runner.lowers = methods.contains("lower");
  runner.lowering = TextOf(description, "lowering");
  if (runner.lowers && runner.lowering.empty())
    return Wrong("a runner with the method lower must have the text lowering");
  runner.graphs = {graph::kTorchFramework};
  if (const json::value* kinds = description.if_contains("graphs")) {
    runner.graphs.clear();
    if (!kinds->is_array()) return Wrong("graphs must be a list");
    for (const json::value& kind : kinds->get_array()) {
      if (!kind.is_string()) return Wrong("graphs must be a list of texts");
      runner.graphs.emplace_back(std::string_view(kind.get_string()));
    }
  }
  const json::value* compilers = description.if_contains("compilers");
  if (compilers == nullptr || !compilers->is_array() || compilers->get_array().empty()) {
    return Wrong("compilers must be a list with at least one");
  }
  for (const json::value& compiler : compilers->get_array()) {
    v1::Compiler& read = *offer.add_compilers();
    if (absl::Status status = ReadCompiler(compiler, read); !status.ok()) return status;
    if (const std::string other = TextOf(compiler.get_object(), "lowered_by"); !other.empty()) {
      runner.lowered_by[read.name()] = other;
    }
  }
  if (const json::value* lowers = description.if_contains("lowers")) {
    if (!lowers->is_array()) return Wrong("lowers must be a list");
    for (const json::value& compiler : lowers->get_array()) {
      if (absl::Status read = ReadCompiler(compiler, runner.lowers_for.emplace_back()); !read.ok()) return read;
    }
  }
  const json::value* devices = description.if_contains("devices");
  if (devices == nullptr || !devices->is_array()) return Wrong("devices must be a list");
  std::set<std::string> kinds;
  for (const json::value& device : devices->get_array()) {
    if (absl::Status read = ReadDevice(device, runner); !read.ok()) return read;
    if (kinds.insert(runner.devices.back().kind()).second) offer.add_device_kinds(runner.devices.back().kind());
  }
  return absl::OkStatus();
}

bool Drives(const KnownRunner& runner, const std::string& device_kind) {
  const auto& kinds = runner.offer.device_kinds();
  return std::find(kinds.begin(), kinds.end(), device_kind) != kinds.end();
}

const v1::Compiler* FindCompiler(const KnownRunner& runner, const std::string& name) {
  for (const v1::Compiler& compiler : runner.offer.compilers()) {
    if (compiler.name() == name) return &compiler;
  }
  return nullptr;
}

const KnownRunner* RunnerFor(const std::vector<KnownRunner>& runners, const v1::Target& target,
                             const std::string& environment, const std::string& device_kind) {
  const std::string& hash = target.environment_hash();
  std::vector<const KnownRunner*> candidates;
  for (const KnownRunner& runner : runners) {
    if (runner.offer.environment() == environment) candidates.push_back(&runner);
  }
  for (const KnownRunner& runner : runners) {
    if (runner.offer.environment_hash() == hash && runner.offer.environment() != environment) {
      candidates.push_back(&runner);
    }
  }
  const KnownRunner* found = nullptr;
  for (const KnownRunner* runner : candidates) {
    const std::string& name = found != nullptr ? found->offer.name() : target.runner();
    if (!name.empty() && name != runner->offer.name()) continue;
    if (!Drives(*runner, device_kind)) continue;
    if (FindCompiler(*runner, target.compiler()) == nullptr) continue;
    found = runner;
    if (hash.empty() || hash == runner->offer.environment_hash()) break;
  }
  return found;
}

const KnownRunner* LoweringRunner(const std::vector<KnownRunner>& runners, const KnownRunner& runner,
                                  const std::string& compiler) {
  const auto by = runner.lowered_by.find(compiler);
  if (by == runner.lowered_by.end()) return nullptr;
  for (const KnownRunner& other : runners) {
    const bool has = std::any_of(other.lowers_for.begin(), other.lowers_for.end(),
                                 [&](const v1::Compiler& lowered) { return lowered.name() == compiler; });
    if (has && other.offer.name() == by->second && other.config.environment == runner.config.environment &&
        other.config.venv == runner.config.venv) {
      return &other;
    }
  }
  return nullptr;
}

std::vector<std::string> LinkLowering(std::vector<KnownRunner>& runners) {
  std::vector<std::string> missing;
  for (KnownRunner& runner : runners) {
    auto& compilers = *runner.offer.mutable_compilers();
    for (int i = compilers.size() - 1; i >= 0; --i) {
      if (!runner.lowered_by.contains(compilers[i].name())) continue;
      const KnownRunner* other = LoweringRunner(runners, runner, compilers[i].name());
      if (other == nullptr) {
        missing.push_back(compilers[i].name());
        compilers.DeleteSubrange(i, 1);
        continue;
      }
      for (const v1::Compiler& lowered : other->lowers_for) {
        if (lowered.name() != compilers[i].name()) continue;
        compilers[i].set_version(lowered.version());
        *compilers[i].mutable_options() = lowered.options();
      }
    }
  }
  return missing;
}

RunnerPool::~RunnerPool() {
  for (Parent& parent : parents_) parent.process->Close(std::chrono::seconds(1));
}

absl::StatusOr<KnownRunner> RunnerPool::Describe(const RunnerConfig& config, std::stop_token stop) {
  KnownRunner runner;
  runner.config = config;
  absl::StatusOr<Launch> launch = PlanLaunch(config, config_.sandbox);
  if (!launch.ok()) return launch.status();
  runner.launch = *std::move(launch);
  absl::StatusOr<std::shared_ptr<RunnerProcess>> process = StartProcess(runner.launch, MemoryLimitOf(config_));
  if (!process.ok()) return process.status();
  const auto fail = [&](std::string_view message) {
    const std::string output = (*process)->Output();
    return absl::UnavailableError(fmt::format("runner {}: {}{}{}", KeyOf(config), message,
                                              output.empty() ? "" : "; the end of its output:\n",
                                              output.substr(output.size() - std::min<size_t>(output.size(), 2000))));
  };
  Outcome<Reply> reply = (*process)->Call("describe", {}, {}, After(config.start_timeout_seconds), stop);
  if (!reply.ok()) return fail(reply.failure().message);
  if (absl::Status read = ReadDescription(reply->result, runner); !read.ok()) return fail(std::string(read.message()));
  absl::StatusOr<std::string> hash = HashRunnerEnvironment(config);
  if (!hash.ok()) return hash.status();
  runner.offer.set_environment_hash(*hash);
  if (runner.forks && config.warm) {
    parents_.push_back({KeyOf(config), *std::move(process)});
  } else {
    (*process)->Close(std::chrono::seconds(5));
  }
  return runner;
}

absl::StatusOr<std::shared_ptr<RunnerProcess>> RunnerPool::StartProcess(const Launch& launch,
                                                                        int64_t memory_limit_bytes) {
  if (groups_ == nullptr) return RunnerProcess::Start(io_, launch);
  absl::StatusOr<std::unique_ptr<MemoryGroup>> group = groups_->Make(memory_limit_bytes);
  if (!group.ok()) return group.status();
  return RunnerProcess::Start(io_, launch, *std::move(group));
}

absl::StatusOr<std::shared_ptr<RunnerProcess>> RunnerPool::WarmParent(const KnownRunner& runner,
                                                                      int64_t memory_limit_bytes) {
  const std::string key = KeyOf(runner.config);
  auto found = std::find_if(parents_.begin(), parents_.end(), [&](const Parent& p) { return p.key == key; });
  if (found != parents_.end() && found->process->alive()) {
    if (MemoryGroup* group = found->process->memory_group()) {
      if (absl::Status limited = group->SetLimit(memory_limit_bytes); !limited.ok()) return limited;
    }
    return found->process;
  }
  if (found != parents_.end()) parents_.erase(found);
  absl::StatusOr<std::shared_ptr<RunnerProcess>> process = StartProcess(runner.launch, memory_limit_bytes);
  if (process.ok() && runner.config.warm) parents_.push_back({key, *process});
  return process;
}

absl::StatusOr<TrialProcess> RunnerPool::Start(const KnownRunner& runner, int64_t memory_limit_bytes,
                                               std::stop_token stop) {
  if (!runner.forks) {
    absl::StatusOr<std::shared_ptr<RunnerProcess>> process = StartProcess(runner.launch, memory_limit_bytes);
    if (!process.ok()) return process.status();
    return TrialProcess{*std::move(process), config_.sandbox == SandboxLevel::kFull};
  }
  std::string message;
  for (int attempt = 0; attempt < 2; ++attempt) {  // a parent that died since the last trial is started again once
    absl::StatusOr<std::shared_ptr<RunnerProcess>> parent = WarmParent(runner, memory_limit_bytes);
    if (!parent.ok()) return parent.status();
    (*parent)->ClearOutput();
    Outcome<std::shared_ptr<RunnerProcess>> child = (*parent)->Fork(After(runner.config.start_timeout_seconds), stop);
    if (child.ok()) return TrialProcess{*child, (*child)->isolated()};
    if (child.failure().kind == CallFailure::Kind::kCancelled) return absl::CancelledError("the trial was ended");
    message = fmt::format("{}; output:\n{}", child.failure().message, (*parent)->Output());
    (*parent)->Kill();
  }
  return absl::UnavailableError(fmt::format("runner {} cannot fork: {}", KeyOf(runner.config), message));
}

}  // namespace assay::worker
