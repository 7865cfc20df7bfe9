// What a call through this runner costs over the plug-in's own: a 4×4 addition, by the plug-in's table and by
// Program::Call().
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "runner/pjrt/client.h"
#include "runner/pjrt/options.h"
#include "runner/pjrt/target.h"

namespace assay::pjrt {
namespace {

constexpr char kAdd[] = R"(module { func.func public @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %sum = stablehlo.add %x, %x : tensor<4x4xf32>
  return %sum : tensor<4x4xf32> } })";

struct Setup {
  std::unique_ptr<Plugin> plugin;
  std::unique_ptr<Target> target;
  std::vector<float> values = std::vector<float>(16, 1.0f);
  CompiledProgram compiled;
  Buffer argument;
};

Setup* Get() {
  static Setup* setup = [] {
    auto* made = new Setup();
    made->plugin = Plugin::Load(ASSAY_PJRT_CPU_PLUGIN).value();
    made->target = Target::Open(made->plugin.get(), {}, 1).value();
    made->compiled = made->target->Compile(kAdd, CompileOptions({}, 0)).value();
    const int64_t shape[] = {4, 4};
    made->argument = made->target->client()
                         ->Upload(0, graph::DType::kFloat32, shape, std::as_bytes(std::span(made->values)))
                         .value();
    return made;
  }();
  return setup;
}

void PluginsOwn(benchmark::State& state) {
  Setup* setup = Get();
  const PJRT_Api& api = setup->plugin->api();
  PJRT_Buffer* argument = setup->argument.get();
  for (auto _ : state) {
    auto options = ASSAY_PJRT_ARGS(PJRT_ExecuteOptions);
    PJRT_Buffer* const* list = &argument;
    PJRT_Buffer* result = nullptr;
    PJRT_Buffer** results = &result;
    PJRT_Event* done = nullptr;
    auto execute = ASSAY_PJRT_ARGS(PJRT_LoadedExecutable_Execute_Args);
    execute.executable = setup->compiled.program->loaded();
    execute.options = &options;
    execute.argument_lists = &list;
    execute.num_devices = 1;
    execute.num_args = 1;
    execute.output_lists = &results;
    execute.device_complete_events = &done;
    benchmark::DoNotOptimize(api.PJRT_LoadedExecutable_Execute(&execute));
    auto await = ASSAY_PJRT_ARGS(PJRT_Event_Await_Args);
    await.event = done;
    benchmark::DoNotOptimize(api.PJRT_Event_Await(&await));
    auto destroy_event = ASSAY_PJRT_ARGS(PJRT_Event_Destroy_Args);
    destroy_event.event = done;
    benchmark::DoNotOptimize(api.PJRT_Event_Destroy(&destroy_event));
    auto destroy_buffer = ASSAY_PJRT_ARGS(PJRT_Buffer_Destroy_Args);
    destroy_buffer.buffer = result;
    benchmark::DoNotOptimize(api.PJRT_Buffer_Destroy(&destroy_buffer));
  }
}
BENCHMARK(PluginsOwn);

void ThisRunners(benchmark::State& state) {
  Setup* setup = Get();
  PJRT_Buffer* const arguments[] = {setup->argument.get()};
  std::vector<Buffer> outputs;
  for (auto _ : state) {
    const absl::Status status = setup->compiled.program->Call(arguments, true, outputs);
    if (!status.ok()) state.SkipWithError(status.ToString().c_str());
  }
}
BENCHMARK(ThisRunners);

}  // namespace
}  // namespace assay::pjrt

BENCHMARK_MAIN();
