#include "worker/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fmt/format.h"
#include "worker/scheduling.h"

namespace assay::worker {
namespace {

namespace json = boost::json;

// Calls of an arm that follow a switch from the other one and are not counted.
constexpr int kDiscardedCalls = 2;
// A sample this long is not troubled by the switch.
constexpr double kLongSample = 1.0;
// How long an arm is sampled before a switch.
constexpr double kRunSeconds = 0.02;
constexpr int kMaximumRun = 16;

CallFailure Broken(std::string message) { return CallFailure{CallFailure::Kind::kProtocol, "", std::move(message)}; }

// What a device's clock may be faster than the host's.
constexpr double kClockDrift = 0.01;

struct PairReply {
  std::vector<int64_t> ns;
  std::vector<int64_t> device_ns;  // as many; 0: not told
  int64_t request_ns = 0;
  int recompiles = 0;
};

// The list of times `key` of a reply to `pair`.
std::optional<CallFailure> ReadTimes(const json::object& result, std::string_view key, std::vector<int64_t>& times) {
  const json::value* samples = result.if_contains(key);
  if (samples == nullptr || !samples->is_array()) return Broken(fmt::format("pair: {} must be a list", key));
  for (const json::value& sample : samples->get_array()) {
    if (!sample.is_int64() || sample.get_int64() <= 0) {
      return Broken(fmt::format("pair: {} must hold integers above 0", key));
    }
    times.push_back(sample.get_int64());
  }
  return std::nullopt;
}

// One `pair` request.
Outcome<PairReply> RequestPair(RunnerProcess& process, const std::vector<int64_t>& handles, const std::string& set,
                               const std::vector<int>& order, const std::vector<int>& batch, int64_t budget_ns,
                               int keep, int keep_fd, bool cold, double limit_seconds, std::stop_token stop) {
  json::object params = {{"handles", json::value_from(handles)},
                         {"set", set},
                         {"order", json::value_from(order)},
                         {"batch", json::value_from(batch)},
                         {"budget_ns", budget_ns}};
  if (cold) params["cold"] = true;
  std::vector<NamedFd> fds;
  if (keep >= 0) {
    params["keep"] = keep;
    fds.push_back({"outputs", keep_fd});
  }
  Outcome<Reply> reply = process.Call("pair", std::move(params), fds, After(limit_seconds), stop);
  if (!reply.ok()) return reply.failure();
  PairReply out;
  out.request_ns = reply->wall_ns;
  if (auto failure = ReadTimes(reply->result, "samples_ns", out.ns)) return *failure;
  if (reply->result.contains("device_ns")) {
    if (auto failure = ReadTimes(reply->result, "device_ns", out.device_ns)) return *failure;
    if (out.device_ns.size() != out.ns.size()) {
      return Broken(fmt::format("pair: {} times of the device for {} samples", out.device_ns.size(), out.ns.size()));
    }
  }
  out.device_ns.resize(out.ns.size(), 0);
  if (out.ns.size() > order.size()) return Broken("pair: more samples than were asked for");
  if (out.ns.size() < order.size() && (budget_ns == 0 || out.request_ns < budget_ns || out.ns.size() % 2 != 0)) {
    return Broken(fmt::format("pair: {} samples for {} in the order, and the budget is not used up", out.ns.size(),
                              order.size()));
  }
  if (const json::value* recompiles = reply->result.if_contains("recompiles"); recompiles && recompiles->is_int64()) {
    out.recompiles = static_cast<int>(recompiles->get_int64());
  }
  return out;
}

std::string Contradiction(std::string_view what, const std::vector<int64_t>& ns, int64_t most, int64_t request_ns) {
  int64_t sum = 0;
  for (const int64_t sample : ns) {
    if (__builtin_add_overflow(sum, sample, &sum)) return fmt::format("the samples' {}s overflow", what);
  }
  if (sum <= most) return "";
  return fmt::format("the samples' {}s add up to {} ns; the request took {} ns by the worker's clock", what, sum,
                     request_ns);
}

// Samples cannot take longer than the request that they were taken in.
std::string Contradiction(const PairReply& reply) {
  const int64_t took = reply.request_ns;
  std::string found = Contradiction("time", reply.ns, took, took);
  if (!found.empty()) return found;
  const auto most = static_cast<int64_t>((1 + kClockDrift) * static_cast<double>(took));
  return Contradiction("device time", reply.device_ns, most, took);
}

absl::StatusOr<runner::MemoryFile> NewOutputs() { return runner::MemoryFile::Create("assay-outputs"); }

CallFailure NoMemoryFile(const absl::Status& status) {
  return CallFailure{CallFailure::Kind::kError, "internal", std::string(status.message())};
}

std::optional<CallFailure> RequestAlone(const SamplerArm& arm, const std::string& set, int calls, double limit_seconds,
                                        std::stop_token stop, AloneCalls& alone) {
  const std::vector<pid_t> processes = arm.process->Processes();
  const int64_t waited = CpuTimeOf(processes).waited_ns;
  Outcome<PairReply> reply =
      RequestPair(*arm.process, {arm.handle}, set, {0}, {calls}, 0, -1, -1, /*cold=*/false, limit_seconds, stop);
  if (!reply.ok()) return reply.failure();
  alone = {reply->request_ns, reply->ns.at(0), std::max<int64_t>(0, CpuTimeOf(processes).waited_ns - waited)};
  return std::nullopt;
}

// Both arms in one process.
class PairSampler : public Sampler {
 public:
  PairSampler(std::array<SamplerArm, 2> arms, std::string set) : arms_(std::move(arms)), set_(std::move(set)) {}

  int RunLength(double) const override { return 1; }

  std::optional<SampleFailure> Take(const Chunk& chunk, std::stop_token stop, Samples& samples) override {
    absl::StatusOr<runner::MemoryFile> file = NewOutputs();
    if (!file.ok()) return SampleFailure{-1, NoMemoryFile(file.status())};
    Outcome<PairReply> reply = RequestPair(*arms_[0].process, {arms_[0].handle, arms_[1].handle}, set_, chunk.order,
                                           {chunk.batch[0], chunk.batch[1]}, chunk.budget_ns, chunk.keep, file->fd(),
                                           chunk.cold, chunk.limit_seconds, stop);
    if (!reply.ok()) return SampleFailure{-1, reply.failure()};
    samples.request_ns += reply->request_ns;
    samples.contradiction = Contradiction(*reply);
    for (const int64_t ns : reply->ns) samples.calls_ns += ns;
    samples.ns = std::move(reply->ns);
    samples.device_ns = std::move(reply->device_ns);
    samples.recompiles = reply->recompiles;
    if (chunk.keep >= 0 && chunk.keep < static_cast<int>(samples.ns.size())) samples.kept = *std::move(file);
    return std::nullopt;
  }

  std::optional<SampleFailure> TakeAlone(int arm, int calls, double limit_seconds, std::stop_token stop,
                                         AloneCalls& alone) override {
    if (auto failure = RequestAlone(arms_[arm], set_, calls, limit_seconds, stop, alone)) {
      return SampleFailure{arm, *failure};
    }
    return std::nullopt;
  }

 private:
  std::array<SamplerArm, 2> arms_;
  std::string set_;
};

// Requests that go to one arm after the other: two processes, or times that the worker takes itself.
class SwitchingSampler : public Sampler {
 public:
  SwitchingSampler(std::array<SamplerArm, 2> arms, std::string set)
      : arms_(std::move(arms)), set_(std::move(set)), two_processes_(arms_[0].process != arms_[1].process) {
    if (two_processes_) {
      arms_[0].process->Stop();
      arms_[1].process->Stop();
    }
  }
  ~SwitchingSampler() override {
    if (!two_processes_) return;
    arms_[0].process->Continue();
    arms_[1].process->Continue();
  }

  int RunLength(double sample_seconds) const override {
    if (!two_processes_) return 1;
    return std::clamp(static_cast<int>(std::lround(kRunSeconds / std::max(sample_seconds, 1e-9))), 1, kMaximumRun);
  }

  std::optional<SampleFailure> Take(const Chunk& chunk, std::stop_token stop, Samples& samples) override {
    const Clock::time_point deadline = After(chunk.limit_seconds);
    const Clock::time_point start = Clock::now();
    for (size_t begin = 0; begin < chunk.order.size();) {
      const int arm = chunk.order[begin];
      size_t end = begin;
      while (end < chunk.order.size() && chunk.order[end] == arm) ++end;
      Switch(arm);
      Run run{arm, static_cast<int>(end - begin), chunk.batch[arm], -1, deadline, chunk.cold};
      if (chunk.keep >= static_cast<int>(begin) && chunk.keep < static_cast<int>(end)) {
        run.keep = chunk.keep - static_cast<int>(begin);
      }
      const size_t before = samples.ns.size();
      std::optional<CallFailure> failure =
          arms_[arm].worker_timed ? TakeByWorker(run, stop, samples) : TakeByPair(run, stop, samples);
      if (failure) return SampleFailure{arm, *failure};
      last_seconds_[arm] = 1e-9 * static_cast<double>(samples.ns.back());
      if (samples.ns.size() != before + (end - begin)) {
        return SampleFailure{arm, Broken("pair: fewer samples than were asked for")};
      }
      begin = end;
      if (chunk.budget_ns > 0 && samples.ns.size() % 2 == 0 &&
          std::chrono::nanoseconds(Clock::now() - start).count() > chunk.budget_ns) {
        break;
      }
    }
    return std::nullopt;
  }

  std::optional<SampleFailure> TakeAlone(int arm, int calls, double limit_seconds, std::stop_token stop,
                                         AloneCalls& alone) override {
    Switch(arm);
    std::optional<CallFailure> failure;
    if (arms_[arm].worker_timed) {
      Samples samples;
      switched_ = false;
      failure = TakeByWorker({arm, 1, calls, -1, After(limit_seconds)}, stop, samples);
      alone = {samples.calls_ns, samples.calls_ns, 0};
    } else {
      failure = RequestAlone(arms_[arm], set_, calls, limit_seconds, stop, alone);
    }
    return failure ? std::optional(SampleFailure{arm, *failure}) : std::nullopt;
  }

 private:
  struct Run {
    int arm, count, batch, keep;
    Clock::time_point deadline;
    bool cold = false;
  };

  void Switch(int arm) {
    switched_ = two_processes_ && arm != current_;
    if (!switched_) return;
    arms_[1 - arm].process->Stop();
    arms_[arm].process->Continue();
    current_ = arm;
  }

  // Samples at the start of a run that only bring the process back to its pace.
  int Discarded(const Run& run) const {
    if (!switched_) return 0;
    if (last_seconds_[run.arm] >= kLongSample) return 1;
    return (kDiscardedCalls + run.batch - 1) / run.batch;
  }

  std::optional<CallFailure> TakeByPair(const Run& run, std::stop_token stop, Samples& samples) {
    absl::StatusOr<runner::MemoryFile> file = NewOutputs();
    if (!file.ok()) return NoMemoryFile(file.status());
    const int discarded = Discarded(run);
    const std::vector<int> order(discarded + run.count, 0);
    const double limit = std::chrono::duration<double>(run.deadline - Clock::now()).count();
    Outcome<PairReply> reply =
        RequestPair(*arms_[run.arm].process, {arms_[run.arm].handle}, set_, order, {run.batch}, 0,
                    run.keep < 0 ? -1 : run.keep + discarded, file->fd(), run.cold, limit, stop);
    if (!reply.ok()) return reply.failure();
    samples.request_ns += reply->request_ns;
    if (samples.contradiction.empty()) samples.contradiction = Contradiction(*reply);
    for (const int64_t ns : reply->ns) samples.calls_ns += ns;
    samples.ns.insert(samples.ns.end(), reply->ns.begin() + discarded, reply->ns.end());
    samples.device_ns.insert(samples.device_ns.end(), reply->device_ns.begin() + discarded, reply->device_ns.end());
    samples.uncounted_ns[run.arm] +=
        reply->request_ns - std::accumulate(reply->ns.begin() + discarded, reply->ns.end(), int64_t{0});
    samples.recompiles += reply->recompiles;
    if (run.keep >= 0) samples.kept = *std::move(file);
    return std::nullopt;
  }

  std::optional<CallFailure> TakeByWorker(const Run& run, std::stop_token stop, Samples& samples) {
    const int discarded = Discarded(run);
    for (int i = -discarded; i < run.count; ++i) {
      std::optional<runner::MemoryFile> last;
      int64_t sum = 0;
      for (int call = 0; call < run.batch; ++call) {
        absl::StatusOr<runner::MemoryFile> file = NewOutputs();
        if (!file.ok()) return NoMemoryFile(file.status());
        Outcome<Reply> reply = arms_[run.arm].process->Call("run", {{"handle", arms_[run.arm].handle}, {"set", set_}},
                                                            {{"outputs", file->fd()}}, run.deadline, stop);
        if (!reply.ok()) return reply.failure();
        sum += reply->wall_ns;
        last = *std::move(file);
      }
      samples.calls_ns += sum;
      samples.request_ns += sum;
      if (i >= 0) {
        samples.ns.push_back(sum);
        samples.device_ns.push_back(0);
      }
      if (i < 0) samples.uncounted_ns[run.arm] += sum;
      if (i >= 0 && i == run.keep) samples.kept = std::move(last);
    }
    return std::nullopt;
  }

  std::array<SamplerArm, 2> arms_;
  std::string set_;
  bool two_processes_;
  int current_ = -1;
  bool switched_ = false;
  std::array<double, 2> last_seconds_ = {0, 0};
};

}  // namespace

std::unique_ptr<Sampler> MakeSampler(std::array<SamplerArm, 2> arms, std::string input_set) {
  if (arms[0].process == arms[1].process && !arms[0].worker_timed && !arms[1].worker_timed) {
    return std::make_unique<PairSampler>(std::move(arms), std::move(input_set));
  }
  return std::make_unique<SwitchingSampler>(std::move(arms), std::move(input_set));
}

}  // namespace assay::worker
