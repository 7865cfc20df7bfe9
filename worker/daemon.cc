#include "worker/daemon.h"

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "fmt/format.h"
#include "google/protobuf/util/json_util.h"
#include "graph/canonical.h"
#include "graph/sample_folder.h"
#include "spdlog/spdlog.h"
#include "worker/graph_cache.h"
#include "worker/input_set.h"
#include "worker/memory_group.h"
#include "worker/slot.h"
#include "worker/sync_loop.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

// The identity that a worker keeps over restarts.
absl::StatusOr<std::string> WorkerId(const fs::path& state_dir) {
  std::error_code error;
  fs::create_directories(state_dir, error);
  fs::permissions(state_dir, fs::perms::owner_all, error);
  const fs::path file = state_dir / "worker_id";
  std::string id;
  if (std::ifstream(file) >> id && id.size() == 32) return id;
  absl::StatusOr<std::string> random = NewSecretSeed();
  if (!random.ok()) return random.status();
  id = random->substr(0, 32);
  std::ofstream out(file);
  out << id << "\n";
  if (!out.flush()) {
    return absl::PermissionDeniedError(
        fmt::format("the worker's state folder {} cannot be written", state_dir.string()));
  }
  return id;
}

// The devices of all runners, each once.
std::vector<v1::Device> DevicesOf(const std::vector<KnownRunner>& runners) {
  std::vector<v1::Device> devices;
  std::set<std::string> seen;
  for (const KnownRunner& runner : runners) {
    for (const v1::Device& device : runner.devices) {
      if (seen.insert(device.id()).second) devices.push_back(device);
    }
  }
  return devices;
}

// The runners, described, and a slot for each device.
struct Machine {
  // `service` is nullptr where there is none.
  static absl::StatusOr<std::unique_ptr<Machine>> Make(const Config& config, FetchGraph fetch, Service* service,
                                                       std::stop_token stop);
  Machine(const Config& config, Service* service) : lowered(config.state_dir / "lowered", service) {}

  std::vector<std::unique_ptr<Slot>> slots;  // ended first: trials refer to what stands below

  std::unique_ptr<MemoryGroups> groups;  // none where the kernel does not let the worker have them
  std::vector<KnownRunner> runners;
  std::vector<v1::Device> devices;
  Environment environment;
  LoweredStore lowered;
  ~Machine() { slots.clear(); }
};

absl::StatusOr<std::unique_ptr<Machine>> Machine::Make(const Config& config, FetchGraph fetch, Service* service,
                                                       std::stop_token stop) {
  if (absl::Status works = ProbeSandbox(config.sandbox); !works.ok()) return works;
  auto machine = std::make_unique<Machine>(config, service);
  if (absl::StatusOr<std::unique_ptr<MemoryGroups>> groups = MemoryGroups::Prepare(); groups.ok()) {
    machine->groups = *std::move(groups);
  } else {
    spdlog::warn("runners' memory is not limited: {}", std::string(groups.status().message()));
  }
  machine->slots.push_back(std::make_unique<Slot>(config, fetch, machine->lowered, machine->groups.get()));
  absl::StatusOr<std::vector<KnownRunner>> runners = machine->slots[0]->Describe(stop);
  if (!runners.ok()) return runners.status();
  machine->runners = *std::move(runners);
  machine->devices = DevicesOf(machine->runners);
  if (machine->devices.empty()) return absl::FailedPreconditionError("no runner of the configuration has a device");
  machine->environment = CaptureEnvironment(config, machine->groups != nullptr);
  for (v1::Device& device : machine->devices) {
    device.set_machine_hash(ForTrial(machine->environment, device, {}).hash);
  }
  for (size_t i = 0; i < machine->devices.size(); ++i) {
    if (i > 0) machine->slots.push_back(std::make_unique<Slot>(config, fetch, machine->lowered, machine->groups.get()));
    machine->slots[i]->Assign(machine->devices[i], &machine->runners, &machine->environment);
  }
  return machine;
}

boost::json::value ToJson(const google::protobuf::Message& message) {
  std::string text;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  if (!google::protobuf::util::MessageToJsonString(message, &text, options).ok()) return nullptr;
  return boost::json::parse(text);
}

}  // namespace

absl::Status RunDaemon(const Config& config, Service& service) {
  absl::StatusOr<std::string> id = WorkerId(config.state_dir);
  if (!id.ok()) return id.status();
  absl::StatusOr<std::string> incarnation = NewSecretSeed();
  if (!incarnation.ok()) return incarnation.status();

  boost::asio::io_context io;
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  std::stop_source starting;
  std::unique_ptr<SyncLoop> loop;
  std::mutex mutex;  // of `loop`, which is made while signals may come
  boost::asio::steady_timer grace(io);
  int received = 0;
  std::function<void()> wait = [&] {
    signals.async_wait([&](boost::system::error_code error, int signal) {
      if (error) return;
      starting.request_stop();
      std::lock_guard lock(mutex);
      const bool first = received++ == 0;
      if (loop && first && signal == SIGTERM) {
        spdlog::info("finishing what runs for at most {} s", config.drain_seconds);
        loop->Drain();
        grace.expires_after(std::chrono::milliseconds(static_cast<int64_t>(1000 * config.drain_seconds)));
        grace.async_wait([&](boost::system::error_code timer_error) {
          if (!timer_error) loop->Abandon();
        });
      } else if (loop) {
        loop->Abandon();
      }
      wait();
    });
  };
  wait();
  std::jthread signal_thread([&] { io.run(); });
  const auto end_signals = [&] { io.stop(); };

  GraphCache cache(config.state_dir / "graphs", [&](std::string_view hash) { return service.GetGraph(hash); });
  absl::StatusOr<std::unique_ptr<Machine>> machine = Machine::Make(
      config, [&](std::string_view hash) { return cache.Get(hash); }, &service, starting.get_token());
  if (!machine.ok()) {
    end_signals();
    return starting.stop_requested() ? absl::OkStatus() : machine.status();
  }
  Identity identity{
      *id, *incarnation, config.name, kWorkerVersion, std::string(Name(config.sandbox)), (*machine)->devices};
  identity.maximum_calibration_error = config.maximum_calibration_error;
  std::vector<Executor*> executors;
  for (const KnownRunner& runner : (*machine)->runners) identity.runners.push_back(runner.offer);
  for (const std::unique_ptr<Slot>& slot : (*machine)->slots) executors.push_back(slot.get());
  {
    std::lock_guard lock(mutex);
    loop = std::make_unique<SyncLoop>(service, std::move(identity), std::move(executors));
    if (starting.stop_requested()) loop->Abandon();
  }
  spdlog::info("{} runners, {} devices; sandbox {}", (*machine)->runners.size(), (*machine)->devices.size(),
               Name(config.sandbox));
  const absl::Status status = loop->Run();
  end_signals();
  signal_thread.join();
  loop.reset();
  return status;
}

absl::StatusOr<v1::Measurement> RunOneTrial(const Config& config, v1::Assignment assignment,
                                            const std::string& graph_folder) {
  absl::StatusOr<graph::Sample> sample = graph::ReadSampleFolder(graph_folder);
  if (!sample.ok()) return sample.status();
  absl::StatusOr<graph::Graph> parsed = graph::Parse(*sample);
  if (!parsed.ok()) return parsed.status();
  const std::string hash = graph::Hash(*parsed);
  if (assignment.graph_hash().empty()) assignment.set_graph_hash(hash);
  absl::StatusOr<std::unique_ptr<Machine>> machine = Machine::Make(
      config, [&](std::string_view) -> absl::StatusOr<graph::Sample> { return graph::Canonical(*parsed); }, nullptr,
      {});
  if (!machine.ok()) return machine.status();
  const std::string kind = assignment.candidate().device_kind().empty() ? "cpu" : assignment.candidate().device_kind();
  for (const std::unique_ptr<Slot>& slot : (*machine)->slots) {
    const v1::Device& device = slot->device();
    if (device.kind() != kind || (!assignment.device().empty() && device.id() != assignment.device())) continue;
    std::promise<absl::StatusOr<v1::Measurement>> promise;
    slot->Start(
        assignment, {}, [](std::string_view phase) { spdlog::info("{}", phase); },
        [&](absl::StatusOr<v1::Measurement> measurement) { promise.set_value(std::move(measurement)); });
    return promise.get_future().get();
  }
  return absl::NotFoundError(fmt::format("no runner of the configuration has a device of the kind {}", kind));
}

absl::StatusOr<std::string> DescribeWorker(const Config& config) {
  absl::StatusOr<std::unique_ptr<Machine>> machine = Machine::Make(
      config, [](std::string_view) { return absl::StatusOr<graph::Sample>(absl::NotFoundError("no graphs")); }, nullptr,
      {});
  if (!machine.ok()) return machine.status();
  boost::json::array devices, runners;
  for (const v1::Device& device : (*machine)->devices) devices.push_back(ToJson(device));
  for (const KnownRunner& runner : (*machine)->runners) runners.push_back(ToJson(runner.offer));
  return boost::json::serialize(boost::json::object({{"name", config.name},
                                                     {"version", kWorkerVersion},
                                                     {"sandbox", std::string(Name(config.sandbox))},
                                                     {"devices", devices},
                                                     {"runners", runners},
                                                     {"environment_hash", (*machine)->environment.hash},
                                                     {"environment", (*machine)->environment.json}}));
}

}  // namespace assay::worker
