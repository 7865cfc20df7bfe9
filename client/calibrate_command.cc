// assay calibrate.
#include <unistd.h>

#include <random>
#include <set>

#include "client/calibration_text.h"
#include "client/command.h"
#include "client/evaluation_text.h"
#include "client/follow.h"
#include "client/progress.h"
#include "client/target.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

struct CalibrateFlags {
  std::string suite = "bundled", device = "cpu", policy = "sweep";
  std::vector<std::string> targets;
  int trials = 48, threads = 0;
};

// The baselines of the live workers: what other targets are compared with.
absl::StatusOr<std::vector<v1::Target>> Baselines(Api& api, const std::string& device) {
  const absl::StatusOr<v1::ListTargetsResponse> list = api.Call(v1::ListTargetsRequest());
  if (!list.ok()) return list.status();
  std::vector<v1::Target> targets;
  std::set<std::string> seen;
  for (const v1::OfferedTarget& offered : list->targets()) {
    const v1::Target& target = offered.target();
    if (offered.live_workers() == 0 || target.device_kind() != device || target.compiler() != offered.baseline() ||
        !seen.insert(target.runner() + " " + TargetWord(target)).second) {
      continue;
    }
    v1::Target& wanted = targets.emplace_back();
    wanted.set_compiler(target.compiler());
    wanted.set_runner(target.runner());
    wanted.set_environment(target.environment());
    wanted.set_device_kind(device);
  }
  if (targets.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("no live worker offers a baseline on {}: see 'assay targets'", device));
  }
  return targets;
}

absl::StatusOr<std::vector<v1::Target>> Targets(Api& api, const CalibrateFlags& flags) {
  if (flags.targets.empty()) return Baselines(api, flags.device);
  std::vector<v1::Target> targets;
  for (const std::string& text : flags.targets) {
    absl::StatusOr<v1::Target> target = ParseTarget(text);
    if (!target.ok()) return target.status();
    if (!target->device_kind().empty() && target->device_kind() != flags.device) {
      return absl::InvalidArgumentError(fmt::format("target '{}' and --device {} differ", text, flags.device));
    }
    target->set_device_kind(flags.device);
    targets.push_back(*std::move(target));
  }
  return targets;
}

std::string RandomKey() {
  std::random_device random;
  return fmt::format("calibrate-{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// Queues as many evaluations of the suite as give the trials wanted.
absl::StatusOr<v1::RecordCalibrationRequest> Submit(Api& api, const CalibrateFlags& flags, const v1::Target& target,
                                                    bool two_processes) {
  const absl::StatusOr<SuiteName> suite = ParseSuite(flags.suite);
  if (!suite.ok()) return suite.status();
  v1::RecordCalibrationRequest record;
  for (int trials = 0; trials < flags.trials;) {
    v1::CreateEvaluationRequest request;
    request.set_suite(suite->name);
    request.set_suite_version(suite->version);
    *request.mutable_candidate() = target;
    *request.mutable_baseline() = target;
    request.mutable_policy()->set_name(flags.policy);
    request.mutable_policy()->set_threads(flags.threads);
    request.mutable_policy()->set_two_processes(two_processes);
    request.set_fresh(true);
    request.set_client_key(RandomKey());
    const absl::StatusOr<v1::Evaluation> evaluation = api.Call(request);
    if (!evaluation.ok()) return evaluation.status();
    if (evaluation->trials() == 0) return absl::FailedPreconditionError("the suite has no graphs");
    trials += evaluation->trials();
    record.add_evaluation_ids(evaluation->id());
  }
  return record;
}

absl::Status Finish(Api& api, const std::string& id, const std::string& what) {
  Progress progress = Progress::OnStandardError();
  FollowOptions options;
  options.sleep = [](double seconds) { ::usleep(static_cast<useconds_t>(seconds * 1e6)); };
  options.on_change = [&](const v1::Evaluation& evaluation) {
    progress.Show(fmt::format("{}: {} of {} trials{}", what, evaluation.finished(), evaluation.trials(),
                              evaluation.waiting_for().empty() ? "" : "; waits for " + evaluation.waiting_for()),
                  IsFinal(evaluation.state()));
  };
  options.on_unreachable = [&](const absl::Status& status) { progress.Show(MessageOf(status) + "; trying again"); };
  const absl::StatusOr<v1::Evaluation> evaluation = Follow(
      id, [&](const v1::GetEvaluationRequest& request) { return api.Call(request); }, options);
  if (!evaluation.ok()) return evaluation.status();
  if (evaluation->state() == v1::COMPLETED) return absl::OkStatus();
  return absl::AbortedError(fmt::format("evaluation {} was cancelled: there is no calibration of {}", id, what));
}

int Calibrate(const Command& command, const CalibrateFlags& flags) {
  const absl::StatusOr<std::unique_ptr<Api>> connected = command.Connect();
  if (!connected.ok()) return Fail(connected.status());
  Api& api = **connected;
  const absl::StatusOr<std::vector<v1::Target>> targets = Targets(api, flags);
  if (!targets.ok()) return Fail(targets.status());
  // All are queued first, so that several devices are calibrated at once.
  std::vector<std::pair<std::string, v1::RecordCalibrationRequest>> records;
  for (const v1::Target& target : *targets) {
    for (const bool two_processes : {false, true}) {
      absl::StatusOr<v1::RecordCalibrationRequest> record = Submit(api, flags, target, two_processes);
      if (!record.ok()) return Fail(record.status());
      records.emplace_back(fmt::format("{} in {}", TargetWord(target), two_processes ? "two processes" : "one process"),
                           *std::move(record));
    }
  }
  v1::RecordCalibrationResponse all;
  for (const auto& [what, record] : records) {
    for (int i = 0; i < record.evaluation_ids_size(); ++i) {
      const absl::Status status =
          Finish(api, record.evaluation_ids(i), fmt::format("{}, {}/{}", what, i + 1, record.evaluation_ids_size()));
      if (!status.ok()) return Fail(status);
    }
    const absl::StatusOr<v1::RecordCalibrationResponse> recorded = api.Call(record);
    if (!recorded.ok()) return Fail(Prefixed(what, recorded.status()));
    all.MergeFrom(*recorded);
  }
  return command.json ? PrintJson(all) : Print(CalibrationText({all.calibrations().begin(), all.calibrations().end()}));
}

}  // namespace

void AddCalibrate(CLI::App& app, Command& command) {
  auto flags = std::make_shared<CalibrateFlags>();
  CLI::App* sub = AddSubcommand(
      app, "calibrate", "Measure how far apart two equal arms come out on a device",
      "  assay calibrate\n"
      "  assay calibrate --target eager --trials 100 --policy standard\n"
      "  assay workers                                     shows the newest calibrations\n\n"
      "Compares every baseline with itself, in one process and in two, over the graphs of a suite. The server\n"
      "keeps the errors of each device (calls of at most 20 ms count) and shows their 95th percentile beside\n"
      "scores; above 2 % it marks them. Needs the role admin.\n");
  sub->add_option("--suite", flags->suite, "NAME or NAME@VERSION (bundled)");
  sub->add_option("--device", flags->device, "Kind of device (cpu)");
  sub->add_option("--target", flags->targets, "Only this one; again for more (default: all baselines)")->take_all();
  sub->add_option("--trials", flags->trials, "At least so many of each target and number of processes (48)")
      ->check(CLI::Range(10, 100000));
  sub->add_option("--policy", flags->policy, "sweep (the default), standard or precise")
      ->check(CLI::IsMember({"sweep", "standard", "precise"}));
  sub->add_option("--threads", flags->threads, "Intra-op threads (default: the worker's)")->check(CLI::Range(1, 4096));
  sub->callback([&command, flags] { command.action = [&command, flags] { return Calibrate(command, *flags); }; });
}

}  // namespace assay::client
