#include "runner/pjrt/options.h"

#include "graph/text.h"
#include "runner/pjrt/proto_writer.h"

namespace assay::pjrt {
namespace {

using graph::Cat;
namespace json = boost::json;

// Fields of xla/pjrt/proto/compile_options.proto.
constexpr int kExecutableBuildOptions = 3;
constexpr int kEnvOptionOverrides = 7;
constexpr int kDeviceOrdinal = 1;
constexpr int kNumReplicas = 4;
constexpr int kNumPartitions = 5;
constexpr int kMapKey = 1;
constexpr int kMapValue = 2;
constexpr int kStringField = 1;
constexpr int kBoolField = 2;
constexpr int kIntField = 3;

Flag Bool(std::string_view name, std::string_view platform, std::string_view description) {
  return {name, platform, Flag::Type::kBool, 0, 0, {}, description};
}
Flag Int(std::string_view name, std::string_view platform, int64_t minimum, int64_t maximum,
         std::string_view description) {
  return {name, platform, Flag::Type::kInt, minimum, maximum, {}, description};
}
Flag Choice(std::string_view name, std::string_view platform, std::vector<std::string_view> choices,
            std::string_view description) {
  return {name, platform, Flag::Type::kChoice, 0, 0, std::move(choices), description};
}

std::string_view TypeName(const Flag& flag) {
  switch (flag.type) {
    case Flag::Type::kBool:
      return "true or false";
    case Flag::Type::kInt:
      return "an integer";
    case Flag::Type::kChoice:
      return "one of its choices";
  }
  return "";
}

std::string Accepted(const Flag& flag) {
  if (flag.type == Flag::Type::kInt) return Cat("an integer from ", flag.minimum, " to ", flag.maximum);
  std::string text(TypeName(flag));
  for (size_t i = 0; i < flag.choices.size(); ++i) text += Cat(i == 0 ? ": " : ", ", flag.choices[i]);
  return text;
}

Flag Since(int api, Flag flag) {
  flag.first_api = api;
  return flag;
}
Flag Until(int api, Flag flag) {
  flag.last_api = api;
  return flag;
}

bool Fits(const Flag& flag, std::string_view platform, int api) {
  return (flag.platform.empty() || flag.platform == platform) && flag.first_api <= api && api <= flag.last_api;
}

}  // namespace

const std::vector<Flag>& Flags() {
  static const auto* flags = new std::vector<Flag>{
      Int("xla_backend_optimization_level", "", 0, 3, "How hard the code generator works"),
      Bool("xla_allow_excess_precision", "", "May keep more precision than a type has"),
      Bool("xla_llvm_disable_expensive_passes", "", "Leaves LLVM's costly passes out"),

      Bool("xla_cpu_enable_fast_math", "cpu", "Arithmetic that may reorder and assume no NaN"),
      Bool("xla_cpu_fast_math_honor_nans", "cpu", "With fast math: NaN keeps its meaning"),
      Bool("xla_cpu_fast_math_honor_infs", "cpu", "With fast math: infinities keep their meaning"),
      Bool("xla_cpu_fast_math_honor_division", "cpu", "With fast math: no division by reciprocal"),
      Bool("xla_cpu_fast_math_honor_functions", "cpu", "With fast math: no approximate functions"),
      Bool("xla_cpu_enable_fast_min_max", "cpu", "min and max that may drop a NaN"),
      Bool("xla_cpu_multi_thread_eigen", "cpu", "Contractions on several threads"),
      Bool("xla_cpu_enable_concurrency_optimized_scheduler", "cpu", "Orders operations for concurrency, not memory"),
      Since(115, Bool("xla_cpu_ftz", "cpu", "Denormal numbers count as zero")),
      Until(81, Bool("xla_cpu_use_fusion_emitters", "cpu", "Fusions by the newer code generator")),
      Bool("xla_cpu_strict_dot_conv_math", "cpu", "Contractions in strict order"),
      Bool("xla_cpu_use_xnnpack", "cpu", "Operations that XNNPACK has go to it"),
      Bool("xla_cpu_use_onednn", "cpu", "Operations that oneDNN has go to it"),
      Int("xla_cpu_prefer_vector_width", "cpu", 128, 512, "Bits of a vector that LLVM prefers"),
      Int("xla_cpu_parallel_codegen_split_count", "cpu", 1, 256, "Parts that are compiled in parallel"),
      Choice("xla_cpu_max_isa", "cpu", {"SSE4_2", "AVX", "AVX2", "AVX512", "AVX512_VNNI", "AVX512_BF16", "AMX"},
             "The newest instruction set that may be used"),

      Int("xla_gpu_autotune_level", "cuda", 0, 4, "How much is tried out while compiling; 0 is nothing"),
      Bool("xla_gpu_enable_triton_gemm", "cuda", "Matrix products by generated code where it is faster"),
      Bool("xla_gpu_enable_latency_hiding_scheduler", "cuda", "Orders operations so that copies overlap with work"),
      Bool("xla_gpu_enable_cublaslt", "cuda", "Matrix products by cuBLASLt"),
      Bool("xla_gpu_enable_fast_min_max", "cuda", "min and max that may drop a NaN"),
      Bool("xla_gpu_exclude_nondeterministic_ops", "cuda", "Only kernels whose results repeat"),
      Bool("xla_gpu_exhaustive_tiling_search", "cuda", "Tries every tiling"),
      Bool("xla_gpu_ftz", "cuda", "Denormal numbers count as zero"),
      Int("xla_gpu_cudnn_gemm_fusion_level", "cuda", 0, 3, "How much cuDNN may fuse into matrix products"),

      Int("xla_tpu_scoped_vmem_limit_kib", "tpu", 1024, 131072, "Vector memory that one fusion may use"),
      Bool("xla_tpu_enable_latency_hiding_scheduler", "tpu", "Orders operations so that copies overlap with work"),
      Bool("xla_tpu_rwb_fusion", "tpu", "Fuses reductions with broadcasts"),
      Bool("xla_tpu_dot_dot_fusion", "tpu", "Fuses chains of matrix products"),
  };
  return *flags;
}

json::object OptionsSchema(std::string_view platform, int api) {
  json::object properties;
  for (const Flag& flag : Flags()) {
    if (!Fits(flag, platform, api)) continue;
    json::object property;
    switch (flag.type) {
      case Flag::Type::kBool:
        property["type"] = "boolean";
        break;
      case Flag::Type::kInt:
        property["type"] = "integer";
        property["minimum"] = flag.minimum;
        property["maximum"] = flag.maximum;
        break;
      case Flag::Type::kChoice: {
        json::array& choices = property["enum"].emplace_array();
        for (const std::string_view choice : flag.choices) choices.emplace_back(choice);
        break;
      }
    }
    property["description"] = flag.description;
    properties[flag.name] = std::move(property);
  }
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

absl::StatusOr<std::vector<Override>> ParseOptions(const json::object& options, std::string_view platform, int api) {
  std::vector<Override> overrides;
  for (const auto& member : options) {
    const std::string_view name = member.key();
    const Flag* flag = nullptr;
    for (const Flag& one : Flags()) {
      if (one.name == name && Fits(one, platform, api)) flag = &one;
    }
    if (flag == nullptr) {
      return absl::InvalidArgumentError(Cat("the compiler xla has no option ", name, " on the platform ", platform,
                                            " in this version of the plug-in; `describe` lists those that there are"));
    }
    const json::value& value = member.value();
    bool good = false;
    Override made{flag->name, false};
    switch (flag->type) {
      case Flag::Type::kBool:
        good = value.is_bool();
        if (good) made.value = value.get_bool();
        break;
      case Flag::Type::kInt:
        good = value.is_int64() && value.get_int64() >= flag->minimum && value.get_int64() <= flag->maximum;
        if (good) made.value = value.get_int64();
        break;
      case Flag::Type::kChoice:
        for (const std::string_view choice : flag->choices) {
          good |= value.is_string() && std::string_view(value.get_string()) == choice;
        }
        if (good) made.value = std::string(std::string_view(value.get_string()));
        break;
    }
    if (!good) {
      return absl::InvalidArgumentError(
          Cat("the option ", name, " is ", json::serialize(value), "; it must be ", Accepted(*flag)));
    }
    overrides.push_back(std::move(made));
  }
  return overrides;
}

std::string CompileOptions(const std::vector<Override>& overrides, int device) {
  ProtoWriter build;
  build.Number(kDeviceOrdinal, device);
  build.Number(kNumReplicas, 1);
  build.Number(kNumPartitions, 1);
  ProtoWriter options;
  options.Bytes(kExecutableBuildOptions, build.bytes());
  for (const Override& one : overrides) {
    ProtoWriter value;
    if (const auto* flag = std::get_if<bool>(&one.value)) {
      value.Number(kBoolField, *flag ? 1 : 0);
    } else if (const auto* number = std::get_if<int64_t>(&one.value)) {
      value.Number(kIntField, *number);
    } else {
      value.Bytes(kStringField, std::get<std::string>(one.value));
    }
    ProtoWriter entry;
    entry.Bytes(kMapKey, one.name);
    entry.Bytes(kMapValue, value.bytes());
    options.Bytes(kEnvOptionOverrides, entry.bytes());
  }
  return options.bytes();
}

}  // namespace assay::pjrt
