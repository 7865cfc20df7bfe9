#include "runner/pjrt/target.h"

#include <stdlib.h>
#include <sys/sysinfo.h>

#include <charconv>
#include <fstream>
#include <iterator>

#include "graph/text.h"
#include "runner/pjrt/status.h"

namespace assay::pjrt {
namespace {

using graph::Cat;

// What Assay calls a platform.
std::string KindOf(std::string_view platform) {
  if (platform == "gpu" || platform == "CUDA") return "cuda";
  std::string kind(platform);
  for (char& c : kind) c = static_cast<char>(tolower(c));
  return kind;
}

std::string ReadFirstLine(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The host's processors are one device, known by the machine's id.
TargetDevice Host() {
  TargetDevice device{"cpu", "cpu", "", ReadFirstLine("/etc/machine-id")};
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) {
      device.model = line.substr(line.find(':') + 2);
      break;
    }
  }
  struct sysinfo system {};
  if (::sysinfo(&system) == 0) device.memory_bytes = static_cast<int64_t>(system.totalram) * system.mem_unit;
  return device;
}

}  // namespace

absl::Status AddOption(std::string_view text, CreateOptions& options) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return absl::InvalidArgumentError(Cat("an option of the plug-in is NAME=VALUE, not ", text));
  }
  const std::string name(text.substr(0, equals));
  std::string value(text.substr(equals + 1));
  if (value.starts_with('@')) {
    std::ifstream file(value.substr(1), std::ios::binary);
    if (!file)
      return absl::NotFoundError(
          Cat("the option ", name, " names the file ", value.substr(1), ", which cannot be read"));
    options[name] = std::string(std::istreambuf_iterator<char>(file), {});
    return absl::OkStatus();
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value == "true" || value == "false") {
    options[name] = value == "true";
  } else if (error == std::errc() && end == value.data() + value.size()) {
    options[name] = number;
  } else {
    options[name] = value;
  }
  return absl::OkStatus();
}

void PrepareForTopologies() {
  // libtpu would ask a metadata server what it runs on, and lock out a second process.
  setenv("TPU_SKIP_MDS_QUERY", "1", 0);
  setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 0);
  setenv("TPU_WORKER_HOSTNAMES", "localhost", 0);
  setenv("TPU_ACCELERATOR_TYPE", "v5litepod-1", 0);
}

absl::StatusOr<std::unique_ptr<Target>> Target::Open(const Plugin* plugin, const TargetConfig& config, int threads) {
  auto target = std::unique_ptr<Target>(new Target());
  target->plugin_ = plugin;
  target->threads_ = threads;
  absl::Status status = config.topology ? target->OpenTopology(plugin, config) : target->OpenClient(plugin, config);
  if (!status.ok()) return status;
  return target;
}

absl::Status Target::OpenClient(const Plugin* plugin, const TargetConfig& config) {
  // XLA's thread pool takes its size from this variable when a client of a CPU is made; there is no option for it.
  if (threads_ > 0) {
    setenv("NPROC", std::to_string(threads_).c_str(), 1);
  } else {
    unsetenv("NPROC");
  }
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(plugin, config.options);
  if (!client.ok()) return client.status();
  client_ = *std::move(client);
  platform_ = KindOf(client_->platform());
  if (platform_ == "cpu" && client_->devices().size() > 1) {
    // A CPU plug-in plays several devices unless told otherwise, and has at least a thread for each.
    CreateOptions options = config.options;
    options["cpu_device_count"] = int64_t{1};
    client_.reset();
    client = Client::Create(plugin, options);
    if (!client.ok()) return client.status();
    client_ = *std::move(client);
  }
  version_ = client_->platform_version();
  if (platform_ == "cpu") {
    devices_.push_back(Host());
    return absl::OkStatus();
  }
  for (const DeviceInfo& info : client_->devices()) {
    devices_.push_back({platform_, Cat(platform_, ":", info.index), info.kind, "", info.memory_bytes});
  }
  return absl::OkStatus();
}

absl::Status Target::OpenTopology(const Plugin* plugin, const TargetConfig& config) {
  const std::vector<PJRT_NamedValue> values = NamedValues(config.options);
  auto create = ASSAY_PJRT_ARGS(PJRT_TopologyDescription_Create_Args);
  create.topology_name = config.topology->c_str();
  create.topology_name_size = config.topology->size();
  create.create_options = values.data();
  create.num_options = values.size();
  absl::Status status =
      plugin->Call(&PJRT_Api::PJRT_TopologyDescription_Create, create, "PJRT_TopologyDescription_Create");
  if (!status.ok()) {
    return Annotated(status, Cat("the plug-in ", plugin->path(), " has no topology ", *config.topology));
  }
  topology_ = TopologyHandle(plugin, create.topology);

  auto name = ASSAY_PJRT_ARGS(PJRT_TopologyDescription_PlatformName_Args);
  name.topology = create.topology;
  status =
      plugin->Call(&PJRT_Api::PJRT_TopologyDescription_PlatformName, name, "PJRT_TopologyDescription_PlatformName");
  if (!status.ok()) return status;
  platform_ = KindOf({name.platform_name, name.platform_name_size});
  auto version = ASSAY_PJRT_ARGS(PJRT_TopologyDescription_PlatformVersion_Args);
  version.topology = create.topology;
  status = plugin->Call(&PJRT_Api::PJRT_TopologyDescription_PlatformVersion, version,
                        "PJRT_TopologyDescription_PlatformVersion");
  if (!status.ok()) return status;
  version_.assign(version.platform_version, version.platform_version_size);
  // A kind of its own, so that what is to run on such a device is never given to a description of one.
  const std::string kind = Cat(platform_, ":", config.name());
  // Known by the host's processors, which do the work: a worker does not compile while it times something there. Where
  // the host cannot be told (in a sandbox), workers know its processors by their name.
  const TargetDevice host = Host();
  devices_.push_back({kind, kind, config.name(), host.uuid.empty() ? host.id : host.uuid, 0});
  return absl::OkStatus();
}

absl::StatusOr<CompiledProgram> Target::Compile(std::string_view stablehlo, const std::string& options) const {
  if (client_ == nullptr) return CompileForTopology(stablehlo, options);
  CompiledProgram compiled;
  absl::StatusOr<std::unique_ptr<Program>> program = client_->Compile(stablehlo, options, &compiled.compile_ns);
  if (!program.ok()) return program.status();
  compiled.program = *std::move(program);
  absl::StatusOr<ProgramFacts> facts = compiled.program->Facts();
  if (!facts.ok()) return facts.status();
  compiled.facts = *std::move(facts);
  return compiled;
}

absl::StatusOr<CompiledProgram> Target::CompileForTopology(std::string_view stablehlo,
                                                           const std::string& options) const {
  std::string code(stablehlo);  // the field is not const
  PJRT_Program source = TextProgram(code);
  auto args = ASSAY_PJRT_ARGS(PJRT_Compile_Args);
  args.topology = topology_.get();
  args.program = &source;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  CompiledProgram compiled;
  const int64_t start = NowNs();
  absl::Status status = plugin_->Call(&PJRT_Api::PJRT_Compile, args, "PJRT_Compile");
  compiled.compile_ns = NowNs() - start;
  if (!status.ok()) return status;
  const ExecutableHandle executable(plugin_, args.executable);
  absl::StatusOr<ProgramFacts> facts = FactsOf(*plugin_, args.executable);
  if (!facts.ok()) return facts.status();
  compiled.facts = *std::move(facts);
  return compiled;
}

}  // namespace assay::pjrt
