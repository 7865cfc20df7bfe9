// assay evaluate, status, watch, cancel.
#include <filesystem>
#include <random>

#include "client/command.h"
#include "client/evaluation_text.h"
#include "client/follow_shown.h"
#include "client/target.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

struct EvaluateFlags {
  std::string suite, target, baseline, device, key, cache;
  std::vector<std::string> options, baseline_options, graphs;
  v1::Policy policy;
  std::string policy_name, replay;
  int threads = 0, processes = 0, priority = 0;
  double budget = 0, half_width = 0, load_timeout = 0, compile_timeout = 0, run_timeout = 0;
  uint64_t memory_limit = 0;
  bool fresh = false, wait = false, strict = false, two_processes = false, reference = false;
};

std::string RandomKey() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// Names, or files with one name a line; '#' begins a comment.
absl::Status AddGraphs(const std::vector<std::string>& texts, v1::CreateEvaluationRequest& request) {
  for (const std::string& text : texts) {
    if (!std::filesystem::is_regular_file(text)) {
      request.add_graphs(text);
      continue;
    }
    const absl::StatusOr<std::string> lines = ReadFile(text, 16 << 20);
    if (!lines.ok()) return lines.status();
    for (const std::string& line : Split(*lines, '\n')) {
      const std::string_view name = Trim(std::string_view(line).substr(0, line.find('#')));
      if (!name.empty()) request.add_graphs(std::string(name));
    }
  }
  if (!texts.empty() && request.graphs().empty()) return absl::InvalidArgumentError("--graphs names no graph");
  return absl::OkStatus();
}

absl::StatusOr<v1::Target> MakeTarget(const std::string& text, const std::vector<std::string>& options,
                                      const std::string& device) {
  absl::StatusOr<v1::Target> target = ParseTarget(text);
  if (!target.ok()) return target;
  if (!device.empty()) {
    if (!target->device_kind().empty() && target->device_kind() != device) {
      return absl::InvalidArgumentError(fmt::format("target '{}' and --device {} differ", text, device));
    }
    target->set_device_kind(device);
  }
  for (const std::string& option : options) {
    if (absl::Status status = AddOption(option, *target); !status.ok()) return status;
  }
  return target;
}

absl::StatusOr<v1::CreateEvaluationRequest> MakeRequest(const EvaluateFlags& flags) {
  v1::CreateEvaluationRequest request;
  const absl::StatusOr<SuiteName> suite = ParseSuite(flags.suite);
  if (!suite.ok()) return suite.status();
  request.set_suite(suite->name);
  request.set_suite_version(suite->version);
  absl::StatusOr<v1::Target> candidate = MakeTarget(flags.target, flags.options, flags.device);
  if (!candidate.ok()) return candidate.status();
  *request.mutable_candidate() = *std::move(candidate);
  if (!flags.baseline.empty()) {
    absl::StatusOr<v1::Target> baseline = MakeTarget(flags.baseline, flags.baseline_options, flags.device);
    if (!baseline.ok()) return baseline.status();
    *request.mutable_baseline() = *std::move(baseline);
  } else if (!flags.baseline_options.empty()) {
    return absl::InvalidArgumentError("--baseline-option needs --baseline");
  }
  v1::Policy& policy = *request.mutable_policy();
  policy.set_name(flags.policy_name);
  policy.set_replay(flags.replay);
  policy.set_threads(flags.threads);
  policy.set_processes(flags.processes);
  policy.set_two_processes(flags.two_processes);
  policy.set_cache(flags.cache);
  policy.set_reference_float64(flags.reference);
  policy.set_budget_seconds(flags.budget);
  policy.set_half_width(flags.half_width);
  policy.set_load_timeout_seconds(flags.load_timeout);
  policy.set_compile_timeout_seconds(flags.compile_timeout);
  policy.set_run_timeout_seconds(flags.run_timeout);
  policy.set_memory_limit_bytes(static_cast<int64_t>(flags.memory_limit));
  if (absl::Status status = AddGraphs(flags.graphs, request); !status.ok()) return status;
  request.set_priority(flags.priority);
  request.set_fresh(flags.fresh);
  request.set_client_key(flags.key.empty() ? RandomKey() : flags.key);
  return request;
}

// 0 where it was completed, and, if `strict`, every graph is correct, or was compiled where that is all.
int Verdict(const v1::Evaluation& evaluation, bool strict) {
  if (evaluation.state() != v1::COMPLETED) return kNo;
  if (!strict) return kOk;
  const auto correct = evaluation.counts().find(ClassWord(evaluation.has_baseline() ? v1::CORRECT : v1::COMPILED));
  return correct != evaluation.counts().end() && correct->second == evaluation.trials() ? kOk : kNo;
}

int Evaluate(const Command& command, const EvaluateFlags& flags) {
  const absl::StatusOr<v1::CreateEvaluationRequest> request = MakeRequest(flags);
  if (!request.ok()) return Fail(request.status());
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return Fail(api.status());
  absl::StatusOr<v1::Evaluation> evaluation = (*api)->Call(*request);
  if (!evaluation.ok()) return Fail(evaluation.status());
  if (!flags.wait) {
    if (command.json) return PrintJson(*evaluation);
    return Print(Headline(*evaluation) + fmt::format("\nfollow it with: assay watch {}\n", evaluation->id()));
  }
  if (!command.json) fmt::print(stderr, "{}\n", Headline(*evaluation));
  evaluation = FollowShown(**api, evaluation->id());
  if (!evaluation.ok()) return Fail(evaluation.status());
  const int code = command.json ? PrintJson(*evaluation) : Print(Headline(*evaluation) + "\n");
  return code != kOk ? code : Verdict(*evaluation, flags.strict);
}

int Watch(const Command& command, const std::string& id, bool strict) {
  const absl::StatusOr<std::unique_ptr<Api>> api = command.Connect();
  if (!api.ok()) return Fail(api.status());
  const absl::StatusOr<v1::Evaluation> evaluation = command.json ? FollowAsJson(**api, id) : FollowShown(**api, id);
  if (!evaluation.ok()) return Fail(evaluation.status());
  const int code = command.json ? kOk : Print(Headline(*evaluation) + "\n");
  return code != kOk ? code : Verdict(*evaluation, strict);
}

int Status(const Command& command, const std::string& id, const std::string& suite, int count) {
  if (id.empty()) {
    v1::ListEvaluationsRequest request;
    request.set_suite(suite);
    request.mutable_page()->set_size(count);
    return CallAndPrint(command, request, [](const v1::ListEvaluationsResponse& list) {
      return Print(list.evaluations().empty() ? "no evaluations yet: ask for one with 'assay evaluate'\n"
                                              : EvaluationTable(list));
    });
  }
  v1::GetEvaluationRequest request;
  request.set_id(id);
  return CallAndPrint(command, request, [](const v1::Evaluation& evaluation) {
    return Print(Headline(evaluation) + "\n" + ProgressLine(evaluation, Rate()) + "\n");
  });
}

int Cancel(const Command& command, const std::string& id) {
  v1::CancelEvaluationRequest request;
  request.set_id(id);
  return CallAndPrint(command, request,
                      [](const v1::Evaluation& evaluation) { return Print(Headline(evaluation) + "\n"); });
}

void AddEvaluate(CLI::App& app, Command& command) {
  auto flags = std::make_shared<EvaluateFlags>();
  CLI::App* sub = AddSubcommand(
      app, "evaluate", "Measure a compiler over a suite",
      "  assay evaluate --suite bundled --target torchscript --wait\n"
      "  assay evaluate --suite bundled --target inductor --option mode=max-autotune --policy sweep\n"
      "  assay evaluate --suite bundled --target inductor@env:nightly --baseline inductor@env:stable\n"
      "  assay evaluate --suite graphnet-torch@2 --target inductor@cuda --graphs graphs.txt\n"
      "  assay evaluate --suite bundled --target xla@tpu:v5e --wait\n\n"
      "A target is written COMPILER[@env:ENVIRONMENT][@DEVICE]; 'assay targets' lists them. Without\n"
      "--baseline it is compared with the eager mode that its runner names. With --wait the exit code is 0 when\n"
      "the evaluation was completed, and 1 when it was cancelled, or with --strict when a graph was not correct.\n");
  sub->add_option("--suite", flags->suite, "NAME or NAME@VERSION")->required();
  sub->add_option("--target", flags->target, "What is measured")->required();
  sub->add_option("--option", flags->options, "NAME=VALUE, of the target; again for more")->take_all();
  sub->add_option("--baseline", flags->baseline, "What it is compared with");
  sub->add_option("--baseline-option", flags->baseline_options, "NAME=VALUE, of the baseline; again for more")
      ->take_all();
  sub->add_option("--device", flags->device, "Kind of device of both: cpu, cuda, tpu:v5e …");
  sub->add_option("--policy", flags->policy_name,
                  "sweep (seconds a graph), standard (the default), precise (5 processes), or aot (only compile;\n"
                  "the default where the target is a device that is not there)")
      ->check(CLI::IsMember({"sweep", "standard", "precise", "aot"}));
  sub->add_option("--replay", flags->replay,
                  "How tensors are filled: assay (the default: as described), graphnet (GraphNet's own rule, with a "
                  "fifth of each standard deviation)")
      ->check(CLI::IsMember({"assay", "graphnet"}));
  sub->add_option("--graphs", flags->graphs, "Only these graphs: names or whole hashes, or a file with one a line")
      ->delimiter(',');
  sub->add_option("--threads", flags->threads, "Intra-op threads of both arms (default: the worker's)")
      ->check(CLI::Range(1, 4096));
  sub->add_option("--budget", flags->budget, "Seconds of timing a graph")->check(AboveZero());
  sub->add_option("--half-width", flags->half_width, "Wanted half-width of the interval, relative: 0.01")
      ->check(AboveZero());
  sub->add_option("--processes", flags->processes, "Fresh processes a graph")->check(CLI::Range(1, 1000));
  sub->add_flag("--two-processes", flags->two_processes, "A process for each arm even where one could hold both");
  sub->add_option("--cache", flags->cache, "warm (the default), or cold: the caches are emptied before each timed call")
      ->check(CLI::IsMember({"warm", "cold"}));
  sub->add_flag("--reference-float64", flags->reference,
                "Run each graph in float64 as well, to say which side is wrong where they differ");
  sub->add_option("--load-timeout", flags->load_timeout, "Seconds")->check(AboveZero());
  sub->add_option("--compile-timeout", flags->compile_timeout, "Seconds")->check(AboveZero());
  sub->add_option("--run-timeout", flags->run_timeout, "Seconds a call")->check(AboveZero());
  sub->add_option("--memory-limit", flags->memory_limit, "Bytes a runner, for example 8GB")
      ->transform(CLI::AsSizeValue(false));
  sub->add_option("--priority", flags->priority, "-100 to 100, higher first")->check(CLI::Range(-100, 100));
  sub->add_option("--key", flags->key, "Makes asking again safe: the same key gives the same evaluation");
  sub->add_flag("--fresh", flags->fresh, "Measure again where an equal measurement exists");
  CLI::Option* wait = sub->add_flag("--wait", flags->wait, "Stay until the evaluation is over, with its progress");
  sub->add_flag("--strict", flags->strict, "Exit with 1 where a graph was not correct")->needs(wait);
  sub->callback([&command, flags] { command.action = [&command, flags] { return Evaluate(command, *flags); }; });
}

}  // namespace

void AddEvaluation(CLI::App& app, Command& command) {
  AddEvaluate(app, command);

  struct Flags {
    std::string id, suite;
    int count = 20;
    bool strict = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* status = AddSubcommand(app, "status", "Show one evaluation, or the newest ones",
                                   "  assay status\n"
                                   "  assay status 7 --json\n");
  status->add_option("id", flags->id, "Of an evaluation");
  status->add_option("--suite", flags->suite, "Only those of this suite");
  status->add_option("-n,--count", flags->count, "How many (20)")->check(CLI::Range(1, 10000));
  status->callback([&command, flags] {
    command.action = [&command, flags] { return Status(command, flags->id, flags->suite, flags->count); };
  });

  CLI::App* watch =
      AddSubcommand(app, "watch", "Follow an evaluation to its end",
                    "  assay watch 7\n"
                    "  assay watch 7 --json                              one object a line, at every change\n");
  watch->add_option("id", flags->id, "Of an evaluation")->required();
  watch->add_flag("--strict", flags->strict, "Exit with 1 where a graph was not correct");
  watch->callback(
      [&command, flags] { command.action = [&command, flags] { return Watch(command, flags->id, flags->strict); }; });

  CLI::App* cancel =
      AddSubcommand(app, "cancel", "Cancel an evaluation; what was measured stays", "  assay cancel 7\n");
  cancel->add_option("id", flags->id, "Of an evaluation")->required();
  cancel->callback([&command, flags] { command.action = [&command, flags] { return Cancel(command, flags->id); }; });
}

}  // namespace assay::client
