#include "worker/trial_arm.h"

#include <algorithm>
#include <cstring>

#include "fmt/format.h"
#include "google/protobuf/util/json_util.h"
#include "worker/compression.h"
#include "worker/output_check.h"

namespace assay::worker {
namespace {

namespace json = boost::json;

constexpr int kMaximumArtifacts = 16;
constexpr int kMaximumFacts = 100;  // of a kind
constexpr size_t kMaximumFactName = 100;
constexpr int64_t kMaximumArtifactBytes = 1 << 20;
constexpr size_t kMaximumContentBytes = 1 << 20;  // of an arm's artifacts together, compressed: reports have a limit

ArmFailure Broken(std::string message) {
  return {CallFailure{CallFailure::Kind::kProtocol, "", std::move(message)}, false};
}

// A member of a result that must be an integer of 0 or more; -1 where it is not.
int64_t Integer(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_int64() && value->get_int64() >= 0 ? value->get_int64() : -1;
}

absl::StatusOr<runner::MemoryFile> SealedFile(std::string_view bytes) {
  return runner::MemoryFile::Filled("assay-lowered", static_cast<int64_t>(bytes.size()), [&](std::span<std::byte> to) {
    std::memcpy(to.data(), bytes.data(), bytes.size());
  });
}

// The parameters of `compile` and of `lower` for another runner.
json::object CompilerOf(const v1::Target& target) {
  json::object params = {{"compiler", target.compiler()}, {"options", json::object()}};
  if (target.has_options()) {
    std::string text;
    boost::system::error_code error;
    if (!google::protobuf::util::MessageToJsonString(target.options(), &text).ok()) text = "{}";
    params["options"] = json::parse(text, error);
  }
  return params;
}

// Calls add(name, value) for each member of an object in the result, up to a number of them.
template <typename Add>
void ForEachFact(const json::object& result, std::string_view key, const Add& add) {
  const json::value* facts = result.if_contains(key);
  if (facts == nullptr || !facts->is_object()) return;
  int count = 0;
  for (const auto& [name, value] : facts->get_object()) {
    if (value.is_number() && name.size() <= kMaximumFactName && ++count <= kMaximumFacts) add(std::string(name), value);
  }
}

// What the compiler says of what it made.
void TellProgram(const json::object& result, v1::Arm& told) {
  told.set_executable_bytes(std::max<int64_t>(Integer(result, "executable_bytes"), 0));
  told.set_code_bytes(std::max<int64_t>(Integer(result, "code_bytes"), 0));
  told.clear_memory();
  told.clear_cost_estimate();
  ForEachFact(result, "memory", [&](const std::string& name, const json::value& value) {
    if (value.is_int64()) (*told.mutable_memory())[name] = value.get_int64();
  });
  ForEachFact(result, "cost_estimate", [&](const std::string& name, const json::value& value) {
    (*told.mutable_cost_estimate())[name] = value.to_number<double>();
  });
}

}  // namespace

Outcome<Reply> ArmSteps::RequestLoad(RunnerProcess& process, const json::object& graph, const std::string& device,
                                     int public_set, int lock) {
  json::object params = {{"graph", graph}, {"device", device}, {"threads", limits_.threads}};
  if (!limits_.default_dtype.empty()) params["default_dtype"] = limits_.default_dtype;
  return process.Call("load", std::move(params), {{"tensors", public_set}, {"lock", lock}}, After(limits_.load_seconds),
                      stop_);
}

std::optional<ArmFailure> ArmSteps::Load(TrialArm& arm, const json::object& graph, const std::string& device,
                                         int public_set, int secret_set, int lock, const std::string& phase) {
  phases_.Begin(phase, /*harness=*/false);
  Outcome<Reply> loaded = RequestLoad(*arm.process, graph, device, public_set, lock);
  if (!loaded.ok()) return ArmFailure{loaded.failure()};
  const int64_t load_ns = Integer(loaded->result, "load_ns");
  const json::value* mutated = loaded->result.if_contains("mutated");
  if (load_ns < 0 || mutated == nullptr || !mutated->is_array()) return Broken("load must give load_ns and mutated");
  arm.told.set_load_ns(load_ns);
  arm.mutates = !mutated->get_array().empty();
  arm.graph_hash = std::string(graph.at("hash").as_string());
  if (secret_set == kNoSecretSet) return std::nullopt;
  phases_.Begin("inputs", /*harness=*/true);
  Outcome<Reply> sent = arm.process->Call("inputs", {{"set", kSecretSetName}}, {{"tensors", secret_set}},
                                          After(limits_.load_seconds), stop_);
  if (!sent.ok()) return ArmFailure{sent.failure()};
  return std::nullopt;
}

std::optional<ArmFailure> ArmSteps::Lower(TrialArm& arm, const std::string& phase) {
  phases_.Begin(phase, /*harness=*/false);
  absl::StatusOr<runner::MemoryFile> keep = runner::MemoryFile::Create("assay-keep");
  if (!keep.ok()) return Broken(std::string(keep.status().message()));
  std::vector<NamedFd> fds = {{"keep", keep->fd()}};
  absl::StatusOr<runner::MemoryFile> kept;
  const std::optional<std::string> before = store_.Read(*arm.runner, arm.graph_hash);
  if (before && !before->empty()) {
    kept = SealedFile(*before);
    if (kept.ok()) fds.push_back({"kept", kept->fd()});
  }
  Outcome<Reply> lowered = arm.process->Call("lower", {}, fds, After(limits_.compile_seconds), stop_);
  // That a graph cannot be lowered is worth keeping too; what a process left that did not survive it is not.
  if (lowered.ok() || lowered.failure().kind == CallFailure::Kind::kError) {
    const absl::StatusOr<std::string> bytes = runner::ReadBytes(keep->fd(), LoweredStore::kMaximumEntryBytes);
    if (bytes.ok() && !bytes->empty()) store_.Write(*arm.runner, arm.graph_hash, *bytes);
  }
  if (!lowered.ok()) return ArmFailure{lowered.failure()};
  const int64_t lower_ns = Integer(lowered->result, "lower_ns");
  if (lower_ns < 0) return Broken("lower must give lower_ns");
  phases_.AddRunnerTime(lower_ns);
  return std::nullopt;
}

std::optional<ArmFailure> ArmSteps::LowerElsewhere(RunnerProcess& process, TrialArm& arm, const json::object& graph,
                                                   const std::string& device, int public_set, int lock,
                                                   const std::string& phase) {
  phases_.Begin(phase, /*harness=*/false);
  Outcome<Reply> loaded = RequestLoad(process, graph, device, public_set, lock);
  if (!loaded.ok()) return ArmFailure{loaded.failure()};
  absl::StatusOr<runner::MemoryFile> keep = runner::MemoryFile::Create("assay-keep");
  if (!keep.ok()) return Broken(std::string(keep.status().message()));
  Outcome<Reply> lowered =
      process.Call("lower", CompilerOf(arm.target), {{"keep", keep->fd()}}, After(limits_.compile_seconds), stop_);
  if (!lowered.ok()) return ArmFailure{lowered.failure()};
  const int64_t load_ns = Integer(loaded->result, "load_ns"), lower_ns = Integer(lowered->result, "lower_ns");
  if (load_ns < 0 || lower_ns < 0) return Broken("load must give load_ns and lower lower_ns");
  phases_.AddRunnerTime(load_ns + lower_ns);
  const absl::StatusOr<std::string> bytes = runner::ReadBytes(keep->fd(), LoweredStore::kMaximumEntryBytes);
  if (!bytes.ok() || bytes->empty()) {
    return Broken(fmt::format("lower wrote {}", bytes.ok() ? "nothing"
                                                           : fmt::format("more than {} bytes, or what cannot be read",
                                                                         LoweredStore::kMaximumEntryBytes)));
  }
  absl::StatusOr<runner::MemoryFile> sealed = SealedFile(*bytes);
  if (!sealed.ok()) return Broken(std::string(sealed.status().message()));
  arm.lowered = *std::move(sealed);
  arm.lower_ns = lower_ns;
  arm.lower_peak_bytes = std::max<int64_t>(Integer(lowered->result, "peak_memory_bytes"), 0);
  return std::nullopt;
}

std::optional<ArmFailure> ArmSteps::Compile(TrialArm& arm, const std::string& name) {
  if (arm.runner->lowers) {
    if (auto failure = Lower(arm, "lower." + name)) return failure;
  }
  phases_.Begin("compile." + name, /*harness=*/false);
  json::object params = CompilerOf(arm.target);
  std::vector<NamedFd> fds;
  if (arm.lowered) {
    params["options"] = json::object();  // they were the lowering's
    fds.push_back({"lowered", arm.lowered->fd()});
  }
  Outcome<Reply> compiled = arm.process->Call("compile", std::move(params), fds, After(limits_.compile_seconds), stop_);
  arm.lowered.reset();
  if (!compiled.ok()) return ArmFailure{compiled.failure()};
  arm.handle = Integer(compiled->result, "handle");
  const int64_t compile_ns = Integer(compiled->result, "compile_ns");
  if (arm.handle < 0 || compile_ns < 0) return Broken("compile must give handle and compile_ns");
  // A graph that another runner compiled was compiled there: the rest is loading.
  arm.told.set_compile_ns(compile_ns + arm.lower_ns);
  arm.told.set_peak_memory_bytes(std::max(Integer(compiled->result, "peak_memory_bytes"), arm.lower_peak_bytes));
  TellProgram(compiled->result, arm.told);
  arm.told.clear_artifacts();
  if (const json::value* artifacts = compiled->result.if_contains("artifacts"); artifacts && artifacts->is_array()) {
    for (const json::value& value : artifacts->get_array()) {
      const json::object* object = value.if_object();
      const json::value* name = object ? object->if_contains("name") : nullptr;
      if (name == nullptr || !name->is_string() || arm.told.artifacts_size() == kMaximumArtifacts) continue;
      v1::Artifact& artifact = *arm.told.add_artifacts();
      artifact.set_name(std::string(std::string_view(name->get_string()).substr(0, 200)));
      artifact.set_bytes(std::max<int64_t>(Integer(*object, "bytes"), 0));
    }
  }
  return std::nullopt;
}

std::optional<ArmFailure> ArmSteps::RunSet(TrialArm& arm, int set) {
  absl::StatusOr<runner::MemoryFile> file = runner::MemoryFile::Create("assay-outputs");
  if (!file.ok()) return Broken(std::string(file.status().message()));
  Outcome<Reply> ran = arm.process->Call("run", {{"handle", arm.handle}, {"set", set == 0 ? "public" : kSecretSetName}},
                                         {{"outputs", file->fd()}}, After(limits_.run_seconds), stop_);
  if (!ran.ok()) return ArmFailure{ran.failure()};
  const int64_t duration = Integer(ran->result, "duration_ns"), outputs = Integer(ran->result, "outputs");
  if (duration <= 0 || outputs < 0) return Broken("run must give duration_ns above 0 and outputs");
  if (duration > ran->wall_ns) {
    ArmFailure failure =
        Broken(fmt::format("run told of {} ns; the request took {} ns by the worker's clock", duration, ran->wall_ns));
    failure.cheating = true;
    return failure;
  }
  phases_.AddRunnerTime(duration);
  arm.call_seconds.push_back(1e-9 * static_cast<double>(arm.worker_timed() ? ran->wall_ns : duration));
  if (set == 1) arm.told.set_first_call_ns(duration);
  absl::StatusOr<runner::TensorBytes> tensors = ReadOutputs(file->fd(), outputs, limits_.output_bytes);
  if (absl::IsResourceExhausted(tensors.status())) {
    return ArmFailure{CallFailure{CallFailure::Kind::kError, "out_of_memory",
                                  fmt::format("run: {}", std::string(tensors.status().message()))}};
  }
  if (!tensors.ok()) return Broken(fmt::format("run: the outputs: {}", std::string(tensors.status().message())));
  arm.outputs[set] = *std::move(tensors);
  return std::nullopt;
}

std::optional<ArmFailure> ArmSteps::Run(TrialArm& arm, const std::string& phase) {
  phases_.Begin(phase, /*harness=*/false);
  // The secret set first: what a runner has left over from here, when it is timed on the secret set, is of the other
  // one.
  for (const int set : {1, 0}) {
    if (auto failure = RunSet(arm, set)) return failure;
  }
  return std::nullopt;
}

std::optional<ArmFailure> ArmSteps::FetchArtifacts(TrialArm& arm) {
  if (arm.told.artifacts_size() == 0) return std::nullopt;
  phases_.Begin("artifacts", /*harness=*/true);
  size_t kept = 0;
  for (v1::Artifact& artifact : *arm.told.mutable_artifacts()) {
    if (artifact.bytes() > kMaximumArtifactBytes) continue;
    absl::StatusOr<runner::MemoryFile> file = runner::MemoryFile::Create("assay-artifact");
    if (!file.ok()) return Broken(std::string(file.status().message()));
    Outcome<Reply> fetched = arm.process->Call("artifact", {{"handle", arm.handle}, {"name", artifact.name()}},
                                               {{"file", file->fd()}}, After(limits_.run_seconds), stop_);
    // An artifact that cannot be had is no failure of the compiler's; a runner that dies of it is.
    if (!fetched.ok() && fetched.failure().kind != CallFailure::Kind::kError) return ArmFailure{fetched.failure()};
    if (!fetched.ok()) continue;
    const absl::StatusOr<std::string> bytes = runner::ReadBytes(file->fd(), kMaximumArtifactBytes);
    if (!bytes.ok()) continue;
    artifact.set_bytes(static_cast<int64_t>(bytes->size()));
    std::string content = Compress(*bytes);
    if (kept + content.size() > kMaximumContentBytes) continue;
    kept += content.size();
    artifact.set_content(std::move(content));
  }
  return std::nullopt;
}

}  // namespace assay::worker
