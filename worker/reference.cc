#include "worker/reference.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "graph/canonical.h"
#include "graph/float64.h"
#include "graph/safetensors.h"
#include "measure/conversion.h"
#include "measure/schedule.h"
#include "worker/output_check.h"
#include "worker/words.h"

namespace assay::worker {
namespace {

namespace json = boost::json;

// Of what has a wide form.
bool IsWide(graph::DType dtype) { return graph::IsFloatingPoint(dtype) || graph::IsComplex(dtype); }

// The tensors of a layout, without its padding.
std::vector<graph::TensorSpec> SpecsOf(const graph::TensorLayout& layout) {
  std::vector<graph::TensorSpec> specs;
  for (const graph::TensorLayout::Entry& entry : layout.entries) {
    if (!graph::IsPadding(entry.spec)) specs.push_back(entry.spec);
  }
  return specs;
}

// Elements by `convert` where `dtype` has float64 for its wide form, else as they are.
void Convert(graph::DType dtype, void (*convert)(graph::DType, std::span<const std::byte>, std::span<std::byte>),
             std::span<const std::byte> from, std::span<std::byte> to) {
  if (IsWide(dtype)) {
    convert(dtype, from, to);
  } else {
    std::copy(from.begin(), from.end(), to.begin());
  }
}

absl::StatusOr<runner::MemoryFile> WidenFile(int fd, int64_t& bytes) {
  absl::StatusOr<runner::Mapping> narrow = runner::MapPrivate(fd);
  if (!narrow.ok()) return narrow.status();
  const std::span<std::byte> from = narrow->bytes();
  const std::string_view text(reinterpret_cast<const char*>(from.data()), from.size());
  absl::StatusOr<graph::TensorLayout> layout = graph::ReadTensorHeader(text, static_cast<int64_t>(from.size()));
  if (!layout.ok()) return layout.status();
  std::vector<graph::TensorSpec> specs = SpecsOf(*layout);
  for (graph::TensorSpec& spec : specs) spec.dtype = graph::Widened(spec.dtype);
  const graph::TensorLayout wide = graph::PlanTensors(specs);
  absl::StatusOr<runner::MemoryFile> file =
      runner::MemoryFile::Filled("assay-inputs", wide.file_bytes, [&](std::span<std::byte> to) {
        std::memcpy(to.data(), wide.header.data(), wide.header.size());
        for (const graph::TensorLayout::Entry& entry : wide.entries) {
          const graph::TensorLayout::Entry* source = layout->Find(entry.spec.name);
          if (source == nullptr) continue;  // padding
          Convert(source->spec.dtype, measure::ToFloat64, from.subspan(source->offset, source->bytes),
                  to.subspan(entry.offset, entry.bytes));
        }
      });
  if (file.ok()) bytes += wide.file_bytes;
  return file;
}

const KnownRunner* FindRunner(const ReferenceRequest& request) {
  const auto serves = [&](const KnownRunner& runner) {
    return !runner.reference.empty() && runner.config.trusted && Drives(runner, request.device.kind());
  };
  if (request.preferred != nullptr && serves(*request.preferred)) return request.preferred;
  for (const KnownRunner& runner : request.runners) {
    if (serves(runner)) return &runner;
  }
  return nullptr;
}

int64_t WideBytes(const graph::Graph& graph) {
  graph::Graph wide = graph;
  for (graph::Parameter& parameter : wide.parameters) parameter.meta.dtype = graph::Widened(parameter.meta.dtype);
  return InputBytes(wide);
}

// One arm's outputs against the reference's. Nothing, or why they cannot be compared.
std::optional<std::string> CompareArm(const ReferenceRequest& request, int arm,
                                      const std::array<std::optional<runner::TensorBytes>, 2>& reference,
                                      v1::Reference& told) {
  v1::Measurement scratch;
  std::vector<measure::OutputComparison> all;
  int outputs = 0;
  for (const int set : {0, 1}) {
    const runner::TensorBytes& ours = *(*request.outputs[arm])[set];
    absl::StatusOr<runner::TensorBytes> wanted = NarrowOutputs(*reference[set], ours);
    if (!wanted.ok()) return std::string(wanted.status().message());
    absl::StatusOr<measure::GraphComparison> compared =
        CompareSet(set == 0 ? "public" : "secret", ours, *wanted, request.harness_threads, scratch);
    if (!compared.ok()) return std::string(compared.status().message());
    all.insert(all.end(), compared->outputs.begin(), compared->outputs.end());
    outputs = static_cast<int>(ours.layout.entries.size());
  }
  const measure::GraphComparison folded = measure::FoldOutputs(std::move(all), outputs, outputs);
  v1::ReferenceArm& side = arm == measure::kBaselineArm ? *told.mutable_baseline() : *told.mutable_candidate();
  side.set_outcome_class(ToProto(folded.error_class));
  side.set_critical_t(folded.critical_t);
  side.set_max_abs_diff(folded.max_abs_diff);
  side.set_mean_abs_diff(folded.mean_abs_diff);
  return std::nullopt;
}

std::optional<std::string> Run(const ReferenceRequest& request, PhaseLog& phases, std::stop_token stop,
                               v1::Reference& told) {
  phases.Begin("reference", /*harness=*/true);
  const KnownRunner* runner = FindRunner(request);
  if (runner == nullptr) return "no runner of this worker can run graphs in float64 on this device";
  absl::StatusOr<graph::Graph> wide = graph::InFloat64(request.graph);
  if (!wide.ok()) return std::string(wide.status().message());
  const int64_t need = WideBytes(request.graph);
  if (need > request.memory_limit) {
    return fmt::format("the graph's inputs and weights need {} bytes in float64, and a runner here may use {}", need,
                       request.memory_limit);
  }
  absl::StatusOr<InputSets> inputs = WidenInputs(request.inputs);
  if (!inputs.ok()) return std::string(inputs.status().message());
  absl::StatusOr<TrialProcess> started = request.pool.Start(*runner, request.memory_limit, stop);
  if (!started.ok()) return std::string(started.status().message());

  TrialArm arm;
  arm.runner = runner;
  arm.target.set_compiler(runner->reference);
  arm.process = std::move(started->process);
  ArmLimits limits = request.limits;
  limits.default_dtype = "float64";
  ArmSteps steps(phases, limits, request.store, stop);
  const json::object loaded = {{"hash", request.graph_hash},
                               {"kind", wide->info.framework},
                               {"model", graph::CanonicalModel(*wide, request.device.kind())}};
  std::optional<ArmFailure> failure = steps.Load(arm, loaded, request.device.id(), inputs->public_set.fd(),
                                                 inputs->secret_set.fd(), request.lock, "load.reference");
  if (!failure) failure = steps.Compile(arm, "reference");
  if (!failure) failure = steps.Run(arm, "run.reference");
  arm.process->Kill();
  if (failure) return failure->failure.message;
  phases.Begin("reference", /*harness=*/true);
  told.set_runner(runner->offer.name());
  for (const int side : {measure::kBaselineArm, measure::kCandidateArm}) {
    if (auto why = CompareArm(request, side, arm.outputs, told)) return why;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<InputSets> WidenInputs(const InputSets& inputs) {
  int64_t bytes = 0;
  absl::StatusOr<runner::MemoryFile> public_set = WidenFile(inputs.public_set.fd(), bytes);
  if (!public_set.ok()) return public_set.status();
  absl::StatusOr<runner::MemoryFile> secret_set = WidenFile(inputs.secret_set.fd(), bytes);
  if (!secret_set.ok()) return secret_set.status();
  return InputSets{*std::move(public_set), *std::move(secret_set), inputs.secret_seed, bytes};
}

absl::StatusOr<runner::TensorBytes> NarrowOutputs(const runner::TensorBytes& reference,
                                                  const runner::TensorBytes& like) {
  std::vector<graph::TensorSpec> specs = SpecsOf(like.layout);
  if (specs.size() != SpecsOf(reference.layout).size()) {
    return absl::InvalidArgumentError(
        fmt::format("the float64 run gave {} outputs, an arm {}", SpecsOf(reference.layout).size(), specs.size()));
  }
  runner::TensorBytes narrow;
  narrow.layout = graph::PlanTensors(specs);
  narrow.bytes.assign(narrow.layout.file_bytes, '\0');
  std::vector<graph::TensorLayout::Entry> kept;
  for (const graph::TensorLayout::Entry& entry : narrow.layout.entries) {
    if (graph::IsPadding(entry.spec)) continue;
    const graph::TensorLayout::Entry* wide = reference.layout.Find(entry.spec.name);
    if (wide == nullptr || wide->spec.shape != entry.spec.shape ||
        wide->spec.dtype != graph::Widened(entry.spec.dtype)) {
      return absl::InvalidArgumentError(
          fmt::format("output {} of the float64 run is {}, an arm's is {}: another dtype or shape", entry.spec.name,
                      wide ? graph::Name(wide->spec.dtype) : "missing", graph::Name(entry.spec.dtype)));
    }
    const std::span<std::byte> place(reinterpret_cast<std::byte*>(narrow.bytes.data()) + entry.offset, entry.bytes);
    Convert(entry.spec.dtype, measure::FromFloat64, reference.Data(*wide), place);
    kept.push_back(entry);
  }
  narrow.layout.entries = std::move(kept);  // as a file that was read has them
  return narrow;
}

v1::Reference RunReference(const ReferenceRequest& request, PhaseLog& phases, std::stop_token stop) {
  v1::Reference told;
  if (const std::optional<std::string> why = Run(request, phases, stop, told)) {
    told.Clear();
    told.set_failure(*why);
  }
  return told;
}

}  // namespace assay::worker
