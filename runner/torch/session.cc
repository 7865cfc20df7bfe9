#include "runner/torch/session.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/DefaultDtype.h>
#include <torch/version.h>
#include <unistd.h>

#include <chrono>

#include "graph/parse.h"
#include "graph/text.h"
#include "runner/memory_file.h"
#include "runner/torch/bind_graph.h"
#include "runner/torch/device.h"
#include "runner/torch/outputs.h"

namespace assay::torch_runner {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

constexpr const char* kMethods[] = {"describe", "load",     "inputs",  "compile", "run",
                                    "pair",     "artifact", "profile", "release", "close"};
constexpr char kArtifact[] = "graph.txt";

int64_t Since(Clock::time_point start) { return (Clock::now() - start) / std::chrono::nanoseconds(1); }

// An answer that is an error of the protocol.
struct Failure {
  Error error;
};

[[noreturn]] void Fail(std::string error_class, std::string message) {
  throw Failure{{std::move(error_class), std::move(message)}};
}

void Check(const absl::Status& status, const char* otherwise) {
  if (!status.ok()) throw Failure{ErrorOf(status, otherwise)};
}

const json::value& Field(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) Fail("bad_request", graph::Cat("`", name, "` is missing"));
  return *value;
}

std::string String(const json::object& object, std::string_view name) {
  const json::value& value = Field(object, name);
  if (!value.is_string()) Fail("bad_request", graph::Cat("`", name, "` is no string"));
  return std::string(value.get_string());
}

int64_t ToInteger(const json::value& value, std::string_view name, int64_t least, int64_t most) {
  if (!value.is_int64() || value.get_int64() < least || value.get_int64() > most) {
    Fail("bad_request", graph::Cat("`", name, "` is no integer from ", least, " to ", most));
  }
  return value.get_int64();
}

int64_t Integer(const json::object& object, std::string_view name, int64_t otherwise, int64_t least, int64_t most) {
  const json::value* value = object.if_contains(name);
  return value == nullptr ? otherwise : ToInteger(*value, name, least, most);
}

std::vector<int64_t> Integers(const json::object& object, std::string_view name, int64_t least, int64_t most) {
  const json::value& value = Field(object, name);
  if (!value.is_array()) Fail("bad_request", graph::Cat("`", name, "` is no array"));
  std::vector<int64_t> result;
  for (const json::value& item : value.get_array()) result.push_back(ToInteger(item, name, least, most));
  return result;
}

runner::UniqueFd Descriptor(runner::Message& message, std::string_view name) {
  runner::UniqueFd fd = message.TakeFd(name);
  if (!fd.valid()) Fail("bad_request", graph::Cat("the request needs the descriptor \"", name, "\""));
  return fd;
}

// The class of what goes wrong in a request for no reason of its own.
const char* FailureClass(std::string_view method) {
  if (method == "load" || method == "inputs") return "load_fail";
  if (method == "compile") return "compile_fail";
  if (method == "run" || method == "pair" || method == "profile") return "runtime_fail";
  return "internal";
}

// One sample: `calls` calls with the device idle at both ends.
struct Sample {
  int64_t host_ns = 0, device_ns = 0;
  std::vector<c10::IValue> outputs;
};
Sample Take(Compiled& compiled, std::span<const at::Tensor> inputs, int64_t calls, c10::Device device,
            DeviceTimer& timer) {
  Sample sample;
  Synchronize(device);
  const Clock::time_point start = Clock::now();
  timer.Start();
  for (int64_t i = 0; i < calls; ++i) sample.outputs = compiled.Call(inputs);
  timer.Stop();
  Synchronize(device);
  sample.host_ns = Since(start);
  sample.device_ns = timer.nanoseconds();
  return sample;
}

}  // namespace

json::object Describe() {
  json::array methods, devices;
  for (const char* method : kMethods) methods.emplace_back(method);
  methods.emplace_back("fork");
  json::array clocks = {"host"};
  for (const DeviceInfo& device : Devices()) {
    devices.push_back({{"kind", device.kind},
                       {"id", device.id},
                       {"model", device.model},
                       {"uuid", device.uuid},
                       {"memory_bytes", device.memory_bytes}});
    if (device.kind == "cuda" && clocks.size() == 1) clocks.emplace_back("device");
  }
  return {{"protocol", 1},
          {"name", "torch"},
          {"version", TORCH_VERSION},
          {"build", BuildIdentity()},
          {"fork", true},
          {"cold_caches", true},
          {"reference", "eager"},
          {"methods", methods},
          {"compilers", DescribeCompilers()},
          {"devices", devices},
          {"clocks", clocks}};
}

int Session::Serve() {
  default_threads_ = at::get_num_threads();
  while (true) {
    absl::StatusOr<runner::Message> message = channel_.Read();
    if (!message.ok()) return absl::IsOutOfRange(message.status()) ? 0 : 1;
    Json reply;
    if (const json::value* id = message->json.if_contains("id")) reply["id"] = *id;
    std::string method;
    Error error{"internal", ""};
    try {
      method = String(message->json, "method");
      Json params;
      if (const json::value* given = message->json.if_contains("params")) {
        if (!given->is_object()) Fail("bad_request", "`params` is no object");
        params = given->get_object();
      }
      Json result;
      if (Guarded([&] { result = Answer(method, params, *message); }, FailureClass(method), &error)) {
        reply["result"] = std::move(result);
      } else {
        reply["error"] = {{"class", error.error_class}, {"message", error.message}};
      }
    } catch (const Failure& failure) {
      reply["error"] = {{"class", failure.error.error_class}, {"message", failure.error.message}};
    }
    message->fds.clear();
    if (!channel_.Write(reply).ok()) return 1;
    if (method == "close") return 0;
  }
}

Session::Json Session::Answer(const std::string& method, const Json& params, runner::Message& message) {
  if (method == "describe") return Describe();
  if (method == "load") return Load(params, message);
  if (method == "inputs") return AddInputs(params, message);
  if (method == "compile") return CompileGraph(params, message);
  if (method == "run") return RunOnce(params, message);
  if (method == "pair") return Pair(params, message);
  if (method == "artifact") return Artifact(params, message);
  if (method == "profile") return Profile(params);
  if (method == "release") return Release(params);
  if (method == "close") return {};
  Fail("bad_request", graph::Cat("there is no method \"", method, "\" here"));
}

Session::Loaded& Session::loaded() {
  if (loaded_ == nullptr) Fail("bad_request", "no graph is loaded");
  return *loaded_;
}

Compiled& Session::compiled(int64_t handle) {
  const auto found = compiled_.find(handle);
  if (found == compiled_.end()) Fail("bad_request", graph::Cat("there is no handle ", handle));
  return *found->second;
}

const std::vector<at::Tensor>& Session::SetOf(const std::string& name) {
  const std::vector<at::Tensor>* set = loaded().inputs.Find(name);
  if (set == nullptr) Fail("bad_request", graph::Cat("there is no input set \"", name, "\""));
  return *set;
}

void Session::Restore(const std::string& set) { Check(loaded().inputs.Restore(set), "internal"); }

void Session::Seed() const {
  if (loaded_->program->random) at::manual_seed(kSeed);
}

Session::Json Session::Load(const Json& params, runner::Message& message) {
  const Clock::time_point start = Clock::now();
  const json::value& graph_value = Field(params, "graph");
  if (!graph_value.is_object()) Fail("bad_request", "`graph` is no object");
  const std::string model = String(graph_value.get_object(), "model");
  const int64_t threads = Integer(params, "threads", 0, 0, 4096);
  const std::string dtype = params.contains("default_dtype") ? String(params, "default_dtype") : "float32";
  if (dtype != "float32" && dtype != "float64") Fail("bad_request", "`default_dtype` is float32 or float64");
  absl::StatusOr<c10::Device> device = FindDevice(String(params, "device"));
  Check(device.status(), "unsupported");
  runner::UniqueFd tensors = Descriptor(message, "tensors");
  if (runner::UniqueFd lock = message.TakeFd("lock"); lock.valid()) lock_ = std::move(lock);
  compiled_.clear();
  loaded_.reset();
  cold_.reset();
  c10::set_default_dtype(caffe2::TypeMeta::fromScalarType(dtype == "float64" ? at::kDouble : at::kFloat));
  at::set_num_threads(threads == 0 ? default_threads_ : static_cast<int>(threads));

  auto loaded = std::make_unique<Loaded>(*device);
  absl::StatusOr<graph::Graph> graph = graph::ParseModel(model);
  Check(graph.status(), "load_fail");
  loaded->graph = std::move(*graph);
  for (const graph::Parameter& parameter : loaded->graph.parameters) {
    loaded->constant.push_back(parameter.annotation == graph::Annotation::kParameter);
    loaded->names.push_back(parameter.name);
  }
  Check(loaded->inputs.SetPublic(loaded->graph, std::move(tensors)), "bad_request");
  at::manual_seed(kSeed);
  loaded->program =
      std::make_shared<const Program>(BindGraph(loaded->graph, *loaded->inputs.Find(kPublicSet), *device));
  loaded->inputs.SetMutated(loaded->program->mutated);
  loaded_ = std::move(loaded);
  Restore(std::string(kPublicSet));
  Synchronize(*device);
  json::array mutated;
  for (int32_t i : loaded_->program->mutated) mutated.emplace_back(loaded_->graph.parameters[i].name);
  return {{"load_ns", Since(start)}, {"mutated", std::move(mutated)}};
}

Session::Json Session::AddInputs(const Json& params, runner::Message& message) {
  const std::string name = String(params, "set");
  Loaded& here = loaded();
  Check(here.inputs.AddSet(here.graph, name, Descriptor(message, "tensors")), "bad_request");
  Synchronize(here.device);
  return {};
}

Session::Json Session::CompileGraph(const Json& params, runner::Message& message) {
  const std::string compiler = String(params, "compiler");
  Json options;
  if (const json::value* given = params.if_contains("options")) {
    if (!given->is_object()) Fail("bad_request", "`options` is no object");
    options = given->get_object();
  }
  Loaded& here = loaded();
  runner::Mapping mapping;
  std::optional<std::string_view> lowered;
  if (const runner::UniqueFd fd = message.TakeFd("lowered"); fd.valid()) {
    absl::StatusOr<runner::Mapping> mapped = runner::MapPrivate(fd.get());
    Check(mapped.status(), "bad_request");
    mapping = *std::move(mapped);
    lowered.emplace(reinterpret_cast<const char*>(mapping.bytes().data()), mapping.bytes().size());
  }
  const std::string set(kPublicSet);
  Restore(set);
  Synchronize(here.device);
  const Clock::time_point start = Clock::now();
  absl::StatusOr<std::unique_ptr<Compiled>> made =
      Compile({compiler, options, here.program, here.device, SetOf(set), here.constant, here.names, lowered});
  Check(made.status(), "bad_request");
  int64_t restoring = 0;
  for (int i = 0; i < (*made)->warm_up_calls(); ++i) {
    const Clock::time_point before = Clock::now();
    Restore(set);
    restoring += Since(before);
    Seed();
    (*made)->Call(SetOf(set));
  }
  Synchronize(here.device);
  const int64_t compile_ns = Since(start) - restoring;
  Restore(set);
  const int64_t bytes = static_cast<int64_t>((*made)->Text().size());
  compiled_[++last_handle_] = std::move(*made);
  return {{"handle", last_handle_},
          {"compile_ns", compile_ns},
          {"peak_memory_bytes", PeakMemoryBytes()},
          {"artifacts", json::array{{{"name", kArtifact}, {"bytes", bytes}}}}};
}

Session::Json Session::RunOnce(const Json& params, runner::Message& message) {
  Compiled& form = compiled(Integer(params, "handle", 0, 0, INT64_MAX));
  const std::string set = String(params, "set");
  const std::vector<at::Tensor>& inputs = SetOf(set);
  const runner::UniqueFd file = Descriptor(message, "outputs");
  DeviceTimer timer(loaded().device);
  Restore(set);
  Seed();
  const Sample sample = Take(form, inputs, 1, loaded().device, timer);
  absl::StatusOr<int64_t> bytes = WriteOutputs(file.get(), ToHost(sample.outputs, /*copy=*/false));
  Restore(set);
  Check(bytes.status(), "runtime_fail");
  Json result = {{"duration_ns", sample.host_ns}, {"outputs", sample.outputs.size()}, {"output_bytes", *bytes}};
  if (timer.has_clock()) result["device_ns"] = sample.device_ns;
  return result;
}

Session::Json Session::Pair(const Json& params, runner::Message& message) {
  std::vector<Compiled*> arms;
  for (int64_t handle : Integers(params, "handles", 0, INT64_MAX)) arms.push_back(&compiled(handle));
  if (arms.empty() || arms.size() > 2) Fail("bad_request", "`pair` takes one or two handles");
  const std::string set = String(params, "set");
  const std::vector<at::Tensor>& inputs = SetOf(set);
  const std::vector<int64_t> order = Integers(params, "order", 0, static_cast<int64_t>(arms.size()) - 1);
  const std::vector<int64_t> batch =
      params.contains("batch") ? Integers(params, "batch", 1, 1'000'000) : std::vector<int64_t>(arms.size(), 1);
  if (batch.size() != arms.size()) Fail("bad_request", "`batch` has not one number for each handle");
  const bool mutates = !loaded().inputs.mutated().empty();
  if (mutates && std::any_of(batch.begin(), batch.end(), [](int64_t calls) { return calls != 1; })) {
    Fail("bad_request", "the graph changes its parameters: `batch` must be 1");
  }
  bool cold = false;
  if (const json::value* given = params.if_contains("cold")) {
    if (!given->is_bool()) Fail("bad_request", "`cold` is true or false");
    cold = given->get_bool();
  }
  if (cold && cold_ == nullptr) cold_ = std::make_unique<ColdCaches>(loaded().device);
  const int64_t budget = Integer(params, "budget_ns", 0, 0, INT64_MAX);
  const int64_t keep = Integer(params, "keep", -1, 0, static_cast<int64_t>(order.size()) - 1);
  runner::UniqueFd file;
  if (keep >= 0) file = Descriptor(message, "outputs");

  DeviceTimer timer(loaded().device);
  std::vector<int64_t> host_ns, device_ns;
  host_ns.reserve(order.size());
  device_ns.reserve(order.size());
  std::vector<at::Tensor> kept;
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < order.size(); ++i) {
    if (budget > 0 && i > 0 && i % 2 == 0 && Since(start) >= budget) break;
    if (mutates) Restore(set);
    Seed();
    if (cold) cold_->Sweep();
    Sample sample = Take(*arms[order[i]], inputs, batch[order[i]], loaded().device, timer);
    host_ns.push_back(sample.host_ns);
    device_ns.push_back(sample.device_ns);
    // A copy only where the next call may write to the same memory.
    if (static_cast<int64_t>(i) == keep) kept = ToHost(sample.outputs, mutates);
  }
  const int64_t wall_ns = Since(start);
  Restore(set);
  // Without tensors where the budget ended before that sample.
  if (file.valid()) Check(WriteOutputs(file.get(), kept).status(), "runtime_fail");
  Json result = {{"samples_ns", json::array(host_ns.begin(), host_ns.end())}, {"wall_ns", wall_ns}, {"recompiles", 0}};
  if (timer.has_clock()) result["device_ns"] = json::array(device_ns.begin(), device_ns.end());
  return result;
}

Session::Json Session::Artifact(const Json& params, runner::Message& message) {
  Compiled& form = compiled(Integer(params, "handle", 0, 0, INT64_MAX));
  const std::string name = String(params, "name");
  if (name != kArtifact) Fail("bad_request", graph::Cat("there is no artifact \"", name, "\"; there is ", kArtifact));
  const runner::UniqueFd file = Descriptor(message, "file");
  const std::string text = form.Text();
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::pwrite(file.get(), text.data() + written, text.size() - written, static_cast<off_t>(written));
    if (n <= 0) Fail("internal", "the artifact's file cannot be written");
    written += static_cast<size_t>(n);
  }
  return {{"bytes", text.size()}};
}

Session::Json Session::Profile(const Json& params) {
  Compiled& form = compiled(Integer(params, "handle", 0, 0, INT64_MAX));
  const std::string set = String(params, "set");
  const std::vector<at::Tensor>& inputs = SetOf(set);
  std::map<std::string, std::pair<int64_t, int64_t>> events;
  Restore(set);
  Seed();
  const c10::Device device = loaded().device;
  const bool profiled = form.Profile(inputs, [&](const Instruction& instruction, int64_t nanoseconds) {
    auto& [calls, total] = events[instruction.name()];
    ++calls;
    total += nanoseconds;
  });
  Synchronize(device);
  Restore(set);
  if (!profiled) Fail("unsupported", "only eager has a profile");
  std::vector<std::pair<std::string, std::pair<int64_t, int64_t>>> sorted(events.begin(), events.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.second > b.second.second; });
  json::array result;
  for (const auto& [name, event] : sorted)
    result.push_back({{"name", name}, {"calls", event.first}, {"total_ns", event.second}});
  return {{"events", std::move(result)}};
}

Session::Json Session::Release(const Json& params) {
  const int64_t handle = Integer(params, "handle", 0, 0, INT64_MAX);
  compiled(handle);
  compiled_.erase(handle);
  return {};
}

}  // namespace assay::torch_runner
