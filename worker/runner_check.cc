#include "worker/runner_check.h"

#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <optional>

#include "fmt/format.h"
#include "graph/canonical.h"
#include "graph/parse.h"
#include "worker/environment.h"
#include "worker/input_set.h"
#include "worker/output_check.h"
#include "worker/runner_pool.h"

namespace assay::worker {
namespace {

namespace json = boost::json;

constexpr double kSeconds = 300;

graph::Sample SmallSample() {
  graph::Sample sample;
  sample.model =
      "import torch\n\nclass GraphModule(torch.nn.Module):\n"
      "    def forward(self, L_x_ : torch.Tensor, L_w_ : torch.nn.parameter.Parameter):\n"
      "        relu = torch.nn.functional.relu(L_x_)\n"
      "        add = relu + L_w_\n"
      "        return (add,)\n";
  for (const char* name : {"L_x_", "L_w_"}) {
    sample.weight_meta += fmt::format(
        "class Program_weight_tensor_meta_{0}:\n    name = \"{0}\"\n    shape = [4, 8]\n"
        "    dtype = \"torch.float32\"\n    device = \"cpu\"\n    mean = 0.0\n    std = 1.0\n    data = None\n\n",
        name);
  }
  sample.info = "{\"framework\": \"torch\"}";
  return sample;
}

class Check {
 public:
  Check(const RunnerConfig& runner, const Config& config) : config_(config), pool_(io_, config) {
    known_.config = runner;
  }

  std::vector<CheckResult> Run() {
    // What another runner lowers for is left out: that one is not here.
    if (Describe() && StartTrial() && WrongRequests() && Load() && Lower() && LowerForOthers()) {
      for (const v1::Compiler& compiler : known_.offer.compilers()) {
        if (!known_.lowered_by.contains(compiler.name()) && !Compiler(compiler.name())) break;
      }
    }
    if (process_ && process_->alive()) End();
    return std::move(results_);
  }

 private:
  bool Note(std::string what, bool passed, std::string message = "") {
    results_.push_back({std::move(what), passed, passed ? "" : std::move(message)});
    return passed;
  }

  static Clock::time_point Limit() { return Clock::now() + std::chrono::seconds(static_cast<int>(kSeconds)); }

  bool Describe() {
    absl::StatusOr<KnownRunner> known = pool_.Describe(known_.config, {});
    if (!Note("describe", known.ok(), std::string(known.status().message()))) return false;
    known_ = *std::move(known);
    return Note("describe: a device", !known_.devices.empty(), "devices must name at least one");
  }

  bool StartTrial() {
    absl::StatusOr<TrialProcess> started = pool_.Start(known_, MemoryLimitOf(config_), {});
    if (!Note(known_.forks ? "fork" : "start", started.ok(), std::string(started.status().message()))) return false;
    process_ = started->process;
    return true;
  }

  // An error reply to `method`, after which the runner goes on.
  bool Refuses(std::string what, std::string_view method, json::object params) {
    Outcome<Reply> reply = process_->Call(method, std::move(params), {}, Limit());
    const bool refused = !reply.ok() && reply.failure().kind == CallFailure::Kind::kError;
    return Note(what, refused,
                reply.ok() ? "it was answered with a result; an error is wanted" : reply.failure().message) ||
           process_->alive();
  }

  bool WrongRequests() {
    return Refuses("an unknown method is an error", "no_such_method", {}) &&
           Refuses("compile before load is an error", "compile",
                   {{"compiler", known_.offer.compilers(0).name()}, {"options", json::object()}});
  }

  bool Load() {
    absl::StatusOr<graph::Graph> graph = graph::Parse(SmallSample());
    if (!Note("the graph of the check", graph.ok(), std::string(graph.status().message()))) return false;
    absl::StatusOr<std::string> seed = NewSecretSeed();
    absl::StatusOr<InputSets> inputs =
        ReplayInputs(*graph, graph::Hash(*graph), seed.ok() ? *seed : "seed", graph::ReplayMode::kAssay, /*threads=*/1);
    if (!Note("the tensors of the check", inputs.ok(), std::string(inputs.status().message()))) return false;
    const v1::Device& device = known_.devices[0];
    Outcome<Reply> loaded = process_->Call(
        "load",
        {{"graph", {{"hash", graph::Hash(*graph)}, {"model", graph::CanonicalModel(*graph, device.kind())}}},
         {"device", device.id()},
         {"threads", 1}},
        {{"tensors", inputs->public_set.fd()}}, Limit());
    if (!Note("load", loaded.ok(), loaded.failure().message)) return false;
    Note("load: load_ns and mutated",
         loaded->result.contains("load_ns") && loaded->result.contains("mutated") &&
             loaded->result.at("mutated").is_array(),
         "the result must have load_ns and the list mutated");
    Outcome<Reply> sent = process_->Call("inputs", {{"set", "s1"}}, {{"tensors", inputs->secret_set.fd()}}, Limit());
    if (!Note("inputs", sent.ok(), sent.failure().message)) return false;
    return Refuses("an unknown compiler is an error", "compile",
                   {{"compiler", "no such compiler"}, {"options", json::object()}}) &&
           Refuses("an unknown option is an error", "compile",
                   {{"compiler", known_.offer.compilers(0).name()}, {"options", {{"no_such_option", 1}}}}) &&
           Refuses("run of an unknown handle is an error", "run", {{"handle", 4711}, {"set", "public"}});
  }

  bool Lower() {
    if (!known_.lowers) return true;
    absl::StatusOr<runner::MemoryFile> keep = runner::MemoryFile::Create("assay-keep");
    if (!keep.ok()) return Note("lower", false, std::string(keep.status().message()));
    Outcome<Reply> lowered = process_->Call("lower", {}, {{"keep", keep->fd()}}, Limit());
    if (!Note("lower", lowered.ok(), lowered.failure().message)) return process_->alive();
    const json::value* time = lowered->result.if_contains("lower_ns");
    return Note("lower: lower_ns", time && time->is_int64() && time->get_int64() >= 0,
                "must be an integer of 0 or more") ||
           process_->alive();
  }

  bool LowerForOthers() {
    for (const v1::Compiler& compiler : known_.lowers_for) {
      const std::string what = fmt::format("lower for {}", compiler.name());
      absl::StatusOr<runner::MemoryFile> keep = runner::MemoryFile::Create("assay-keep");
      if (!keep.ok()) return Note(what, false, std::string(keep.status().message()));
      Outcome<Reply> lowered = process_->Call("lower", {{"compiler", compiler.name()}, {"options", json::object()}},
                                              {{"keep", keep->fd()}}, Limit());
      if (!Note(what, lowered.ok(), lowered.failure().message)) {
        if (!process_->alive()) return false;
        continue;
      }
      struct stat info {};
      Note(what + ": it wrote something", ::fstat(keep->fd(), &info) == 0 && info.st_size > 0, "`keep` is empty");
      const json::value* time = lowered->result.if_contains("lower_ns");
      Note(what + ": lower_ns", time && time->is_int64() && time->get_int64() >= 0, "must be an integer of 0 or more");
    }
    return true;
  }

  std::optional<runner::TensorBytes> RunOnce(const std::string& compiler, int64_t handle, const std::string& set) {
    absl::StatusOr<runner::MemoryFile> file = runner::MemoryFile::Create("assay-outputs");
    if (!file.ok()) return std::nullopt;
    Outcome<Reply> ran = process_->Call("run", {{"handle", handle}, {"set", set}}, {{"outputs", file->fd()}}, Limit());
    if (!Note(fmt::format("{}: run on {}", compiler, set), ran.ok(), ran.failure().message)) return std::nullopt;
    const json::value* outputs = ran->result.if_contains("outputs");
    const json::value* duration = ran->result.if_contains("duration_ns");
    Note(fmt::format("{}: run: duration_ns", compiler),
         duration && duration->is_int64() && duration->get_int64() > 0 && duration->get_int64() <= ran->wall_ns,
         "must be an integer above 0 and no longer than the request took");
    absl::StatusOr<runner::TensorBytes> tensors =
        ReadOutputs(file->fd(), outputs && outputs->is_int64() ? outputs->get_int64() : -1, 1 << 20);
    if (!Note(fmt::format("{}: run: outputs", compiler), tensors.ok(), std::string(tensors.status().message()))) {
      return std::nullopt;
    }
    return *std::move(tensors);
  }

  bool Compiler(const std::string& name) {
    Outcome<Reply> compiled = process_->Call("compile", {{"compiler", name}, {"options", json::object()}}, {}, Limit());
    if (!Note(fmt::format("{}: compile", name), compiled.ok(), compiled.failure().message)) return process_->alive();
    const json::value* handle = compiled->result.if_contains("handle");
    if (!Note(fmt::format("{}: compile: handle", name), handle && handle->is_int64(), "must be an integer"))
      return true;
    const int64_t number = handle->get_int64();
    if (!known_.offer.compiles_only() && !Runs(name, number)) return process_->alive();
    Outcome<Reply> released = process_->Call("release", {{"handle", number}}, {}, Limit());
    Note(fmt::format("{}: release", name), released.ok(), released.failure().message);
    return process_->alive();
  }

  // False where the compiled form cannot be used any more.
  bool Runs(const std::string& name, int64_t number) {
    std::optional<runner::TensorBytes> first = RunOnce(name, number, "public");
    std::optional<runner::TensorBytes> again = RunOnce(name, number, "public");
    std::optional<runner::TensorBytes> secret = RunOnce(name, number, "s1");
    if (!first || !again || !secret) return false;
    Note(fmt::format("{}: each run starts from fresh inputs", name), SameBytes(*first, *again),
         "two runs on one input set gave different outputs");
    Note(fmt::format("{}: other inputs give other outputs", name), !SameBytes(*first, *secret),
         "the set s1 gave the outputs of public");
    return !known_.pairs || Pair(name, number, *secret);
  }

  bool Pair(const std::string& name, int64_t handle, const runner::TensorBytes& expected) {
    absl::StatusOr<runner::MemoryFile> file = runner::MemoryFile::Create("assay-outputs");
    if (!file.ok()) return false;
    Outcome<Reply> pair = process_->Call("pair",
                                         {{"handles", json::array{handle, handle}},
                                          {"set", "s1"},
                                          {"order", json::array{0, 1, 1, 0}},
                                          {"batch", json::array{1, 2}},
                                          {"budget_ns", 0},
                                          {"keep", 2}},
                                         {{"outputs", file->fd()}}, Limit());
    if (!Note(fmt::format("{}: pair", name), pair.ok(), pair.failure().message)) return false;
    const json::value* samples = pair->result.if_contains("samples_ns");
    Note(fmt::format("{}: pair: one sample an entry of the order", name),
         samples && samples->is_array() && samples->get_array().size() == 4, "samples_ns must have 4 entries");
    absl::StatusOr<runner::TensorBytes> kept = ReadOutputs(file->fd(), expected.layout.entries.size(), 1 << 20);
    Note(fmt::format("{}: pair: the outputs that are kept", name), kept.ok() && SameBytes(*kept, expected),
         kept.ok() ? "they differ from those of run on the same set" : std::string(kept.status().message()));
    return SpentBudget(name, handle);
  }

  // A budget that is over before the sample that is to be kept.
  bool SpentBudget(const std::string& name, int64_t handle) {
    constexpr int kSamples = 1000;
    absl::StatusOr<runner::MemoryFile> file = runner::MemoryFile::Create("assay-outputs");
    if (!file.ok()) return false;
    Outcome<Reply> pair = process_->Call("pair",
                                         {{"handles", json::array{handle}},
                                          {"set", "s1"},
                                          {"order", json::value_from(std::vector<int>(kSamples, 0))},
                                          {"batch", json::array{1}},
                                          {"budget_ns", 1},
                                          {"keep", kSamples - 1}},
                                         {{"outputs", file->fd()}}, Limit());
    if (!Note(fmt::format("{}: pair: a budget that ends before the sample to keep is no error", name), pair.ok(),
              pair.failure().message)) {
      return false;
    }
    const json::value* samples = pair->result.if_contains("samples_ns");
    const size_t count = samples && samples->is_array() ? samples->get_array().size() : 0;
    return Note(
        fmt::format("{}: pair: stops after its budget", name), count > 0 && count < size_t{kSamples} && count % 2 == 0,
        fmt::format("there are {} samples of {}; an even number, fewer, is wanted after 1 ns", count, kSamples));
  }

  void End() {
    Outcome<Reply> closed = process_->Call("close", {}, {}, Limit());
    Note("close", closed.ok(), closed.failure().message);
  }

  const Config& config_;
  boost::asio::io_context io_;
  RunnerPool pool_;
  KnownRunner known_;
  std::shared_ptr<RunnerProcess> process_;
  std::vector<CheckResult> results_;
};

}  // namespace

std::vector<CheckResult> CheckRunner(const RunnerConfig& runner, const Config& config) {
  return Check(runner, config).Run();
}

}  // namespace assay::worker
