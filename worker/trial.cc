#include "worker/trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "fmt/format.h"
#include "google/protobuf/util/json_util.h"
#include "graph/canonical.h"
#include "graph/replay.h"
#include "measure/quantiles.h"
#include "worker/arm_timing.h"
#include "worker/device_lock.h"
#include "worker/input_set.h"
#include "worker/output_check.h"
#include "worker/reference.h"
#include "worker/timing.h"
#include "worker/trial_arm.h"
#include "worker/trial_policy.h"
#include "worker/words.h"

namespace assay::worker {
namespace {

namespace json = boost::json;
using measure::kBaselineArm;
using measure::kCandidateArm;

constexpr const char* kArmNames[] = {"baseline", "candidate"};

// What starting a process takes beside loading and compiling, at most about.
constexpr double kStartSeconds = 0.1;

std::string Text(const absl::Status& status) { return std::string(status.message()); }

void ToStruct(const json::object& object, google::protobuf::Struct* to) {
  if (!google::protobuf::util::JsonStringToMessage(json::serialize(object), to).ok()) to->Clear();
}

uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

class Trial {
 public:
  Trial(const TrialContext& context, const v1::Assignment& assignment, std::stop_token stop,
        std::function<void(std::string_view)> on_phase)
      : context_(context),
        assignment_(assignment),
        stop_(stop),
        phases_(std::move(on_phase)),
        steps_(phases_, policy_.limits, context.lowered, stop) {
    arms_[kBaselineArm].target = assignment.baseline();
    arms_[kCandidateArm].target = assignment.candidate();
  }

  absl::StatusOr<v1::Measurement> Run(const FetchGraph& fetch) {
    m_.set_trial_id(assignment_.trial_id());
    m_.set_fence(assignment_.fence());
    m_.set_graph_hash(assignment_.graph_hash());
    m_.set_worker(context_.config.name);
    m_.set_device(context_.device.id());
    m_.set_sandbox(std::string(Name(context_.config.sandbox)));
    TellEnvironment(context_.environment);
    m_.set_critical_t(0);
    Steps(fetch);
    if (stop_.stop_requested()) return absl::CancelledError("the trial was ended");
    phases_.Begin("end", /*harness=*/true);
    if (m_.outcome_class() != v1::CORRECT) TakeEvidence();
    EndProcesses();
    for (const int arm : Arms()) {
      (arm == kBaselineArm ? m_.mutable_baseline() : m_.mutable_candidate())->Swap(&arms_[arm].told);
    }
    if (!processes_told_.empty()) conditions_["processes"] = std::move(processes_told_);
    ToStruct(conditions_, m_.mutable_conditions());
    if (stop_.stop_requested()) return absl::CancelledError("the trial was ended");
    phases_.Finish(m_);
    return std::move(m_);
  }

 private:
  // Each step returns whether to go on; a false one has written the end of the trial.
  void Steps(const FetchGraph& fetch) {
    if (!TakePolicy() || !FindRunners() || !Fetch(fetch)) return;
    if (policy_.compiles_only) {
      // Compiling must not disturb what is timed on the device, or on the host where there is no device.
      if (Lock() && CompileOnly()) m_.set_outcome_class(v1::COMPILED);
      return;
    }
    if (!Replay() || !Lock()) return;
    if (!FirstProcess()) return;
    FinishTiming();
    m_.set_outcome_class(v1::CORRECT);
  }

  // The arms that the trial has.
  std::span<const int> Arms() const {
    static constexpr std::array<int, 2> kBoth = {kBaselineArm, kCandidateArm};
    static constexpr std::array<int, 1> kCandidate = {kCandidateArm};
    if (policy_.compiles_only) return kCandidate;
    return kBoth;
  }

  // Ends the trial for a reason of Assay's own.
  bool Infrastructure(std::string message) {
    m_.set_outcome_class(v1::INFRASTRUCTURE);
    m_.set_message(std::move(message));
    m_.set_failed_phase(phases_.name());
    return false;
  }

  bool Fail(v1::OutcomeClass outcome_class, const ArmFailure& failure) {
    if (failure.failure.kind == CallFailure::Kind::kParentEnded) return Infrastructure(failure.failure.message);
    m_.set_outcome_class(outcome_class);
    m_.set_detail(failure.cheating ? v1::CHEATING : DetailOf(failure.failure));
    m_.set_message(failure.failure.message);
    m_.set_signal(failure.failure.signal);
    m_.set_exit_code(failure.failure.exit_code);
    m_.set_failed_phase(phases_.name());
    return false;
  }
  bool Fail(int arm, v1::OutcomeClass candidates_class, const ArmFailure& failure) {
    failed_arm_ = arm;
    if (arm == kCandidateArm) return Fail(candidates_class, failure);
    Fail(v1::EAGER_FAIL, failure);
    if (m_.detail() == v1::OUT_OF_MEMORY && !candidate_loaded_ && arms_[arm].runner->config.trusted) TellMemoryNeed();
    return false;
  }
  // The baseline alone, as told by a runner that has no interest in it, wants more memory than there is here: that says
  // something of this worker and nothing of the candidate.
  void TellMemoryNeed() {
    m_.set_outcome_class(v1::SKIPPED);
    std::string limit = fmt::format("a runner here may use {} bytes", policy_.memory_limit_bytes);
    const v1::Device& device = context_.device;
    if (device.kind() != "cpu" && device.memory_bytes() > 0) {
      limit += fmt::format(", and the device {} has {}", device.id(), device.memory_bytes());
    }
    const int64_t peak = arms_[kBaselineArm].told.peak_memory_bytes();
    if (peak > 0) limit += fmt::format("; compiling took {} at most", peak);
    m_.set_message(fmt::format("the baseline alone runs out of memory: {} ({})", limit, m_.message()));
  }

  bool TakePolicy() {
    phases_.Begin("fetch", /*harness=*/true);
    absl::StatusOr<TrialPolicy> policy =
        ResolvePolicy(assignment_.policy(), context_.config, context_.environment.memory_limit_bytes);
    if (!policy.ok()) return Infrastructure(Text(policy.status()));
    policy_ = *std::move(policy);
    m_.set_replay(std::string(graph::ReplayVersion(policy_.replay)));
    Tell(policy_, assignment_.policy(), m_.mutable_policy());
    return true;
  }

  void TellEnvironment(const Environment& environment) {
    m_.set_environment_hash(environment.hash);
    m_.set_machine_hash(context_.device.machine_hash());
    ToStruct(environment.json, m_.mutable_environment());
  }

  bool FindRunners() {
    std::vector<const KnownRunner*> runners;
    for (const int number : Arms()) {
      TrialArm& arm = arms_[number];
      const std::string environment = arm.target.environment().empty() ? "default" : arm.target.environment();
      arm.runner = RunnerFor(context_.runners, arm.target, environment, context_.device.kind());
      if (arm.runner == nullptr) {
        return Infrastructure(fmt::format("worker {} has no compiler {} in the runner environment {} for the device {}",
                                          context_.config.name, arm.target.compiler(), environment,
                                          context_.device.id()));
      }
      const std::string& hash = arm.runner->offer.environment_hash();
      if (!arm.target.environment_hash().empty() && arm.target.environment_hash() != hash) {
        return Infrastructure(fmt::format("the runner environment {} of worker {} is {} and the target wants {}",
                                          environment, context_.config.name, hash, arm.target.environment_hash()));
      }
      arm.lowering = LoweringRunner(context_.runners, *arm.runner, arm.target.compiler());
      arm.target.set_runner(arm.runner->offer.name());
      arm.target.set_version(FindCompiler(*arm.runner, arm.target.compiler())->version());
      arm.target.set_environment(environment);
      arm.target.set_environment_hash(hash);
      *arm.told.mutable_target() = arm.target;
      arm.told.set_runner_build(arm.runner->offer.build());
      arm.told.set_trusted(arm.runner->config.trusted);
      if (!arm.runner->config.trusted) m_.set_self_reported(true);
      if (policy_.cold && (!arm.runner->colds || arm.worker_timed())) {
        m_.set_outcome_class(v1::SKIPPED);
        m_.set_detail(v1::UNSUPPORTED);
        m_.set_failed_phase(phases_.name());
        m_.set_message(fmt::format("cold caches: the runner {} cannot empty them before a call that it times itself",
                                   arm.runner->offer.name()));
        return false;
      }
      for (const KnownRunner* one : {arm.runner, arm.lowering}) {
        if (one != nullptr && std::find(runners.begin(), runners.end(), one) == runners.end()) runners.push_back(one);
      }
    }
    shared_ = arms_[0].runner == arms_[1].runner && !assignment_.policy().two_processes();
    TellEnvironment(ForTrial(context_.environment, context_.device, runners));
    return true;
  }

  bool Fetch(const FetchGraph& fetch) {
    absl::StatusOr<graph::Sample> sample = fetch(assignment_.graph_hash());
    if (!sample.ok()) return Infrastructure(fmt::format("fetching the graph: {}", Text(sample.status())));
    absl::StatusOr<graph::Graph> parsed = graph::Parse(*sample);
    if (!parsed.ok()) return Infrastructure(fmt::format("the graph cannot be read: {}", Text(parsed.status())));
    graph_ = *std::move(parsed);
    const std::string hash = graph::Hash(graph_);
    if (hash != assignment_.graph_hash()) {
      return Infrastructure(
          fmt::format("the graph has the hash {} and was asked for as {}", hash, assignment_.graph_hash()));
    }
    for (const int arm : Arms()) {
      const TrialArm& a = arms_[arm];
      if (std::find(a.runner->graphs.begin(), a.runner->graphs.end(), graph_.info.framework) !=
          a.runner->graphs.end()) {
        continue;
      }
      m_.set_outcome_class(v1::SKIPPED);
      m_.set_detail(v1::UNSUPPORTED);
      m_.set_failed_phase(phases_.name());
      m_.set_message(fmt::format("the graph is of the kind {}; the {} {} of the runner {} takes {}",
                                 graph_.info.framework, kArmNames[arm], a.target.compiler(), a.runner->offer.name(),
                                 fmt::join(a.runner->graphs, ", ")));
      return false;
    }
    const int64_t need = InputBytes(graph_);
    if (need > policy_.memory_limit_bytes && !policy_.compiles_only) {
      m_.set_outcome_class(v1::SKIPPED);
      m_.set_detail(v1::OUT_OF_MEMORY);
      m_.set_failed_phase(phases_.name());
      m_.set_message(fmt::format("the graph's inputs and weights need {} bytes, and a runner here may use {}", need,
                                 policy_.memory_limit_bytes));
      return false;
    }
    return true;
  }

  bool Replay() {
    phases_.Begin("replay", /*harness=*/true);
    absl::StatusOr<std::string> seed = NewSecretSeed();
    if (!seed.ok()) return Infrastructure(Text(seed.status()));
    if (!assignment_.secret_seed().empty()) seed = assignment_.secret_seed();  // a reproduction
    const int threads = HarnessThreads();
    absl::StatusOr<InputSets> inputs =
        ReplayInputs(graph_, assignment_.graph_hash(), *std::move(seed), policy_.replay, threads);
    if (!inputs.ok()) return Infrastructure(Text(inputs.status()));
    inputs_ = *std::move(inputs);
    m_.set_replayed_bytes(inputs_->bytes);
    m_.set_secret_seed(inputs_->secret_seed);
    return true;
  }

  bool Lock() {
    // Not Assay's own cost: the device is in use by another worker.
    phases_.Begin("lock", /*harness=*/false);
    const bool compiles_only = arms_[kCandidateArm].runner->offer.compiles_only();
    absl::StatusOr<runner::UniqueFd> lock =
        LockDevice(context_.config.lock_dir, LockName(context_.device, compiles_only), stop_);
    if (!lock.ok()) return Infrastructure(Text(lock.status()));
    lock_ = *std::move(lock);
    return true;
  }

  int HarnessThreads() const {
    const int threads = context_.config.harness_threads;
    return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }

  // Starts what the arms need; one process for both where one runner has both.
  bool StartProcesses(bool baseline_only = false) {
    phases_.Begin("start", /*harness=*/true);
    candidate_loaded_ = false;
    for (const int arm : Arms()) {
      if (arm == kCandidateArm && baseline_only) break;
      TrialArm& a = arms_[arm];
      a.call_seconds.clear();
      if (arm == kCandidateArm && shared_) {
        a.process = arms_[kBaselineArm].process;
        a.isolated = arms_[kBaselineArm].isolated;
      } else {
        absl::StatusOr<TrialProcess> started = context_.pool.Start(*a.runner, policy_.memory_limit_bytes, stop_);
        if (!started.ok()) return Infrastructure(Text(started.status()));
        a.process = std::move(started->process);
        a.isolated = started->isolated;
      }
      a.told.set_isolated(a.isolated);
    }
    return true;
  }

  void EndProcesses() {
    for (TrialArm& arm : arms_) {
      if (arm.process) arm.process->Kill();
    }
    for (TrialArm& arm : arms_) arm.process.reset();
  }

  // Lets one arm's process run and stops the other's.
  void Focus(int arm) {
    if (shared_ || !arms_[1 - arm].process) return;
    arms_[1 - arm].process->Stop();
    arms_[arm].process->Continue();
  }

  json::object GraphToLoad() const {
    return {{"hash", assignment_.graph_hash()},
            {"kind", graph_.info.framework},
            {"model", graph::CanonicalModel(graph_, context_.device.kind())}};
  }

  int PublicSet() const { return small_inputs_ ? small_inputs_->fd() : inputs_->public_set.fd(); }

  // All of a trial that runs nothing.
  bool CompileOnly() {
    phases_.Begin("replay", /*harness=*/true);
    absl::StatusOr<runner::MemoryFile> inputs = ReplaySmallInputs(graph_, assignment_.graph_hash(), policy_.replay);
    if (!inputs.ok()) return Infrastructure(Text(inputs.status()));
    small_inputs_ = *std::move(inputs);
    if (!StartProcesses()) return false;
    TrialArm& arm = arms_[kCandidateArm];
    auto failure = steps_.Load(arm, GraphToLoad(), context_.device.id(), PublicSet(), kNoSecretSet, lock_.get(),
                               fmt::format("load.{}", kArmNames[kCandidateArm]));
    if (!failure) failure = Compile(kCandidateArm);
    if (!failure) failure = steps_.FetchArtifacts(arm);
    return failure ? Fail(kCandidateArm, v1::COMPILE_FAIL, *failure) : true;
  }

  std::optional<ArmFailure> Load(int arm) {
    return steps_.Load(arms_[arm], GraphToLoad(), context_.device.id(), PublicSet(), inputs_->secret_set.fd(),
                       lock_.get(), shared_ ? "load" : fmt::format("load.{}", kArmNames[arm]));
  }

  // Loads and compiles an arm in the newest process.
  bool LoadAndCompile(int arm) {
    Focus(arm);
    candidate_loaded_ |= arm == kCandidateArm;
    if (arm == kBaselineArm || !shared_) {
      if (auto failure = Load(arm)) return Fail(arm, v1::COMPILE_FAIL, *failure);
    } else {
      arms_[arm].told.set_load_ns(arms_[kBaselineArm].told.load_ns());
      arms_[arm].mutates = arms_[kBaselineArm].mutates;
    }
    if (auto failure = Compile(arm)) return Fail(arm, v1::COMPILE_FAIL, *failure);
    return true;
  }

  std::optional<ArmFailure> Compile(int arm) {
    if (arms_[arm].lowering != nullptr) {
      if (auto failure = LowerElsewhere(arm)) return failure;
    }
    return steps_.Compile(arms_[arm], kArmNames[arm]);
  }

  // In a process of its own, which is gone when calls are timed.
  std::optional<ArmFailure> LowerElsewhere(int arm) {
    phases_.Begin("start", /*harness=*/true);
    absl::StatusOr<TrialProcess> started = context_.pool.Start(*arms_[arm].lowering, policy_.memory_limit_bytes, stop_);
    if (!started.ok()) return ArmFailure{{CallFailure::Kind::kParentEnded, "", Text(started.status())}};
    RunnerProcess& process = *started->process;
    std::optional<ArmFailure> failure =
        steps_.LowerElsewhere(process, arms_[arm], GraphToLoad(), context_.device.id(), PublicSet(), lock_.get(),
                              fmt::format("lower.{}", kArmNames[arm]));
    process.Kill();
    if (failure) m_.set_evidence(process.Output());
    return failure;
  }

  // The baseline goes before the candidate in all: what ends the process later is then not the baseline's doing.
  bool FirstProcess() {
    if (!StartProcesses()) return false;
    for (const int arm : {kBaselineArm, kCandidateArm}) {
      if (!LoadAndCompile(arm)) return false;
      if (auto failure = steps_.Run(arms_[arm], fmt::format("run.{}", kArmNames[arm]))) {
        return Fail(arm, v1::RUNTIME_FAIL, *failure);
      }
    }
    const bool right = CompareOutputs();
    if (m_.outcome_class() == v1::INFRASTRUCTURE) return false;
    if (assignment_.policy().reference_float64()) RunFloat64();
    // Of wrong outputs too: that is when one wants to see what was compiled. The outcome is then written already.
    for (const int arm : {kBaselineArm, kCandidateArm}) {
      Focus(arm);
      if (auto failure = steps_.FetchArtifacts(arms_[arm]); failure && right) {
        return Fail(arm, v1::RUNTIME_FAIL, *failure);
      }
    }
    if (!right) return false;
    const int processes = Processes();
    for (int process = 0; process < processes; ++process) {
      if (process > 0 && !FreshProcess()) return false;
      if (!Time()) return false;
    }
    return true;
  }

  // Of the policy. Arms that have a process each differ by the luck of it, which shows only in fresh ones: a budget for
  // one process is then spread over several pairs of processes.
  int Processes() {
    if (shared_ || policy_.timing.processes > 1) return policy_.timing.processes;
    double start = kStartSeconds, calls = 0;
    for (const TrialArm& arm : arms_) {
      start += 1e-9 * static_cast<double>(arm.told.load_ns() + arm.told.compile_ns());
      calls += measure::Median(arm.call_seconds);
    }
    const int processes = measure::SpreadProcesses(policy_.timing, start, calls);
    if (processes > 1) policy_.timing = measure::Spread(policy_.timing, processes);
    return processes;
  }

  // The first process's load and compile are the ones that are told.
  bool FreshProcess() {
    EndProcesses();
    const std::array<v1::Arm, 2> told = {arms_[0].told, arms_[1].told};
    if (!StartProcesses() || !LoadAndCompile(kBaselineArm) || !LoadAndCompile(kCandidateArm)) return false;
    for (const int arm : {kBaselineArm, kCandidateArm}) arms_[arm].told = told[arm];
    return true;
  }

  // Says which side is wrong, or how far off both are; changes no outcome.
  void RunFloat64() {
    *m_.mutable_reference() = RunReference({context_.pool,
                                            context_.runners,
                                            arms_[kBaselineArm].runner,
                                            graph_,
                                            assignment_.graph_hash(),
                                            context_.device,
                                            *inputs_,
                                            policy_.limits,
                                            context_.lowered,
                                            policy_.memory_limit_bytes,
                                            lock_.get(),
                                            HarnessThreads(),
                                            {&arms_[kBaselineArm].outputs, &arms_[kCandidateArm].outputs}},
                                           phases_, stop_);
  }

  // Compares both sets. False where the candidate's outputs are wrong.
  bool CompareOutputs() {
    phases_.Begin("compare", /*harness=*/true);
    TrialArm& baseline = arms_[kBaselineArm];
    TrialArm& candidate = arms_[kCandidateArm];
    std::vector<measure::OutputComparison> all;
    std::array<double, 2> critical_t;
    for (const int set : {0, 1}) {
      absl::StatusOr<measure::GraphComparison> compared = CompareSet(
          set == 0 ? "public" : "secret", *candidate.outputs[set], *baseline.outputs[set], HarnessThreads(), m_);
      if (!compared.ok()) return Infrastructure(Text(compared.status()));
      all.insert(all.end(), compared->outputs.begin(), compared->outputs.end());
      critical_t[set] = compared->critical_t;
    }
    m_.set_degeneracy(std::max(DegeneracyOf(*baseline.outputs[0]), DegeneracyOf(*baseline.outputs[1])));
    m_.set_degenerate(m_.degeneracy() != v1::DEGENERACY_UNSPECIFIED);
    const int candidate_outputs = candidate.outputs[0]->layout.entries.size();
    const int baseline_outputs = baseline.outputs[0]->layout.entries.size();
    const measure::GraphComparison folded = measure::FoldOutputs(std::move(all), candidate_outputs, baseline_outputs);
    m_.set_critical_t(folded.critical_t);
    // Near on one set, and the same again for other inputs.
    if ((Departs(critical_t[1], critical_t[0]) || Departs(critical_t[0], critical_t[1])) &&
        SameBytes(*candidate.outputs[0], *candidate.outputs[1]) &&
        !SameBytes(*baseline.outputs[0], *baseline.outputs[1])) {
      return Cheating(folded.error_class, "the candidate returned the same outputs for both input sets");
    }
    if (folded.error_class == measure::ErrorClass::kCorrect) return true;
    m_.set_outcome_class(ToProto(folded.error_class));
    m_.set_failed_phase(phases_.name());
    m_.set_message(
        candidate_outputs != baseline_outputs
            ? fmt::format("the candidate gave {} outputs, the baseline {}", candidate_outputs, baseline_outputs)
            : fmt::format("{} between candidate and baseline, output {}", measure::Name(folded.error_class),
                          candidate_outputs == 0 ? 0 : folded.worst_output % candidate_outputs));
    return false;
  }

  // Whether outputs are so much farther off than those they are held against that it cannot be rounding. (Tolerances at
  // t = 1 are wide enough to let another input's outputs pass.)
  static bool Departs(double critical_t, double than) { return critical_t > std::max(than + 1, -3.0); }

  bool Cheating(measure::ErrorClass error_class, std::string message) {
    m_.set_outcome_class(error_class == measure::ErrorClass::kCorrect ? v1::ACCURACY : ToProto(error_class));
    m_.set_detail(v1::CHEATING);
    m_.set_failed_phase(phases_.name());
    m_.set_message(std::move(message));
    return false;
  }

  bool Time() {
    TimingRequest request;
    request.policy = policy_.timing;
    request.seed = RandomSeed();
    request.mutates = arms_[0].mutates || arms_[1].mutates;
    request.cold = policy_.cold;
    request.run_limit_seconds = policy_.limits.run_seconds;
    request.check_clock = !arms_[0].worker_timed() || !arms_[1].worker_timed();
    for (const int arm : {kBaselineArm, kCandidateArm}) request.calls[arm] = arms_[arm].call_seconds;
    const Conditions before_timing = CaptureConditions();
    ArmTiming timing = TimePlaced(arms_,
                                  {.threads = policy_.limits.threads,
                                   .pin = context_.device.kind() == "cpu",
                                   .nice = context_.config.nice,
                                   .one = shared_},
                                  std::move(request), kSecretSetName, stop_, phases_);
    conditions_["nice"] = timing.nice;
    json::object told = TellConditions(before_timing, CaptureConditions());
    for (json::key_value_pair& one : timing.conditions) told[one.key()] = std::move(one.value());
    processes_told_.push_back(std::move(told));
    TimingResult& result = timing.result;
    if (timing.failure) return Attribute(*timing.failure);
    if (!result.contradiction.empty()) {
      return Fail(kCandidateArm, v1::RUNTIME_FAIL,
                  {CallFailure{CallFailure::Kind::kProtocol, "", result.contradiction}, /*cheating=*/true});
    }
    const bool right = CheckTimedCalls(result);
    timings_.push_back(std::move(result));
    if (!right) FinishTiming();
    return right;
  }

  // Whose failure is it that a process which holds both arms did not survive being timed? The candidate's, unless the
  // baseline alone fails as well.
  bool Attribute(const SampleFailure& sample) {
    if (sample.arm >= 0) return Fail(sample.arm, v1::RUNTIME_FAIL, {sample.failure});
    if (sample.failure.kind == CallFailure::Kind::kCancelled) return false;
    if (sample.failure.kind == CallFailure::Kind::kParentEnded) return Infrastructure(sample.failure.message);
    const std::string phase = phases_.name();
    TakeEvidence();
    EndProcesses();
    if (!StartProcesses(/*baseline_only=*/true)) return false;
    TrialArm& baseline = arms_[kBaselineArm];
    std::optional<ArmFailure> failure = Load(kBaselineArm);
    if (!failure) failure = Compile(kBaselineArm);
    if (!failure) failure = steps_.Run(baseline, "run.baseline");
    if (failure) return Fail(kBaselineArm, v1::EAGER_FAIL, *failure);
    Fail(kCandidateArm, v1::RUNTIME_FAIL, {sample.failure});
    m_.set_failed_phase(phase);
    return false;
  }

  // The outputs of timed calls, on the secret set, against those of the baseline's checked call.
  bool CheckTimedCalls(TimingResult& result) {
    if (result.kept.empty()) return true;
    phases_.Begin("compare", /*harness=*/true);
    const runner::TensorBytes& baseline = *arms_[kBaselineArm].outputs[1];
    const int64_t outputs = arms_[kCandidateArm].outputs[1]->layout.entries.size();
    for (runner::MemoryFile& file : result.kept) {
      absl::StatusOr<runner::TensorBytes> timed = ReadOutputs(file.fd(), outputs, policy_.limits.output_bytes);
      if (!timed.ok()) {
        return Fail(kCandidateArm, v1::RUNTIME_FAIL,
                    {CallFailure{CallFailure::Kind::kProtocol, "",
                                 fmt::format("the outputs of a timed call: {}", Text(timed.status()))}});
      }
      absl::StatusOr<measure::GraphComparison> compared = CompareSet("timed", *timed, baseline, HarnessThreads(), m_);
      if (!compared.ok()) return Infrastructure(Text(compared.status()));
      const double checked = m_.critical_t();
      m_.set_critical_t(std::max(checked, compared->critical_t));
      if (compared->error_class != measure::ErrorClass::kCorrect || Departs(compared->critical_t, checked)) {
        return Cheating(compared->error_class,
                        "the outputs of a timed call are wrong where those of a checked call were right");
      }
    }
    result.kept.clear();
    return true;
  }

  void FinishTiming() { TellTiming(policy_.timing, timings_, shared_, *m_.mutable_timing()); }

  // The end of the output of the arm that failed, or of both.
  void TakeEvidence() {
    if (!m_.evidence().empty()) return;
    std::string evidence;
    for (const int arm : {kBaselineArm, kCandidateArm}) {
      if (!arms_[arm].process || (arm == kCandidateArm && shared_)) continue;
      if (!shared_ && failed_arm_ >= 0 && failed_arm_ != arm) continue;
      evidence += arms_[arm].process->Output();
    }
    if (evidence.size() > kOutputTailBytes) evidence.resize(kOutputTailBytes);
    m_.set_evidence(std::move(evidence));
  }

  const TrialContext& context_;
  const v1::Assignment& assignment_;
  std::stop_token stop_;
  PhaseLog phases_;
  TrialPolicy policy_;
  ArmSteps steps_;
  v1::Measurement m_;
  graph::Graph graph_;
  std::optional<InputSets> inputs_;
  std::optional<runner::MemoryFile> small_inputs_;  // of a trial that runs nothing, instead
  runner::UniqueFd lock_;
  std::array<TrialArm, 2> arms_;   // by measure::kBaselineArm and kCandidateArm
  bool shared_ = false;            // both in one process
  bool candidate_loaded_ = false;  // something of the candidate's is in the newest processes
  int failed_arm_ = -1;
  std::vector<TimingResult> timings_;
  json::object conditions_;
  json::array processes_told_;  // conditions of each process, or pair of processes, that was timed
};

}  // namespace

absl::StatusOr<v1::Measurement> RunTrial(const TrialContext& context, const v1::Assignment& assignment,
                                         const FetchGraph& fetch, std::stop_token stop,
                                         std::function<void(std::string_view)> on_phase) {
  return Trial(context, assignment, stop, std::move(on_phase)).Run(fetch);
}

}  // namespace assay::worker
