#include "runner/pjrt/service.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <utility>

#include "graph/canonical.h"
#include "graph/parse.h"
#include "graph/stablehlo_parser.h"
#include "graph/text.h"
#include "runner/memory_file.h"
#include "runner/pjrt/params.h"
#include "runner/pjrt/status.h"

namespace assay::pjrt {
namespace {

using graph::Cat;
namespace json = boost::json;

constexpr std::string_view kBadRequest = "bad_request";
constexpr std::string_view kUnsupported = "unsupported";
constexpr std::string_view kLoadFail = "load_fail";
constexpr std::string_view kCompileFail = "compile_fail";
constexpr std::string_view kRuntimeFail = "runtime_fail";
constexpr std::string_view kOutOfMemory = "out_of_memory";
constexpr std::string_view kInternal = "internal";

constexpr std::string_view kStableHlo = "stablehlo.mlir";
constexpr std::string_view kOptimisedHlo = "optimised.hlo.pb";
constexpr std::string_view kOptimisedText = "optimised.hlo.txt";

constexpr int64_t kLongestBatch = 1 << 20;

// Starts the count of the peak anew, where the kernel lets a process do it; else the peak is that of its whole life.
void ResetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

int64_t PeakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * int64_t{1024};
}

absl::Status WriteText(int fd, std::string_view text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::InternalError(Cat("cannot write the artifact: ", strerror(errno)));
    done += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Service::Serve(runner::Channel& channel) {
  for (;;) {
    absl::StatusOr<runner::Message> message = channel.Read();
    if (absl::IsOutOfRange(message.status())) return absl::OkStatus();
    if (!message.ok()) return message.status();
    json::object reply;
    if (const json::value* id = message->json.if_contains("id")) reply["id"] = *id;
    const json::value* method = message->json.if_contains("method");
    const bool closing = method != nullptr && method->is_string() && method->get_string() == "close";
    Reply answer = closing ? Reply(json::object()) : Answer(*message);
    if (auto* result = std::get_if<json::object>(&answer)) {
      reply["result"] = std::move(*result);
    } else {
      const auto& error = std::get<Error>(answer);
      reply["error"] = {{"class", error.error_class}, {"message", error.message}};
    }
    absl::Status status = channel.Write(reply);
    if (!status.ok() || closing) return status;
  }
}

Service::Reply Service::Failure(const absl::Status& status, std::string_view otherwise) {
  const std::string_view error_class = absl::IsResourceExhausted(status) ? kOutOfMemory : otherwise;
  return Error{error_class, std::string(Said(status))};
}

Service::Reply Service::Answer(runner::Message& message) {
  const json::value* method = message.json.if_contains("method");
  if (method == nullptr || !method->is_string()) return Error{kBadRequest, "a request needs the text \"method\""};
  static const json::object kNone;
  const json::value* given = message.json.if_contains("params");
  if (given != nullptr && !given->is_object()) return Error{kBadRequest, "\"params\" must be an object"};
  const json::object& params = given == nullptr ? kNone : given->get_object();

  const std::string_view name = method->get_string();
  if (name != "describe" && target_ == nullptr && name != "load") {
    return Error{kBadRequest, Cat("`", name, "` needs a graph: send `load` first")};
  }
  if (name == "describe") return Describe();
  if (name == "load") return Load(params, message);
  if (name == "inputs") return AddInputs(params, message);
  if (name == "lower") return Lower(message);
  if (name == "compile") return Compile(params);
  if (name == "run") return Run(params, message);
  if (name == "pair") return Pair(params, message);
  if (name == "artifact") return Artifact(params, message);
  if (name == "release") return Release(params);
  return Error{kBadRequest, Cat("this runner has no method ", name)};
}

Service::Reply Service::Describe() {
  // A topology that this version of the plug-in does not have is left out.
  json::array devices;
  absl::Status missing;
  for (const TargetConfig& config : configs_) {
    std::unique_ptr<Target> another;
    if (target_ == nullptr || config.topology) {
      absl::StatusOr<std::unique_ptr<Target>> target = Target::Open(plugin_.get(), config, 0);
      if (!target.ok()) {
        missing.Update(target.status());
        std::cerr << Said(target.status()) << "\n";
        continue;
      }
      (target_ == nullptr ? target_ : another) = *std::move(target);
    }
    for (const TargetDevice& device : (another ? *another : *target_).devices()) {
      devices.push_back(json::object{{"kind", device.kind},
                                     {"id", device.id},
                                     {"model", device.model},
                                     {"uuid", device.uuid},
                                     {"memory_bytes", device.memory_bytes}});
    }
  }
  if (target_ == nullptr) return Failure(missing, kInternal);
  absl::StatusOr<std::string> build = plugin_->Build();
  if (!build.ok()) return Failure(build.status(), kInternal);
  json::array methods{"describe", "load", "inputs", "compile", "artifact", "release", "close"};
  if (target_->client() != nullptr) {
    methods.push_back("run");
    methods.push_back("pair");
  }
  std::string lowering;
  if (lowering_.configured()) {
    absl::StatusOr<std::string> lowers = lowering_.Version();
    if (!lowers.ok()) return Failure(lowers.status(), kInternal);
    lowering = Cat(*lowers, " for ", target_->platform());
    methods.push_back("lower");
  }
  const std::string version = Cat("pjrt-", plugin_->api_version(), "+stablehlo-", plugin_->stablehlo_version());
  return json::object{
      {"protocol", 1},
      {"name", "pjrt"},
      {"version", version},
      {"build", *build},
      {"fork", false},
      {"cold_caches", target_->client() != nullptr && target_->platform() == "cpu"},
      {"methods", std::move(methods)},
      {"compilers", json::array{json::object{{"name", "xla"},
                                             {"version", version},
                                             {"baseline", "torch/eager"},
                                             {"options", OptionsSchema(target_->platform(), plugin_->api_minor())}}}},
      {"devices", std::move(devices)},
      {"clocks", json::array{"host"}},
      {"lowering", lowering},
      {"graphs", json::array{graph::kTorchFramework, graph::kStableHloFramework}},
      {"platform",
       {{"name", target_->platform()},
        {"version", target_->platform_version()},
        {"pjrt_api", plugin_->api_version()},
        {"stablehlo", plugin_->stablehlo_version()}}},
  };
}

// Makes `target_` the one that has the device, and `device_` its number there.
absl::Status Service::OpenTarget(const std::string& device, int threads) {
  const auto find = [&] {
    device_ = -1;
    for (size_t i = 0; i < target_->devices().size(); ++i) {
      if (target_->devices()[i].id == device) device_ = static_cast<int>(i);
    }
    return device_ >= 0;
  };
  if (target_ != nullptr && target_->threads() == threads && find()) return absl::OkStatus();
  for (const TargetConfig& config : configs_) {
    if (config.topology && !device.ends_with(Cat(":", config.name()))) continue;
    target_.reset();
    absl::StatusOr<std::unique_ptr<Target>> target = Target::Open(plugin_.get(), config, threads);
    if (!target.ok()) return target.status();
    target_ = *std::move(target);
    if (find()) return absl::OkStatus();
  }
  return absl::NotFoundError(Cat("this runner has no device ", device, "; `describe` lists its devices"));
}

Service::Reply Service::Load(const json::object& params, runner::Message& message) {
  const int64_t start = NowNs();
  const json::value* graph_value = params.if_contains("graph");
  if (graph_value == nullptr || !graph_value->is_object()) return Error{kBadRequest, "`load` needs \"graph\""};
  absl::StatusOr<std::string> model = Text(graph_value->get_object(), "model");
  if (!model.ok()) return Failure(model.status(), kBadRequest);
  absl::StatusOr<std::string> device = Text(params, "device");
  if (!device.ok()) return Failure(device.status(), kBadRequest);
  int64_t threads = 0;
  if (params.contains("threads")) {
    absl::StatusOr<int64_t> given = Integer(params, "threads");
    if (!given.ok()) return Failure(given.status(), kBadRequest);
    threads = *given;
  }
  runner::UniqueFd tensors = message.TakeFd("tensors");
  if (!tensors.valid()) return Error{kBadRequest, "`load` needs the descriptor \"tensors\""};

  const json::value* kind = graph_value->get_object().if_contains("kind");
  const bool stablehlo = kind != nullptr && *kind == graph::kStableHloFramework;
  if (kind != nullptr && !stablehlo && *kind != graph::kTorchFramework) {
    return Error{kUnsupported,
                 Cat("this runner has no graphs of the kind ", json::serialize(*kind), "; it has torch and stablehlo")};
  }
  absl::StatusOr<graph::Graph> graph = stablehlo ? graph::ParseStableHloText(*model, {}) : graph::ParseModel(*model);
  if (!graph.ok()) return Failure(graph.status(), kLoadFail);
  absl::StatusOr<Inputs> inputs = Inputs::Make(*graph, std::move(tensors));
  if (!inputs.ok()) return Failure(inputs.status(), kLoadFail);

  compiled_.clear();
  inputs_.reset();
  lowered_.reset();
  absl::Status opened = OpenTarget(*device, static_cast<int>(threads));
  if (absl::IsNotFound(opened)) return Failure(opened, kUnsupported);
  if (!opened.ok()) return Failure(opened, kLoadFail);
  // Printed again: the lowering traces on the host, whatever the device is.
  model_ = graph::CanonicalModel(*graph, "cpu");
  if (stablehlo) {
    lowered_.emplace(Lowered{model_, {}, {}, /*cached=*/true});
    for (size_t i = 0; i < graph->parameters.size(); ++i) lowered_->arguments.push_back(static_cast<int>(i));
    lowering_ns_ = 0;
  }
  inputs_.emplace(*std::move(inputs));
  // A program leaves its arguments as they are.
  return json::object{{"load_ns", NowNs() - start}, {"mutated", json::array()}};
}

Service::Reply Service::AddInputs(const json::object& params, runner::Message& message) {
  if (!inputs_) return Error{kBadRequest, "`inputs` needs a graph: send `load` first"};
  absl::StatusOr<std::string> set = Text(params, "set");
  if (!set.ok()) return Failure(set.status(), kBadRequest);
  runner::UniqueFd tensors = message.TakeFd("tensors");
  if (!tensors.valid()) return Error{kBadRequest, "`inputs` needs the descriptor \"tensors\""};
  absl::Status status = inputs_->AddSet(*set, std::move(tensors));
  if (!status.ok()) return Failure(status, kBadRequest);
  return json::object();
}

absl::Status Service::LowerGraph(std::string_view kept, std::string* keep) {
  if (lowered_) return absl::OkStatus();
  const int64_t start = NowNs();
  absl::StatusOr<Lowered> lowered = lowering_.Lower(model_, inputs_->parameters(), target_->platform(), kept, keep);
  if (!lowered.ok()) return lowered.status();
  lowered_ = *std::move(lowered);
  lowering_ns_ = NowNs() - start;
  return absl::OkStatus();
}

Service::Reply Service::Lower(runner::Message& message) {
  if (!inputs_) return Error{kBadRequest, "`lower` needs a graph: send `load` first"};
  std::string_view kept;
  runner::Mapping mapping;
  if (const runner::UniqueFd file = message.TakeFd("kept"); file.valid()) {
    absl::StatusOr<runner::Mapping> mapped = runner::MapPrivate(file.get());
    if (!mapped.ok()) return Failure(mapped.status(), kBadRequest);
    mapping = *std::move(mapped);
    kept = {reinterpret_cast<const char*>(mapping.bytes().data()), mapping.bytes().size()};
  }
  std::string keep;
  const absl::Status status = LowerGraph(kept, &keep);
  if (const runner::UniqueFd file = message.TakeFd("keep"); file.valid()) {
    absl::Status written = WriteText(file.get(), keep);
    if (!written.ok()) return Failure(written, kInternal);
  }
  if (absl::IsFailedPrecondition(status)) return Failure(status, kInternal);
  if (!status.ok()) return Failure(status, kCompileFail);
  return json::object{{"lower_ns", lowering_ns_}, {"cached", lowered_->cached}};
}

Service::Reply Service::Compile(const json::object& params) {
  if (!inputs_) return Error{kBadRequest, "`compile` needs a graph: send `load` first"};
  absl::StatusOr<std::string> compiler = Text(params, "compiler");
  if (!compiler.ok()) return Failure(compiler.status(), kBadRequest);
  if (*compiler != "xla") return Error{kUnsupported, Cat("this runner has the compiler xla only, not ", *compiler)};
  static const json::object kNone;
  const json::value* given = params.if_contains("options");
  if (given != nullptr && !given->is_object()) return Error{kBadRequest, "\"options\" must be an object"};
  absl::StatusOr<std::vector<Override>> overrides =
      ParseOptions(given == nullptr ? kNone : given->get_object(), target_->platform(), plugin_->api_minor());
  if (!overrides.ok()) return Failure(overrides.status(), kUnsupported);

  absl::Status status = LowerGraph({}, nullptr);
  if (absl::IsFailedPrecondition(status)) return Failure(status, kInternal);
  if (!status.ok()) return Failure(status, kCompileFail);

  ResetPeakMemory();
  absl::StatusOr<CompiledProgram> compiled =
      target_->Compile(lowered_->stablehlo, CompileOptions(*overrides, target_->client() == nullptr ? -1 : device_));
  if (!compiled.ok()) return Failure(compiled.status(), kCompileFail);
  const int64_t peak = PeakMemoryBytes();

  const ProgramFacts& facts = compiled->facts;
  json::array artifacts;
  artifacts.push_back(json::object{{"name", kStableHlo}, {"bytes", lowered_->stablehlo.size()}});
  if (!facts.optimised_hlo.empty()) {
    artifacts.push_back(json::object{{"name", kOptimisedHlo}, {"bytes", facts.optimised_hlo.size()}});
    if (lowering_.configured()) artifacts.push_back(json::object{{"name", kOptimisedText}});
  }
  json::object result{{"handle", next_handle_},      {"compile_ns", compiled->compile_ns},
                      {"peak_memory_bytes", peak},   {"artifacts", std::move(artifacts)},
                      {"lowering_ns", lowering_ns_}, {"lowering_cached", lowered_->cached}};
  if (facts.executable_bytes) result["executable_bytes"] = *facts.executable_bytes;
  if (facts.code_bytes) result["code_bytes"] = *facts.code_bytes;
  if (!facts.memory.empty()) result["memory"] = json::value_from(facts.memory);
  // The compiler's own estimates: never measurements.
  if (!facts.cost.empty()) result["cost_estimate"] = json::value_from(facts.cost);
  compiled_.emplace(next_handle_++, *std::move(compiled));
  return result;
}

absl::StatusOr<CompiledProgram*> Service::Find(int64_t handle) {
  const auto found = compiled_.find(handle);
  if (found == compiled_.end()) return absl::NotFoundError(Cat("there is no handle ", handle));
  return &found->second;
}

absl::StatusOr<const Program*> Service::FindProgram(int64_t handle) {
  absl::StatusOr<CompiledProgram*> compiled = Find(handle);
  if (!compiled.ok()) return compiled.status();
  if ((*compiled)->program == nullptr) {
    return absl::UnimplementedError("this target is a topology: its programs are compiled, not run");
  }
  return (*compiled)->program.get();
}

absl::StatusOr<std::vector<PJRT_Buffer*>> Service::ArgumentsOf(std::string_view set) {
  return inputs_->Arguments(*target_->client(), device_, set, lowered_->arguments, lowered_->constants);
}

Service::Reply Service::ArgumentFailure(const absl::Status& status) {
  if (absl::IsNotFound(status)) return Failure(status, kBadRequest);
  if (absl::IsFailedPrecondition(status)) return Failure(status, kUnsupported);
  return Failure(status, kRuntimeFail);
}

absl::StatusOr<int64_t> Service::WriteOutputs(const std::vector<Buffer>& outputs, int fd) {
  std::vector<HostTensor> tensors;
  std::vector<graph::TensorSpec> specs;
  for (const Buffer& output : outputs) {
    absl::StatusOr<HostTensor> tensor = target_->client()->Download(output);
    if (!tensor.ok()) return tensor.status();
    specs.push_back({std::to_string(specs.size()), tensor->dtype, tensor->shape});
    tensors.push_back(*std::move(tensor));
  }
  int64_t bytes = 0;
  std::vector<std::span<const std::byte>> data;
  for (const HostTensor& tensor : tensors) {
    data.push_back(std::as_bytes(std::span(tensor.bytes)));
    bytes += static_cast<int64_t>(tensor.bytes.size());
  }
  absl::Status status = runner::WriteTensors(fd, graph::PlanTensors(specs), data);
  if (!status.ok()) return status;
  return bytes;
}

Service::Reply Service::Run(const json::object& params, runner::Message& message) {
  absl::StatusOr<int64_t> handle = Integer(params, "handle");
  if (!handle.ok()) return Failure(handle.status(), kBadRequest);
  absl::StatusOr<std::string> set = Text(params, "set");
  if (!set.ok()) return Failure(set.status(), kBadRequest);
  const runner::UniqueFd file = message.TakeFd("outputs");
  if (!file.valid()) return Error{kBadRequest, "`run` needs the descriptor \"outputs\""};
  absl::StatusOr<const Program*> program = FindProgram(*handle);
  if (!program.ok()) return Failure(program.status(), kBadRequest);
  absl::StatusOr<std::vector<PJRT_Buffer*>> arguments = ArgumentsOf(*set);
  if (!arguments.ok()) return ArgumentFailure(arguments.status());

  std::vector<Buffer> outputs;
  const int64_t start = NowNs();
  absl::Status status = (*program)->Call(*arguments, true, outputs);
  const int64_t duration = NowNs() - start;
  if (!status.ok()) return Failure(status, kRuntimeFail);
  absl::StatusOr<int64_t> bytes = WriteOutputs(outputs, file.get());
  if (!bytes.ok()) return Failure(bytes.status(), kRuntimeFail);
  return json::object{{"duration_ns", duration}, {"outputs", outputs.size()}, {"output_bytes", *bytes}};
}

Service::Reply Service::Pair(const json::object& params, runner::Message& message) {
  absl::StatusOr<std::vector<int64_t>> handles = Integers(params, "handles", 0, INT64_MAX);
  if (!handles.ok()) return Failure(handles.status(), kBadRequest);
  if (handles->empty() || handles->size() > 2) return Error{kBadRequest, "`pair` takes one or two handles"};
  const auto last_arm = static_cast<int64_t>(handles->size()) - 1;
  absl::StatusOr<std::vector<int64_t>> order = Integers(params, "order", 0, last_arm);
  if (!order.ok()) return Failure(order.status(), kBadRequest);
  absl::StatusOr<std::vector<int64_t>> batch = Integers(params, "batch", 1, kLongestBatch);
  if (!batch.ok()) return Failure(batch.status(), kBadRequest);
  if (batch->size() != handles->size()) return Error{kBadRequest, "\"batch\" must have as many items as \"handles\""};
  absl::StatusOr<int64_t> budget = Integer(params, "budget_ns");
  if (!budget.ok()) return Failure(budget.status(), kBadRequest);
  absl::StatusOr<std::string> set = Text(params, "set");
  if (!set.ok()) return Failure(set.status(), kBadRequest);
  bool cold = false;
  if (const json::value* given = params.if_contains("cold")) {
    if (!given->is_bool()) return Error{kBadRequest, "\"cold\" must be true or false"};
    cold = given->get_bool();
  }
  if (cold && target_->platform() != "cpu") {
    return Error{kUnsupported, "cold caches are had on a CPU only: describe.cold_caches says so"};
  }
  if (cold && cold_ == nullptr) cold_ = std::make_unique<runner::CacheSweep>();
  const runner::UniqueFd file = message.TakeFd("outputs");
  int64_t keep = -1;
  if (const json::value* given = params.if_contains("keep"); given != nullptr && !given->is_null()) {
    if (!given->is_int64() || given->get_int64() < 0 || given->get_int64() >= static_cast<int64_t>(order->size())) {
      return Error{kBadRequest, Cat("\"keep\" must be the number of a sample, below ", order->size())};
    }
    if (!file.valid()) return Error{kBadRequest, "`pair` with \"keep\" needs the descriptor \"outputs\""};
    keep = given->get_int64();
  }
  std::vector<const Program*> programs;
  for (const int64_t handle : *handles) {
    absl::StatusOr<const Program*> program = FindProgram(handle);
    if (!program.ok()) return Failure(program.status(), kBadRequest);
    programs.push_back(*program);
  }
  absl::StatusOr<std::vector<PJRT_Buffer*>> arguments = ArgumentsOf(*set);
  if (!arguments.ok()) return ArgumentFailure(arguments.status());

  // A CPU may run calls that were started one after another at the same time, so there each call is waited for; other
  // devices run them in order, and the last call of a sample stands for all.
  const bool wait_each = target_->platform() == "cpu";
  std::vector<int64_t> samples;
  samples.reserve(order->size());
  std::vector<Buffer> outputs, kept;
  const int64_t start = NowNs();
  for (size_t i = 0; i < order->size(); ++i) {
    if (*budget > 0 && i % 2 == 0 && i > 0 && NowNs() - start >= *budget) break;
    const auto arm = static_cast<size_t>((*order)[i]);
    const Program& program = *programs[arm];
    const int64_t calls = (*batch)[arm];
    absl::Status status;
    if (cold) cold_->Sweep();
    const int64_t begin = NowNs();
    for (int64_t call = 1; call <= calls && status.ok(); ++call) {
      status = program.Call(*arguments, wait_each || call == calls, outputs);
    }
    samples.push_back(NowNs() - begin);
    if (!status.ok()) return Failure(status, kRuntimeFail);
    if (static_cast<int64_t>(i) == keep) kept = std::move(outputs);
    outputs.clear();
  }
  const int64_t wall = NowNs() - start;
  if (keep >= 0) {
    // Without tensors where the budget ended before that sample.
    absl::StatusOr<int64_t> bytes = WriteOutputs(kept, file.get());
    if (!bytes.ok()) return Failure(bytes.status(), kRuntimeFail);
  }
  return json::object{{"samples_ns", json::value_from(samples)}, {"wall_ns", wall}, {"recompiles", 0}};
}

Service::Reply Service::Artifact(const json::object& params, runner::Message& message) {
  absl::StatusOr<int64_t> handle = Integer(params, "handle");
  if (!handle.ok()) return Failure(handle.status(), kBadRequest);
  absl::StatusOr<std::string> name = Text(params, "name");
  if (!name.ok()) return Failure(name.status(), kBadRequest);
  const runner::UniqueFd file = message.TakeFd("file");
  if (!file.valid()) return Error{kBadRequest, "`artifact` needs the descriptor \"file\""};
  absl::StatusOr<CompiledProgram*> compiled = Find(*handle);
  if (!compiled.ok()) return Failure(compiled.status(), kBadRequest);
  std::string made;
  std::string_view text;
  if (*name == kStableHlo) {
    text = lowered_->stablehlo;
  } else if (*name == kOptimisedHlo && !(*compiled)->facts.optimised_hlo.empty()) {
    text = (*compiled)->facts.optimised_hlo;
  } else if (*name == kOptimisedText && !(*compiled)->facts.optimised_hlo.empty() && lowering_.configured()) {
    absl::StatusOr<std::string> printed = lowering_.HloText((*compiled)->facts.optimised_hlo);
    if (!printed.ok()) return Failure(printed.status(), kInternal);
    made = *std::move(printed);
    text = made;
  } else {
    return Error{kBadRequest, Cat("the handle ", *handle, " has no artifact ", *name)};
  }
  absl::Status status = WriteText(file.get(), text);
  if (!status.ok()) return Failure(status, kInternal);
  return json::object{{"bytes", text.size()}};
}

Service::Reply Service::Release(const json::object& params) {
  absl::StatusOr<int64_t> handle = Integer(params, "handle");
  if (!handle.ok()) return Failure(handle.status(), kBadRequest);
  if (compiled_.erase(*handle) == 0) return Error{kBadRequest, Cat("there is no handle ", *handle)};
  return json::object();
}

}  // namespace assay::pjrt
