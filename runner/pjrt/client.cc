#include "runner/pjrt/client.h"

#include <time.h>

#include "graph/graph.h"
#include "graph/text.h"
#include "runner/pjrt/status.h"

namespace assay::pjrt {
namespace {

using graph::Cat;
using graph::DType;

constexpr std::pair<DType, PJRT_Buffer_Type> kTypes[] = {
    {DType::kBool, PJRT_Buffer_Type_PRED},
    {DType::kUInt8, PJRT_Buffer_Type_U8},
    {DType::kInt8, PJRT_Buffer_Type_S8},
    {DType::kInt16, PJRT_Buffer_Type_S16},
    {DType::kInt32, PJRT_Buffer_Type_S32},
    {DType::kInt64, PJRT_Buffer_Type_S64},
    {DType::kFloat16, PJRT_Buffer_Type_F16},
    {DType::kBFloat16, PJRT_Buffer_Type_BF16},
    {DType::kFloat32, PJRT_Buffer_Type_F32},
    {DType::kFloat64, PJRT_Buffer_Type_F64},
    {DType::kComplex64, PJRT_Buffer_Type_C64},
    {DType::kComplex128, PJRT_Buffer_Type_C128},
    {DType::kFloat8E4M3FN, PJRT_Buffer_Type_F8E4M3FN},
    {DType::kFloat8E5M2, PJRT_Buffer_Type_F8E5M2},
};

// What every client needs; a plug-in that lacks one of them is refused before anything is asked of it.
#define ASSAY_REQUIRED(entry)                                                                                 \
  if (!plugin->Has(&PJRT_Api::entry)) {                                                                       \
    return absl::UnimplementedError(Cat("the plug-in ", plugin->path(), " (PJRT API ", plugin->api_version(), \
                                        ") has no " #entry ", without which nothing can run"));               \
  }

absl::Status CheckRequired(const Plugin* plugin) {
  ASSAY_REQUIRED(PJRT_Client_Create)
  ASSAY_REQUIRED(PJRT_Client_Compile)
  ASSAY_REQUIRED(PJRT_Client_BufferFromHostBuffer)
  ASSAY_REQUIRED(PJRT_LoadedExecutable_Execute)
  ASSAY_REQUIRED(PJRT_LoadedExecutable_GetExecutable)
  ASSAY_REQUIRED(PJRT_Buffer_ToHostBuffer)
  ASSAY_REQUIRED(PJRT_Buffer_ReadyEvent)
  ASSAY_REQUIRED(PJRT_Buffer_Destroy)
  ASSAY_REQUIRED(PJRT_Event_Await)
  ASSAY_REQUIRED(PJRT_Event_Destroy)
  return absl::OkStatus();
}
#undef ASSAY_REQUIRED

absl::Status ReadCost(const Plugin& plugin, PJRT_Executable* executable, ProgramFacts& facts) {
  auto args = ASSAY_PJRT_ARGS(PJRT_Executable_GetCostAnalysis_Args);
  args.executable = executable;
  absl::Status status =
      plugin.Call(&PJRT_Api::PJRT_Executable_GetCostAnalysis, args, "PJRT_Executable_GetCostAnalysis");
  if (!status.ok()) return status;
  for (size_t i = 0; i < args.num_properties; ++i) {
    const PJRT_NamedValue& value = args.properties[i];
    const std::string name(value.name, value.name_size);
    if (name.find('{') != std::string::npos) continue;  // of one operand: "bytes accessed0{}"
    double amount = -1;
    if (value.type == PJRT_NamedValue_kFloat) amount = value.float_value;
    if (value.type == PJRT_NamedValue_kInt64) amount = static_cast<double>(value.int64_value);
    if (amount >= 0) facts.cost[name] = amount;  // negative: not known to the compiler, for one operation at least
  }
  return absl::OkStatus();
}

absl::Status ReadMemory(const Plugin& plugin, PJRT_Executable* executable, ProgramFacts& facts) {
  auto args = ASSAY_PJRT_ARGS(PJRT_Executable_GetCompiledMemoryStats_Args);
  args.executable = executable;
  absl::Status status =
      plugin.Call(&PJRT_Api::PJRT_Executable_GetCompiledMemoryStats, args, "PJRT_Executable_GetCompiledMemoryStats");
  if (!status.ok()) return status;
  facts.memory = {{"code_bytes", args.generated_code_size_in_bytes}, {"argument_bytes", args.argument_size_in_bytes},
                  {"output_bytes", args.output_size_in_bytes},       {"alias_bytes", args.alias_size_in_bytes},
                  {"temp_bytes", args.temp_size_in_bytes},           {"peak_bytes", args.peak_memory_in_bytes}};
  return absl::OkStatus();
}

absl::Status ReadSizes(const Plugin& plugin, PJRT_Executable* executable, ProgramFacts& facts) {
  auto code = ASSAY_PJRT_ARGS(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args);
  code.executable = executable;
  absl::Status status = plugin.Call(&PJRT_Api::PJRT_Executable_SizeOfGeneratedCodeInBytes, code,
                                    "PJRT_Executable_SizeOfGeneratedCodeInBytes");
  if (!status.ok() && !absl::IsUnimplemented(status)) return status;
  if (status.ok() && code.size_in_bytes >= 0) facts.code_bytes = code.size_in_bytes;

  auto serialise = ASSAY_PJRT_ARGS(PJRT_Executable_Serialize_Args);
  serialise.executable = executable;
  status = plugin.Call(&PJRT_Api::PJRT_Executable_Serialize, serialise, "PJRT_Executable_Serialize");
  if (!status.ok()) return status;
  facts.executable_bytes = static_cast<int64_t>(serialise.serialized_bytes_size);
  if (serialise.serialized_executable_deleter != nullptr) {
    serialise.serialized_executable_deleter(serialise.serialized_executable);
  }
  return absl::OkStatus();
}

absl::Status ReadOptimised(const Plugin& plugin, PJRT_Executable* executable, ProgramFacts& facts) {
  auto program = ASSAY_PJRT_ARGS(PJRT_Program);
  auto args = ASSAY_PJRT_ARGS(PJRT_Executable_OptimizedProgram_Args);
  args.executable = executable;
  args.program = &program;
  absl::Status status =
      plugin.Call(&PJRT_Api::PJRT_Executable_OptimizedProgram, args, "PJRT_Executable_OptimizedProgram");  // its size
  if (!status.ok()) return status;
  std::string bytes(program.code_size, '\0');
  program.code = bytes.data();
  status = plugin.Call(&PJRT_Api::PJRT_Executable_OptimizedProgram, args, "PJRT_Executable_OptimizedProgram");
  if (!status.ok()) return status;
  const std::string_view format(program.format, program.format_size);
  if (format == "hlo") {
    facts.optimised_hlo = std::move(bytes);
  } else if (format == "hlo_with_config") {
    facts.optimised_hlo = HloOfModuleWithConfig(bytes);
  }
  return absl::OkStatus();
}

}  // namespace

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

std::optional<PJRT_Buffer_Type> BufferTypeOf(DType dtype) {
  for (const auto& [name, type] : kTypes) {
    if (name == dtype) return type;
  }
  return std::nullopt;
}

std::optional<DType> DTypeOf(PJRT_Buffer_Type type) {
  for (const auto& [name, of] : kTypes) {
    if (of == type) return name;
  }
  return std::nullopt;
}

std::string HloOfModuleWithConfig(std::string_view bytes) {
  // HloModuleProtoWithConfig: field 1 is the module.
  size_t at = 0;
  auto varint = [&]() -> uint64_t {
    uint64_t value = 0;
    for (int shift = 0; at < bytes.size() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if ((byte & 128) == 0) break;
    }
    return value;
  };
  while (at < bytes.size()) {
    const uint64_t tag = varint();
    if ((tag & 7) != 2) return "";
    const uint64_t size = varint();
    if (size > bytes.size() - at) return "";
    if (tag >> 3 == 1) return std::string(bytes.substr(at, size));
    at += size;
  }
  return "";
}

std::vector<PJRT_NamedValue> NamedValues(const CreateOptions& options) {
  std::vector<PJRT_NamedValue> values;
  for (const auto& [name, option] : options) {
    auto value = ASSAY_PJRT_ARGS(PJRT_NamedValue);
    value.name = name.c_str();
    value.name_size = name.size();
    value.value_size = 1;
    if (const auto* flag = std::get_if<bool>(&option)) {
      value.type = PJRT_NamedValue_kBool;
      value.bool_value = *flag;
    } else if (const auto* number = std::get_if<int64_t>(&option)) {
      value.type = PJRT_NamedValue_kInt64;
      value.int64_value = *number;
    } else {
      const auto& text = std::get<std::string>(option);
      value.type = PJRT_NamedValue_kString;
      value.string_value = text.c_str();
      value.value_size = text.size();
    }
    values.push_back(value);
  }
  return values;
}

PJRT_Program TextProgram(std::string& text) {
  static constexpr std::string_view kFormat = "mlir";
  auto program = ASSAY_PJRT_ARGS(PJRT_Program);
  program.code = text.data();
  program.code_size = text.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  return program;
}

absl::StatusOr<ProgramFacts> FactsOf(const Plugin& plugin, PJRT_Executable* executable) {
  ProgramFacts facts;
  for (const auto read : {ReadCost, ReadMemory, ReadSizes, ReadOptimised}) {
    absl::Status status = read(plugin, executable, facts);
    if (!status.ok() && !absl::IsUnimplemented(status)) return status;
  }
  return facts;
}

absl::Status Program::Call(std::span<PJRT_Buffer* const> arguments, bool wait, std::vector<Buffer>& outputs) const {
  const Plugin& plugin = *loaded_.plugin();
  auto options = ASSAY_PJRT_ARGS(PJRT_ExecuteOptions);
  PJRT_Buffer* const* argument_list = arguments.data();
  PJRT_Buffer* results[kInlineOutputs] = {};
  std::vector<PJRT_Buffer*> more;
  PJRT_Buffer** output_list = results;
  if (output_count_ > kInlineOutputs) {
    more.resize(output_count_);
    output_list = more.data();
  }
  PJRT_Event* done = nullptr;
  auto args = ASSAY_PJRT_ARGS(PJRT_LoadedExecutable_Execute_Args);
  args.executable = loaded_.get();
  args.options = &options;
  args.argument_lists = &argument_list;
  args.num_devices = 1;
  args.num_args = arguments.size();
  args.output_lists = &output_list;
  if (wait) args.device_complete_events = &done;
  absl::Status status = plugin.Call(&PJRT_Api::PJRT_LoadedExecutable_Execute, args, "PJRT_LoadedExecutable_Execute");
  if (!status.ok()) return status;
  outputs.clear();
  for (size_t i = 0; i < output_count_; ++i) outputs.emplace_back(&plugin, output_list[i]);
  return plugin.Await(done);
}

absl::StatusOr<std::unique_ptr<Client>> Client::Create(const Plugin* plugin, const CreateOptions& options) {
  absl::Status status = CheckRequired(plugin);
  if (!status.ok()) return status;
  auto client = std::unique_ptr<Client>(new Client());
  client->plugin_ = plugin;
  const std::vector<PJRT_NamedValue> values = NamedValues(options);
  auto create = ASSAY_PJRT_ARGS(PJRT_Client_Create_Args);
  create.create_options = values.data();
  create.num_options = values.size();
  status = plugin->Call(&PJRT_Api::PJRT_Client_Create, create, "PJRT_Client_Create");
  if (!status.ok()) {
    return Annotated(status, Cat("the plug-in ", plugin->path(), " gives no client"));
  }
  client->client_ = ClientHandle(plugin, create.client);

  auto name = ASSAY_PJRT_ARGS(PJRT_Client_PlatformName_Args);
  name.client = create.client;
  status = plugin->Call(&PJRT_Api::PJRT_Client_PlatformName, name, "PJRT_Client_PlatformName");
  if (!status.ok()) return status;
  client->platform_.assign(name.platform_name, name.platform_name_size);

  auto version = ASSAY_PJRT_ARGS(PJRT_Client_PlatformVersion_Args);
  version.client = create.client;
  status = plugin->Call(&PJRT_Api::PJRT_Client_PlatformVersion, version, "PJRT_Client_PlatformVersion");
  if (!status.ok()) return status;
  client->version_.assign(version.platform_version, version.platform_version_size);

  status = client->ReadDevices();
  if (!status.ok()) return status;
  return client;
}

absl::Status Client::ReadDevices() {
  auto list = ASSAY_PJRT_ARGS(PJRT_Client_AddressableDevices_Args);
  list.client = client_.get();
  absl::Status status =
      plugin_->Call(&PJRT_Api::PJRT_Client_AddressableDevices, list, "PJRT_Client_AddressableDevices");
  if (!status.ok()) return status;
  for (size_t i = 0; i < list.num_addressable_devices; ++i) {
    PJRT_Device* device = list.addressable_devices[i];
    DeviceInfo info;
    info.index = static_cast<int>(i);
    auto description = ASSAY_PJRT_ARGS(PJRT_Device_GetDescription_Args);
    description.device = device;
    status = plugin_->Call(&PJRT_Api::PJRT_Device_GetDescription, description, "PJRT_Device_GetDescription");
    if (!status.ok()) return status;
    auto kind = ASSAY_PJRT_ARGS(PJRT_DeviceDescription_Kind_Args);
    kind.device_description = description.device_description;
    status = plugin_->Call(&PJRT_Api::PJRT_DeviceDescription_Kind, kind, "PJRT_DeviceDescription_Kind");
    if (!status.ok()) return status;
    info.kind.assign(kind.device_kind, kind.device_kind_size);
    auto memory = ASSAY_PJRT_ARGS(PJRT_Device_MemoryStats_Args);
    memory.device = device;
    // A CPU plug-in has no such statistics: its memory is the host's.
    if (plugin_->Call(&PJRT_Api::PJRT_Device_MemoryStats, memory, "PJRT_Device_MemoryStats").ok() &&
        memory.bytes_limit_is_set) {
      info.memory_bytes = memory.bytes_limit;
    }
    handles_.push_back(device);
    devices_.push_back(std::move(info));
  }
  if (devices_.empty()) return absl::NotFoundError(Cat("the plug-in ", plugin_->path(), " sees no device"));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Program>> Client::Compile(std::string_view stablehlo, std::string_view options,
                                                         int64_t* compile_ns) const {
  std::string code(stablehlo);  // the field is not const
  PJRT_Program source = TextProgram(code);
  auto args = ASSAY_PJRT_ARGS(PJRT_Client_Compile_Args);
  args.client = client_.get();
  args.program = &source;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  const int64_t start = NowNs();
  absl::Status status = plugin_->Call(&PJRT_Api::PJRT_Client_Compile, args, "PJRT_Client_Compile");
  *compile_ns = NowNs() - start;
  if (!status.ok()) return status;
  auto program = std::make_unique<Program>();
  program->loaded_ = LoadedHandle(plugin_, args.executable);

  auto get = ASSAY_PJRT_ARGS(PJRT_LoadedExecutable_GetExecutable_Args);
  get.loaded_executable = args.executable;
  status = plugin_->Call(&PJRT_Api::PJRT_LoadedExecutable_GetExecutable, get, "PJRT_LoadedExecutable_GetExecutable");
  if (!status.ok()) return status;
  program->executable_ = ExecutableHandle(plugin_, get.executable);
  auto count = ASSAY_PJRT_ARGS(PJRT_Executable_NumOutputs_Args);
  count.executable = get.executable;
  status = plugin_->Call(&PJRT_Api::PJRT_Executable_NumOutputs, count, "PJRT_Executable_NumOutputs");
  if (!status.ok()) return status;
  program->output_count_ = count.num_outputs;
  return program;
}

absl::StatusOr<Buffer> Client::Upload(int device, DType dtype, std::span<const int64_t> shape,
                                      std::span<const std::byte> bytes) const {
  const std::optional<PJRT_Buffer_Type> type = BufferTypeOf(dtype);
  if (!type) return absl::UnimplementedError(Cat("PJRT has no element type ", graph::Name(dtype)));
  auto args = ASSAY_PJRT_ARGS(PJRT_Client_BufferFromHostBuffer_Args);
  args.client = client_.get();
  args.data = bytes.data();
  args.type = *type;
  args.dims = shape.data();
  args.num_dims = shape.size();
  args.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableZeroCopy;
  args.device = handles_.at(static_cast<size_t>(device));
  absl::Status status =
      plugin_->Call(&PJRT_Api::PJRT_Client_BufferFromHostBuffer, args, "PJRT_Client_BufferFromHostBuffer");
  if (!status.ok()) return status;
  Buffer buffer(plugin_, args.buffer);
  if (args.done_with_host_buffer != nullptr) {
    // It fires when the bytes are no longer used, which for a buffer used in place is when the buffer goes: not waited
    // for.
    auto destroy = ASSAY_PJRT_ARGS(PJRT_Event_Destroy_Args);
    destroy.event = args.done_with_host_buffer;
    status = plugin_->Call(&PJRT_Api::PJRT_Event_Destroy, destroy, "PJRT_Event_Destroy");
    if (!status.ok()) return status;
  }
  auto ready = ASSAY_PJRT_ARGS(PJRT_Buffer_ReadyEvent_Args);
  ready.buffer = buffer.get();
  status = plugin_->Call(&PJRT_Api::PJRT_Buffer_ReadyEvent, ready, "PJRT_Buffer_ReadyEvent");
  if (status.ok()) status = plugin_->Await(ready.event);
  if (!status.ok()) return status;
  return buffer;
}

absl::StatusOr<HostTensor> Client::Download(const Buffer& buffer) const {
  HostTensor tensor;
  auto type = ASSAY_PJRT_ARGS(PJRT_Buffer_ElementType_Args);
  type.buffer = buffer.get();
  absl::Status status = plugin_->Call(&PJRT_Api::PJRT_Buffer_ElementType, type, "PJRT_Buffer_ElementType");
  if (!status.ok()) return status;
  const std::optional<DType> dtype = DTypeOf(type.type);
  if (!dtype) {
    return absl::UnimplementedError(
        Cat("an output has the PJRT element type ", static_cast<int>(type.type), ", which no tensor of a graph has"));
  }
  tensor.dtype = *dtype;
  auto dimensions = ASSAY_PJRT_ARGS(PJRT_Buffer_Dimensions_Args);
  dimensions.buffer = buffer.get();
  status = plugin_->Call(&PJRT_Api::PJRT_Buffer_Dimensions, dimensions, "PJRT_Buffer_Dimensions");
  if (!status.ok()) return status;
  tensor.shape.assign(dimensions.dims, dimensions.dims + dimensions.num_dims);
  tensor.bytes.resize(static_cast<size_t>(graph::ElementCount(tensor.shape) * graph::ElementSize(*dtype)));
  if (tensor.bytes.empty()) return tensor;

  std::vector<int64_t> minor_to_major;
  for (size_t i = tensor.shape.size(); i-- > 0;) minor_to_major.push_back(static_cast<int64_t>(i));
  auto layout = ASSAY_PJRT_ARGS(PJRT_Buffer_MemoryLayout);
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled = ASSAY_PJRT_ARGS(PJRT_Buffer_MemoryLayout_Tiled);
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();
  auto copy = ASSAY_PJRT_ARGS(PJRT_Buffer_ToHostBuffer_Args);
  copy.src = buffer.get();
  copy.host_layout = &layout;
  copy.dst = tensor.bytes.data();
  copy.dst_size = tensor.bytes.size();
  status = plugin_->Call(&PJRT_Api::PJRT_Buffer_ToHostBuffer, copy, "PJRT_Buffer_ToHostBuffer");
  if (status.ok()) status = plugin_->Await(copy.event);
  if (!status.ok()) return status;
  return tensor;
}

}  // namespace assay::pjrt
