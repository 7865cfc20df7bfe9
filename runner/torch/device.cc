#include "runner/torch/device.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <fstream>

#include "graph/text.h"

namespace assay::torch_runner {
namespace {

std::string ReadFirstLine(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

DeviceInfo Host() {
  DeviceInfo info{"cpu", "cpu"};
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) {
      info.model = line.substr(line.find(':') + 2);
      break;
    }
  }
  info.uuid = ReadFirstLine("/etc/machine-id");
  struct sysinfo system {};
  if (::sysinfo(&system) == 0) info.memory_bytes = static_cast<int64_t>(system.totalram) * system.mem_unit;
  return info;
}

// LibTorch's CUDA library stands beside libtorch_cpu. Its static initialisers register the kernels; CUDA itself is not
// touched.
bool LoadCuda() {
  static const bool loaded = [] {
    Dl_info self;
    if (::dladdr(reinterpret_cast<const void*>(&c10::impl::getDeviceGuardImpl), &self) == 0) return false;
    std::string path = self.dli_fname;
    path.replace(path.rfind('/') + 1, std::string::npos, "libtorch_cuda.so");
    if (::access(path.c_str(), R_OK) != 0) return false;
    return ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr;
  }();
  return loaded;
}

// The part of the NVIDIA management library that is needed; unlike CUDA it may be asked before a fork.
std::vector<DeviceInfo> Gpus() {
  std::vector<DeviceInfo> gpus;
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return gpus;
  struct Memory {
    unsigned long long total, free, used;
  };
  const auto function = [&](const char* name) { return ::dlsym(library, name); };
  const auto init = reinterpret_cast<int (*)()>(function("nvmlInit_v2"));
  const auto shutdown = reinterpret_cast<int (*)()>(function("nvmlShutdown"));
  const auto count_of = reinterpret_cast<int (*)(unsigned*)>(function("nvmlDeviceGetCount_v2"));
  const auto handle_of = reinterpret_cast<int (*)(unsigned, void**)>(function("nvmlDeviceGetHandleByIndex_v2"));
  const auto name_of = reinterpret_cast<int (*)(void*, char*, unsigned)>(function("nvmlDeviceGetName"));
  const auto uuid_of = reinterpret_cast<int (*)(void*, char*, unsigned)>(function("nvmlDeviceGetUUID"));
  const auto memory_of = reinterpret_cast<int (*)(void*, Memory*)>(function("nvmlDeviceGetMemoryInfo"));
  unsigned count = 0;
  if (init != nullptr && shutdown != nullptr && count_of != nullptr && handle_of != nullptr && name_of != nullptr &&
      uuid_of != nullptr && memory_of != nullptr && init() == 0) {
    if (count_of(&count) != 0) count = 0;
    for (unsigned i = 0; i < count; ++i) {
      void* handle = nullptr;
      char name[128] = {}, uuid[128] = {};
      Memory memory{};
      if (handle_of(i, &handle) != 0 || name_of(handle, name, sizeof(name)) != 0 ||
          uuid_of(handle, uuid, sizeof(uuid)) != 0 || memory_of(handle, &memory) != 0) {
        continue;
      }
      gpus.push_back({"cuda", graph::Cat("cuda:", i), name, uuid, static_cast<int64_t>(memory.total)});
    }
    shutdown();
  }
  ::dlclose(library);
  return gpus;
}

// Appends the build id of the file that `info` describes, if it is one of ours.
int AddBuildId(dl_phdr_info* info, size_t, void* data) {
  const std::string_view path = info->dlpi_name;
  const bool self = path.empty(), torch = path.ends_with("/libtorch_cpu.so");
  if (!self && !torch) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    const char* const end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* name = at + sizeof(*note);
      const char* content = name + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID && std::string_view(name) == "GNU") {
        std::string& text = *static_cast<std::string*>(data);
        if (!text.empty()) text += '+';
        for (unsigned k = 0; k < note->n_descsz; ++k) {
          constexpr char kHex[] = "0123456789abcdef";
          text += kHex[static_cast<unsigned char>(content[k]) >> 4];
          text += kHex[content[k] & 15];
        }
      }
      at = content + ((note->n_descsz + 3) & ~3u);
    }
  }
  return 0;
}

}  // namespace

std::vector<DeviceInfo> Devices() {
  std::vector<DeviceInfo> devices = {Host()};
  if (LoadCuda()) {
    for (DeviceInfo& gpu : Gpus()) devices.push_back(std::move(gpu));
  }
  return devices;
}

absl::StatusOr<c10::Device> FindDevice(std::string_view name) {
  std::string known;
  for (const DeviceInfo& device : Devices()) {
    if (device.id == name || device.kind == name) return c10::Device(device.id);
    known += graph::Cat(known.empty() ? "" : ", ", device.id);
  }
  return absl::UnimplementedError(graph::Cat("this runner has no device \"", name, "\"; it has ", known));
}

void Synchronize(c10::Device device) {
  if (device.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

struct DeviceTimer::Events {
  explicit Events(c10::Device device)
      : guard(device.type()),
        start(device.type(), c10::EventFlag::BACKEND_DEFAULT),
        stop(device.type(), c10::EventFlag::BACKEND_DEFAULT) {}
  c10::impl::VirtualGuardImpl guard;
  c10::Event start, stop;
};

DeviceTimer::DeviceTimer(c10::Device device) : device_(device) {
  if (!device.is_cpu()) events_ = std::make_unique<Events>(device);
}
DeviceTimer::~DeviceTimer() = default;
bool DeviceTimer::has_clock() const { return events_ != nullptr; }
void DeviceTimer::Start() {
  if (events_ != nullptr) events_->start.record(events_->guard.getStream(device_));
}
void DeviceTimer::Stop() {
  if (events_ != nullptr) events_->stop.record(events_->guard.getStream(device_));
}
int64_t DeviceTimer::nanoseconds() const {
  return events_ == nullptr ? 0 : static_cast<int64_t>(events_->start.elapsedTime(events_->stop) * 1e6);
}

ColdCaches::ColdCaches(c10::Device device) : device_(device) {
  constexpr int64_t kBytes = int64_t{512} << 20;  // no accelerator's cache is half as large
  if (device.is_cpu()) {
    host_.emplace();
  } else {
    buffer_ = at::ones({kBytes / 4}, at::TensorOptions().dtype(at::kFloat).device(device));
  }
}

void ColdCaches::Sweep() {
  if (host_) return host_->Sweep();
  at::NoGradGuard no_grad;
  buffer_.sum();
  Synchronize(device_);
}

int64_t PeakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

std::string BuildIdentity() {
  std::string text;
  ::dl_iterate_phdr(AddBuildId, &text);
  return text;
}

}  // namespace assay::torch_runner
