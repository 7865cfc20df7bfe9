// A runner for tests: speaks the protocol, computes 2·x of each floating-point parameter, and misbehaves as the option
// `trick` of its compiler says. The option `steps` makes a call take that many steps of arithmetic instead of a fixed
// time. With --fork it serves as a warm parent; other flags make it fail from the start.

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/safetensors.h"
#include "runner/channel.h"
#include "runner/memory_file.h"
#include "runner/zygote.h"

namespace assay {
namespace {

namespace json = boost::json;
using Tensors = std::map<std::string, std::vector<float>>;

constexpr const char* kTricks[] = {"none",          "compile-error", "compile-unsupported",
                                   "compile-abort", "compile-exit",  "compile-hang",
                                   "run-abort",     "run-exit",      "run-hang",
                                   "run-error",     "run-memory",    "garbage",
                                   "endless-line",  "wrong-id",      "truncate",
                                   "no-output",     "no-tensors",    "wrong-dtype",
                                   "wrong-shape",   "nan",           "inf",
                                   "fewer-outputs", "wrong-value",   "stored-outputs",
                                   "timed-stale",   "pair-abort",    "pair-abort-both",
                                   "pair-lies",     "pair-short",    "leave-process",
                                   "run-lies",      "write-inputs",  "recompiles",
                                   "huge-output",   "close-channel", "slow",
                                   "nearly",        "timed-skip",    "first-outputs",
                                   "moves-time",    "slow-clock",    "artifact-abort",
                                   "pair-memory",   "device-few",    "device-zero",
                                   "device-lies"};

int64_t Now() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

json::object Describe(bool fork) {
  json::array tricks;
  for (const char* trick : kTricks) tricks.emplace_back(trick);
  const json::object options = {
      {"type", "object"},
      {"additionalProperties", false},
      {"properties",
       {{"trick", {{"enum", tricks}}}, {"steps", {{"type", "integer"}, {"minimum", 0}, {"maximum", 1'000'000'000}}}}}};
  json::array compilers;
  for (const char* name : {"eager", "fake"}) {
    compilers.push_back({{"name", name}, {"version", "1"}, {"baseline", "eager"}, {"options", options}});
  }
  return {
      {"protocol", 1},
      {"name", "fake"},
      {"version", "1"},
      {"build", "test"},
      {"fork", fork},
      {"cold_caches", true},
      {"reference", "eager"},
      {"methods", json::array{"describe", "load", "inputs", "compile", "run", "pair", "artifact", "release", "close"}},
      {"compilers", compilers},
      {"devices", {{{"kind", "cpu"}, {"id", "cpu"}, {"model", "test"}, {"uuid", "fake-cpu"}, {"memory_bytes", 0}}}},
      {"clocks", {"host"}}};
}

class Server {
 public:
  explicit Server(runner::Channel channel, bool fork, std::string trick = "none")
      : channel_(std::move(channel)),
        fork_(fork),
        trick_(std::move(trick)),
        lowers_(trick_ == "lower" || trick_ == "lower-error") {}

  int Serve() {
    while (true) {
      absl::StatusOr<runner::Message> request = channel_.Read();
      if (!request.ok()) return absl::IsOutOfRange(request.status()) ? 0 : 1;
      const std::string method(request->json.at("method").as_string());
      json::object reply = {{"id", request->json.at("id")}};
      error_.clear();
      const json::value* given = request->json.if_contains("params");
      const json::object params = given ? given->as_object() : json::object();
      reply["result"] = Answer(method, params, *request);
      if (!error_.empty()) {
        reply.erase("result");
        reply["error"] = {{"class", error_}, {"message", "the fake runner says " + error_ + "\nin two lines"}};
      }
      if (wrong_id_) reply["id"] = 123456;
      if (!channel_.Write(reply).ok()) return 1;
      if (method == "close") return 0;
    }
  }

 private:
  json::object Answer(const std::string& method, const json::object& params, runner::Message& request) {
    if (method == "describe") {
      json::object description = Describe(fork_);
      if (lowers_) {
        description["methods"].as_array().emplace_back("lower");
        description["lowering"] = "greetings 1";
      }
      if (trick_ == "device-clock") description["clocks"].as_array().emplace_back("device");
      if (trick_ == "compile-only") {
        json::array& methods = description["methods"].as_array();
        for (const char* gone : {"run", "pair"})
          methods.erase(std::find(methods.begin(), methods.end(), json::value(gone)));
      }
      const json::object other = {{"name", "elsewhere"},
                                  {"version", "1"},
                                  {"baseline", "eager"},
                                  {"options", {{"type", "object"}, {"additionalProperties", false}}}};
      if (trick_ == "lowered") {
        description["compilers"].as_array().push_back(other);
        description["compilers"].as_array().back().as_object()["lowered_by"] = "helper";
      }
      if (trick_ == "helper") {
        description["name"] = "helper";
        json::object for_others = other;
        for_others["version"] = "1.helper";
        for_others["options"] = description["compilers"].at(0).at("options");
        description["lowers"] = json::array{for_others};
      }
      return description;
    }
    if (method == "lower") return trick_ == "helper" ? LowerForOthers(params, request) : Lower(request);
    if (method == "load" || method == "inputs") return Load(method, params, request);
    if (method == "compile" && params.at("compiler").as_string() == "elsewhere") return CompileLowered(params, request);
    if (method == "compile") return Compile(params);
    if (method == "run") return Run(params, request);
    if (method == "pair") return Pair(params, request);
    if (method == "artifact") return Artifact(params, request);
    if (method != "release" && method != "close") error_ = "bad_request";
    return {};
  }

  json::object Load(const std::string& method, const json::object& params, runner::Message& request) {
    if (method == "load") lock_ = request.TakeFd("lock");
    const runner::UniqueFd fd = request.TakeFd("tensors");
    absl::StatusOr<runner::Mapping> mapping = runner::MapPrivate(fd.get());
    if (!mapping.ok()) {
      error_ = "bad_request";
      return {};
    }
    const std::string set = method == "load" ? "public" : std::string(params.at("set").as_string());
    Tensors tensors = method == "load" ? Tensors() : sets_["public"];
    const std::string_view bytes(reinterpret_cast<const char*>(mapping->bytes().data()), mapping->bytes().size());
    absl::StatusOr<graph::TensorLayout> layout = graph::ReadTensorHeader(bytes, bytes.size());
    if (!layout.ok()) {
      error_ = "load_fail";
      return {};
    }
    if (method == "load")
      wide_ = params.contains("default_dtype") && params.at("default_dtype").as_string() == "float64";
    for (const auto& entry : layout->entries) {
      if (wide_ && entry.spec.dtype == graph::DType::kFloat64) {
        std::vector<double> values(entry.bytes / sizeof(double));
        memcpy(values.data(), bytes.data() + entry.offset, entry.bytes);
        tensors[entry.spec.name].assign(values.begin(), values.end());
      }
      if (wide_ || entry.spec.dtype != graph::DType::kFloat32) continue;
      std::vector<float> values(entry.bytes / sizeof(float));
      memcpy(values.data(), bytes.data() + entry.offset, entry.bytes);
      tensors[entry.spec.name] = std::move(values);
    }
    sets_[set] = std::move(tensors);
    memset(mapping->bytes().data(), 0xff, mapping->bytes().size());  // a private mapping: nobody else may notice
    return {{"load_ns", 1000}, {"mutated", json::array()}};
  }

  json::object Compile(const json::object& params) {
    const std::string compiler(params.at("compiler").as_string());
    if (!sets_.contains("public") || (lowers_ && !lowered_) || (compiler != "eager" && compiler != "fake")) {
      error_ = "bad_request";
      return {};
    }
    const json::object& options = params.at("options").as_object();
    for (const auto& [option, value] : options) {
      if (option != "trick" && option != "steps") error_ = "bad_request";
    }
    std::string trick = trick_;
    if (const json::value* given = options.if_contains("trick")) trick = given->as_string();
    int64_t steps = 0;
    if (const json::value* given = options.if_contains("steps")) steps = given->to_number<int64_t>();
    fprintf(stderr, "compiling with trick %s\n", trick.c_str());
    if (trick == "compile-error") error_ = "compile_fail";
    if (trick == "compile-unsupported") error_ = "unsupported";
    if (trick == "compile-abort") abort();
    if (trick == "compile-exit") _exit(17);
    if (trick == "compile-hang")
      while (true) pause();
    handles_.push_back({trick, steps});
    return {{"handle", static_cast<int64_t>(handles_.size())},
            {"compile_ns", 1000},
            {"peak_memory_bytes", 4096},
            {"executable_bytes", 2048},
            {"memory", {{"temp_bytes", 1024}, {"nonsense", "x"}}},
            {"cost_estimate", {{"flops", 12.5}, {"calls", 3}}},
            {"artifacts", {{{"name", "code.txt"}, {"bytes", 5}}}}};
  }

  // Says on standard error what was kept, and has a greeting kept. `compile` wants to come afterwards.
  json::object Lower(runner::Message& request) {
    char kept[64] = {};
    const runner::UniqueFd file = request.TakeFd("kept"), keep = request.TakeFd("keep");
    const bool cached = file.valid() && ::pread(file.get(), kept, sizeof(kept) - 1, 0) > 0;
    fprintf(stderr, "lowering with '%s'\n", kept);
    if (trick_ == "lower-error") error_ = "compile_fail";
    if (!cached) (void)!::write(keep.get(), "greetings", 9);
    lowered_ = true;
    return {{"lower_ns", 1000}, {"cached", cached}};
  }

  json::object LowerForOthers(const json::object& params, runner::Message& request) {
    const runner::UniqueFd keep = request.TakeFd("keep");
    const json::object& options = params.at("options").as_object();
    const std::string trick(options.contains("trick") ? options.at("trick").as_string() : "none");
    fprintf(stderr, "lowering for %s with trick %s\n", params.at("compiler").as_string().c_str(), trick.c_str());
    if (!sets_.contains("public")) error_ = "bad_request";
    if (trick == "compile-error") error_ = "compile_fail";
    if (trick == "compile-abort") abort();
    if (trick != "no-output") (void)!::write(keep.get(), trick.data(), trick.size());
    return {{"lower_ns", 7'000'000}, {"cached", false}, {"peak_memory_bytes", 8192}};
  }

  // What was lowered is the trick.
  json::object CompileLowered(const json::object& params, runner::Message& request) {
    const runner::UniqueFd file = request.TakeFd("lowered");
    char trick[64] = {};
    if (!file.valid() || ::pread(file.get(), trick, sizeof(trick) - 1, 0) <= 0 ||
        !params.at("options").as_object().empty()) {
      error_ = "bad_request";
      return {};
    }
    return Compile({{"compiler", "fake"}, {"options", {{"trick", trick}}}});
  }

  json::object Artifact(const json::object& params, runner::Message& request) {
    if (FormOf(params.at("handle").as_int64()).trick == "artifact-abort") abort();
    const runner::UniqueFd fd = request.TakeFd("file");
    return {{"bytes", ::write(fd.get(), "hello", 5)}};
  }

  struct Form {
    std::string trick;
    int64_t steps = 0;
    std::vector<std::vector<float>> last = {};  // outputs
  };
  Form& FormOf(int64_t handle) { return handles_.at(handle - 1); }

  // A number of steps, unlike a time, is stretched by whatever disturbs the machine, as real work is.
  void Spend(const Form& form) {
    double value = sink_;
    for (int64_t i = 0; i < form.steps; ++i) value = value * 0.5 + 1;
    sink_ = value;
    const int64_t end = Now() + (form.steps > 0 ? 0 : form.trick == "slow" ? 300'000 : 100'000);
    while (Now() < end) {
    }
  }

  void Work(Form& form, const std::string& set) {
    const std::string& trick = form.trick;
    Spend(form);
    if (trick == "first-outputs" && !form.last.empty()) {
      outputs_ = form.last;
      return;
    }
    outputs_.clear();
    const std::string& source = trick == "stored-outputs" ? "public" : set;
    for (const auto& [name, values] : sets_[source]) {
      std::vector<float> output = values;
      for (float& v : output) v *= 2;
      outputs_.push_back(std::move(output));
    }
    if (outputs_.empty()) return;
    if (trick == "nan") outputs_[0][0] = std::numeric_limits<float>::quiet_NaN();
    if (trick == "inf") outputs_[0][0] = std::numeric_limits<float>::infinity();
    if (trick == "wrong-value") outputs_[0][0] += 1000;
    if (trick == "nearly") outputs_[0][0] += 1e-6F;
    if (trick == "fewer-outputs") outputs_.pop_back();
    if (trick == "write-inputs") {
      for (auto& [name, values] : sets_[set]) std::fill(values.begin(), values.end(), 7.0F);
    }
    form.last = outputs_;
  }

  void Write(const runner::UniqueFd& fd, const std::string& trick) {
    std::vector<graph::TensorSpec> specs;
    std::vector<std::span<const std::byte>> data;
    std::vector<std::vector<double>> wide;
    wide.reserve(outputs_.size());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      graph::TensorSpec spec{std::to_string(i), graph::DType::kFloat32, {static_cast<int64_t>(outputs_[i].size())}};
      if (trick == "wrong-dtype") spec.dtype = graph::DType::kInt32;
      if (trick == "wrong-shape") spec.shape.push_back(1);
      if (wide_) spec.dtype = graph::DType::kFloat64;
      specs.push_back(spec);
      if (wide_) {
        wide.emplace_back(outputs_[i].begin(), outputs_[i].end());
        data.push_back(std::as_bytes(std::span(wide.back())));
      } else {
        data.push_back(std::as_bytes(std::span(outputs_[i])));
      }
    }
    if (trick == "no-output") return;
    if (trick == "no-tensors") {
      (void)!::write(fd.get(), "not tensors at all", 18);
      return;
    }
    (void)runner::WriteTensors(fd.get(), graph::PlanTensors(specs), data);
    if (trick == "truncate") (void)!::ftruncate(fd.get(), 70);
    if (trick == "huge-output") (void)!::ftruncate(fd.get(), int64_t{1} << 45);
  }

  json::object Run(const json::object& params, runner::Message& request) {
    if (params.at("handle").as_int64() > static_cast<int64_t>(handles_.size())) {
      error_ = "bad_request";
      return {};
    }
    Form& form = FormOf(params.at("handle").as_int64());
    const std::string& trick = form.trick;
    if (trick == "run-abort") abort();
    if (trick == "run-exit") _exit(0);
    if (trick == "run-hang")
      while (true) pause();
    if (trick == "run-error") error_ = "runtime_fail";
    if (trick == "run-memory") error_ = "out_of_memory";
    if (trick == "garbage") (void)!::write(channel_.out(), "hello\n", 6);
    if (trick == "wrong-id") wrong_id_ = true;
    if (trick == "endless-line") {
      const std::string piece(1 << 20, 'x');
      while (::write(channel_.out(), piece.data(), piece.size()) > 0) {
      }
    }
    if (trick == "close-channel") {
      ::close(channel_.out());
      while (true) pause();
    }
    if (trick == "leave-process" && ::fork() == 0) {
      setsid();
      while (true) pause();
    }
    const int64_t start = Now();
    Work(form, std::string(params.at("set").as_string()));
    const int64_t duration = trick == "run-lies" ? int64_t{1} << 50 : Now() - start;
    Write(request.TakeFd("outputs"), trick);
    return {{"duration_ns", duration}, {"outputs", outputs_.size()}, {"output_bytes", 0}};
  }

  // `moved`: by arm, what the other arm has hidden there.
  static int64_t TimeToTell(const std::string& trick, int64_t arm, int64_t ns, std::array<int64_t, 2>& moved) {
    if (trick == "pair-lies") return int64_t{1} << 50;
    if (trick == "slow-clock") return 1 + ns / 4;
    if (trick == "moves-time") {
      moved[1 - arm] += ns - ns / 4;
      return 1 + ns / 4;
    }
    return ns + std::exchange(moved[arm], 0);
  }

  json::object Pair(const json::object& params, runner::Message& request) {
    json::array samples;
    const json::array& order = params.at("order").as_array();
    const json::value* keep = params.if_contains("keep");
    const std::string set(params.at("set").as_string());
    const bool cold = params.contains("cold") && params.at("cold").as_bool();
    int recompiles = 0;
    bool both = false, few = false, clock = trick_ == "device-clock";
    json::array device;  // by the clock of a device that is twice as fast
    std::vector<std::vector<float>> kept;
    std::string kept_trick;
    const int64_t wall = Now();
    std::array<int64_t, 2> moved = {0, 0};
    const int64_t budget = trick_ == "no-budget" ? 0 : params.at("budget_ns").as_int64();
    for (size_t i = 0; i < order.size(); ++i) {
      if (budget > 0 && i > 0 && i % 2 == 0 && Now() - wall >= budget) break;
      const int64_t arm = order[i].as_int64();
      Form& form = FormOf(params.at("handles").as_array()[arm].as_int64());
      const std::string& trick = form.trick;
      if (trick == "pair-abort") abort();
      if (trick == "pair-memory") error_ = "out_of_memory";
      both |= trick == "pair-abort-both";
      recompiles += trick == "recompiles";
      const int64_t start = Now();
      if (cold) Spend({"slow"});  // a call with empty caches takes longer
      for (int64_t call = 0; call < params.at("batch").as_array()[arm].as_int64(); ++call) {
        if (trick == "timed-skip") {
          outputs_ = form.last;
        } else {
          Work(form, trick == "timed-stale" ? "public" : set);
        }
      }
      const int64_t told = TimeToTell(trick, arm, Now() - start, moved);
      samples.emplace_back(told);
      clock |= trick.starts_with("device-");
      few |= trick == "device-few";
      device.emplace_back(trick == "device-zero" ? 0 : trick == "device-lies" ? int64_t{1} << 50 : told / 2);
      if (keep && keep->as_int64() == static_cast<int64_t>(i)) {
        kept = outputs_;
        kept_trick = trick;
      }
      if (trick == "pair-short" && i >= 1) break;
    }
    if (both) abort();
    if (few) device.pop_back();
    if (keep) {
      outputs_ = kept;
      Write(request.TakeFd("outputs"), kept_trick);
    }
    json::object result = {{"samples_ns", samples}, {"wall_ns", Now() - wall}, {"recompiles", recompiles}};
    if (clock) result["device_ns"] = device;
    return result;
  }

  runner::Channel channel_;
  bool fork_;
  std::string trick_;  // where the options name none
  bool lowers_, lowered_ = false;
  bool wide_ = false;  // computes in float64
  bool wrong_id_ = false;
  std::string error_;
  runner::UniqueFd lock_;
  std::map<std::string, Tensors> sets_;
  std::vector<Form> handles_;
  double sink_ = 0;
  std::vector<std::vector<float>> outputs_;
};

int Main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  runner::Channel channel(runner::UniqueFd(runner::kRequestFd), runner::UniqueFd(runner::kReplyFd));
  if (mode == "--hang-at-start")
    while (true) pause();
  if (mode == "--exit-at-start") {
    fprintf(stderr, "no such device\n");
    return 3;
  }
  if (mode == "--open-options") {
    json::object description = Describe(false);
    description["compilers"].as_array()[0].as_object()["options"] = {{"type", "object"}};
    (void)channel.Read();
    (void)channel.Write({{"id", 1}, {"result", description}});
    (void)channel.Read();
    return 0;
  }
  if (mode == "--stale") return Server(std::move(channel), false, "stored-outputs").Serve();
  if (mode.starts_with("--lower") || mode == "--helper" || mode == "--compile-only" || mode == "--no-budget" ||
      mode == "--device-clock")
    return Server(std::move(channel), false, mode.substr(2)).Serve();
  if (mode != "--fork") return Server(std::move(channel), false).Serve();
  runner::Zygote zygote{[] { return Describe(true); },
                        [](runner::Channel child) { return Server(std::move(child), true).Serve(); }};
  return runner::Serve(std::move(zygote), std::move(channel)).ok() ? 0 : 1;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::Main(argc, argv); }
