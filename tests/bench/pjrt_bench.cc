// What assay-runner-pjrt adds to the plug-in's own time: for a call of a 4×4 addition, and for compiling. Each is done
// by the plug-in's table and by the runner's code in turn, and the medians of both are printed.
//
//   assay-pjrt-bench [--check]
//
// With --check it exits with 1 where a call costs more than 10 µs over the plug-in's own, or where compile times differ
// by more than 2 %.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/pjrt/client.h"
#include "runner/pjrt/options.h"
#include "runner/pjrt/target.h"

namespace assay::pjrt {
namespace {

constexpr int kCallBlocks = 400, kCallsOfBlock = 50;
constexpr int kCompiles = 151;  // one differs from the next by a tenth and more
constexpr double kMostCallNs = 10'000, kMostCompileShare = 0.02;

constexpr char kAdd[] = R"(module { func.func public @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %sum = stablehlo.add %x, %x : tensor<4x4xf32>
  return %sum : tensor<4x4xf32> } })";

// Something that takes a while to compile: layers of products and elementwise operations.
std::string Layers(int count) {
  std::string text = "module { func.func public @main(%v0: tensor<64x64xf32>) -> tensor<64x64xf32> {\n";
  for (int i = 0; i < count; ++i) {
    const std::string from = "%v" + std::to_string(i), product = "%p" + std::to_string(i),
                      to = "%v" + std::to_string(i + 1);
    text += product + " = stablehlo.dot_general " + from + ", " + from +
            ", contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n" + to +
            " = stablehlo.tanh " + product + " : tensor<64x64xf32>\n";
  }
  return text + "return %v" + std::to_string(count) + " : tensor<64x64xf32> } }";
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

template <typename T>
T Need(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::cerr << value.status() << "\n";
  std::exit(2);
}

void Need(PJRT_Error* error, const Plugin& plugin) {
  if (const absl::Status status = plugin.StatusOf(error); !status.ok()) {
    std::cerr << status << "\n";
    std::exit(2);
  }
}

void OwnCall(const Plugin& plugin, PJRT_LoadedExecutable* executable, PJRT_Buffer* argument) {
  const PJRT_Api& api = plugin.api();
  auto options = ASSAY_PJRT_ARGS(PJRT_ExecuteOptions);
  PJRT_Buffer* const* list = &argument;
  PJRT_Buffer* result = nullptr;
  PJRT_Buffer** results = &result;
  PJRT_Event* done = nullptr;
  auto execute = ASSAY_PJRT_ARGS(PJRT_LoadedExecutable_Execute_Args);
  execute.executable = executable;
  execute.options = &options;
  execute.argument_lists = &list;
  execute.num_devices = 1;
  execute.num_args = 1;
  execute.output_lists = &results;
  execute.device_complete_events = &done;
  Need(api.PJRT_LoadedExecutable_Execute(&execute), plugin);
  auto await = ASSAY_PJRT_ARGS(PJRT_Event_Await_Args);
  await.event = done;
  Need(api.PJRT_Event_Await(&await), plugin);
  auto destroy_event = ASSAY_PJRT_ARGS(PJRT_Event_Destroy_Args);
  destroy_event.event = done;
  Need(api.PJRT_Event_Destroy(&destroy_event), plugin);
  auto destroy_buffer = ASSAY_PJRT_ARGS(PJRT_Buffer_Destroy_Args);
  destroy_buffer.buffer = result;
  Need(api.PJRT_Buffer_Destroy(&destroy_buffer), plugin);
}

// Nanoseconds that a call costs over the plug-in's own.
double CallOverhead(const Plugin& plugin, const Target& target) {
  const CompiledProgram compiled = Need(target.Compile(kAdd, CompileOptions({}, 0)));
  const std::vector<float> values(16, 1.0f);
  const int64_t shape[] = {4, 4};
  const Buffer argument =
      Need(target.client()->Upload(0, graph::DType::kFloat32, shape, std::as_bytes(std::span(values))));
  PJRT_Buffer* const arguments[] = {argument.get()};
  std::vector<Buffer> outputs;
  std::vector<double> own, ours;
  for (int block = 0; block < kCallBlocks; ++block) {
    for (const bool direct : {block % 2 == 0, block % 2 != 0}) {
      const int64_t start = NowNs();
      for (int call = 0; call < kCallsOfBlock; ++call) {
        if (direct) {
          OwnCall(plugin, compiled.program->loaded(), argument.get());
        } else if (const absl::Status status = compiled.program->Call(arguments, true, outputs); !status.ok()) {
          std::cerr << status << "\n";
          std::exit(2);
        }
      }
      (direct ? own : ours).push_back(static_cast<double>(NowNs() - start) / kCallsOfBlock);
    }
  }
  std::cout << "a call: " << Median(own) << " ns by the plug-in's table, " << Median(ours) << " ns by the runner\n";
  return Median(ours) - Median(own);
}

double OwnCompileNs(const Plugin& plugin, PJRT_Client* client, std::string text, const std::string& options) {
  PJRT_Program program = TextProgram(text);
  auto args = ASSAY_PJRT_ARGS(PJRT_Client_Compile_Args);
  args.client = client;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  const int64_t start = NowNs();
  Need(plugin.api().PJRT_Client_Compile(&args), plugin);
  const auto ns = static_cast<double>(NowNs() - start);
  auto destroy = ASSAY_PJRT_ARGS(PJRT_LoadedExecutable_Destroy_Args);
  destroy.executable = args.executable;
  Need(plugin.api().PJRT_LoadedExecutable_Destroy(&destroy), plugin);
  return ns;
}

// The share by which the compile time that the runner tells differs from the plug-in's own.
double CompileDifference(const Plugin& plugin, const Target& target) {
  const std::string text = Layers(20), options = CompileOptions({}, 0);
  std::vector<double> ratios, own, told;
  for (int i = 0; i <= kCompiles; ++i) {
    double ours = 0, theirs = 0;
    for (const bool direct : {i % 2 == 0, i % 2 != 0}) {
      (direct ? theirs : ours) = direct ? OwnCompileNs(plugin, target.client()->handle(), text, options)
                                        : static_cast<double>(Need(target.Compile(text, options)).compile_ns);
    }
    if (i == 0) continue;  // what is made at the first compilation
    ratios.push_back(ours / theirs);
    own.push_back(theirs);
    told.push_back(ours);
  }
  std::cout << "compiling: " << Median(own) / 1e6 << " ms by the plug-in's table, " << Median(told) / 1e6
            << " ms as the runner tells it; median of the paired ratios " << Median(ratios) << "\n";
  return std::abs(Median(ratios) - 1);
}

int Main(bool check) {
  const std::unique_ptr<Plugin> plugin = Need(Plugin::Load(ASSAY_PJRT_CPU_PLUGIN));
  const std::unique_ptr<Target> target = Need(Target::Open(plugin.get(), {}, 1));
  const double call = CallOverhead(*plugin, *target), compile = CompileDifference(*plugin, *target);
  std::cout << "over the plug-in's own: " << call / 1e3 << " µs a call, " << 100 * compile
            << " % of the compile time\n";
  return check && (call > kMostCallNs || compile > kMostCompileShare) ? 1 : 0;
}

}  // namespace
}  // namespace assay::pjrt

int main(int argc, char** argv) { return assay::pjrt::Main(argc > 1 && std::string_view(argv[1]) == "--check"); }
