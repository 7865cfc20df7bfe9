// A client of a plug-in with its devices, buffers on a device and compiled programs: owners of the plug-in's objects.
// One device is used at a time; programs have one replica and one partition.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/dtype.h"
#include "runner/pjrt/plugin.h"

namespace assay::pjrt {

// Owns one object of a plug-in; `Destroy` is how it goes.
template <typename Object, typename DestroyArgs, auto kEntry, DestroyArgs (*kMake)(Object*)>
class Owned {
 public:
  Owned() = default;
  Owned(const Plugin* plugin, Object* object) : plugin_(plugin), object_(object) {}
  Owned(Owned&& other) noexcept : plugin_(other.plugin_), object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(plugin_, other.plugin_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_ == nullptr) return;
    DestroyArgs args = kMake(object_);
    // A failure to free has no remedy.
    plugin_->Call(kEntry, args, "destroy").IgnoreError();
  }
  Object* get() const { return object_; }
  const Plugin* plugin() const { return plugin_; }

 private:
  const Plugin* plugin_ = nullptr;
  Object* object_ = nullptr;
};

#define ASSAY_PJRT_OWNED(Name, Object, field)                        \
  inline Object##_Destroy_Args Make##Name##Destroy(Object* object) { \
    auto args = ASSAY_PJRT_ARGS(Object##_Destroy_Args);              \
    args.field = object;                                             \
    return args;                                                     \
  }                                                                  \
  using Name = Owned<Object, Object##_Destroy_Args, &PJRT_Api::Object##_Destroy, Make##Name##Destroy>
ASSAY_PJRT_OWNED(ClientHandle, PJRT_Client, client);
ASSAY_PJRT_OWNED(Buffer, PJRT_Buffer, buffer);
ASSAY_PJRT_OWNED(LoadedHandle, PJRT_LoadedExecutable, executable);
ASSAY_PJRT_OWNED(ExecutableHandle, PJRT_Executable, executable);
ASSAY_PJRT_OWNED(TopologyHandle, PJRT_TopologyDescription, topology);
#undef ASSAY_PJRT_OWNED

// An option of PJRT_Client_Create or PJRT_TopologyDescription_Create.
using CreateOption = std::variant<bool, int64_t, std::string>;
using CreateOptions = std::map<std::string, CreateOption>;

std::optional<PJRT_Buffer_Type> BufferTypeOf(graph::DType dtype);
std::optional<graph::DType> DTypeOf(PJRT_Buffer_Type type);

struct DeviceInfo {
  int index = 0;             // among the client's addressable devices
  std::string kind;          // the plug-in's words: "cpu", "NVIDIA H100 …", "TPU v5 lite"
  int64_t memory_bytes = 0;  // 0 where the plug-in does not say
};

// What a compiler says of a program, as far as the plug-in says it.
struct ProgramFacts {
  std::optional<int64_t> executable_bytes;  // of the serialised executable
  std::optional<int64_t> code_bytes;
  std::map<std::string, int64_t> memory;  // "temp_bytes" …
  std::map<std::string, double> cost;     // the compiler's own estimates: "flops" …
  std::string optimised_hlo;              // a serialised HLO module; empty where there is none
};

// Facts about a compiled program, loaded or not. What the plug-in does not offer is absent.
absl::StatusOr<ProgramFacts> FactsOf(const Plugin& plugin, PJRT_Executable* executable);

// A program on a device.
class Program {
 public:
  // Starts one call and waits for its end unless `wait` is false, in which case the next call that waits ends it too
  // (calls on one device run in order). `arguments` in the order of @main's; results replace `outputs`.
  absl::Status Call(std::span<PJRT_Buffer* const> arguments, bool wait, std::vector<Buffer>& outputs) const;
  size_t output_count() const { return output_count_; }
  PJRT_LoadedExecutable* loaded() const { return loaded_.get(); }
  absl::StatusOr<ProgramFacts> Facts() const { return FactsOf(*executable_.plugin(), executable_.get()); }

 private:
  friend class Client;
  static constexpr size_t kInlineOutputs = 16;  // without an allocation in a timed call
  LoadedHandle loaded_;
  ExecutableHandle executable_;
  size_t output_count_ = 0;
};

struct HostTensor {
  graph::DType dtype = graph::DType::kFloat32;
  std::vector<int64_t> shape;
  std::string bytes;  // row-major
};

class Client {
 public:
  static absl::StatusOr<std::unique_ptr<Client>> Create(const Plugin* plugin, const CreateOptions& options);

  const Plugin& plugin() const { return *plugin_; }
  PJRT_Client* handle() const { return client_.get(); }
  const std::string& platform() const { return platform_; }  // "cpu", "cuda", "tpu"
  const std::string& platform_version() const { return version_; }
  const std::vector<DeviceInfo>& devices() const { return devices_; }

  // Compiles StableHLO text with a serialised CompileOptionsProto; `*compile_ns` is the plug-in's own time.
  absl::StatusOr<std::unique_ptr<Program>> Compile(std::string_view stablehlo, std::string_view options,
                                                   int64_t* compile_ns) const;

  // Puts a tensor on a device and waits for it. `bytes` must stay as they are until the buffer is gone: on a CPU the
  // device uses them in place.
  absl::StatusOr<Buffer> Upload(int device, graph::DType dtype, std::span<const int64_t> shape,
                                std::span<const std::byte> bytes) const;

  // Copies a buffer back, row-major whatever the device's layout is.
  absl::StatusOr<HostTensor> Download(const Buffer& buffer) const;

 private:
  Client() = default;
  absl::Status ReadDevices();

  const Plugin* plugin_ = nullptr;
  ClientHandle client_;
  std::string platform_, version_;
  std::vector<PJRT_Device*> handles_;
  std::vector<DeviceInfo> devices_;
};

// The module in a serialised HloModuleProtoWithConfig, serialised; empty where there is none.
std::string HloOfModuleWithConfig(std::string_view bytes);

// Create options as the plug-in takes them; they point into `options`.
std::vector<PJRT_NamedValue> NamedValues(const CreateOptions& options);

// StableHLO text as a plug-in takes it; it points into `text`.
PJRT_Program TextProgram(std::string& text);

int64_t NowNs();  // the host's monotonic clock

}  // namespace assay::pjrt
