// Where samples of call times come from: both arms in one process by `pair`, two processes of which the idle one is
// stopped, or, for a runner that is not trusted, `run` timed by the worker round the pipe.
// Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "runner/memory_file.h"
#include "worker/runner_process.h"

namespace assay::worker {

// Samples to take.
struct Chunk {
  std::vector<int> order;             // arms, one a sample
  std::array<int, 2> batch = {1, 1};  // calls in a sample of each arm
  int64_t budget_ns = 0;              // may stop after this, at an even number of samples; 0: none
  int keep = -1;                      // index of the sample whose outputs are wanted; -1: none
  double limit_seconds = 0;           // for all of it
  bool cold = false;                  // empty the caches before each sample; batches are of one call
};

struct Samples {
  std::vector<int64_t> ns;                       // of the first ns.size() entries of the order
  std::vector<int64_t> device_ns;                // … by the device's clock; 0: the runner does not tell
  int64_t calls_ns = 0;                          // spent on calls, discarded ones included
  int64_t request_ns = 0;                        // of all the requests
  std::array<int64_t, 2> uncounted_ns = {0, 0};  // of the requests to either of two processes, without their `ns`
  int recompiles = 0;
  std::optional<runner::MemoryFile> kept;  // outputs of sample `keep`, where it was taken
  std::string contradiction;               // not empty: how the times contradict the worker's own clock
};

// Calls of one arm alone, in one request.
struct AloneCalls {
  int64_t wall_ns = 0;    // of the request, by the worker's clock
  int64_t told_ns = 0;    // of the calls, by the runner's
  int64_t waited_ns = 0;  // of it, that the process's threads waited for a CPU, as the scheduler tells
};

// A failure of a chunk, and whose it was: -1 where both arms sit in one process and either may have caused it.
struct SampleFailure {
  int arm = -1;
  CallFailure failure;
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // Failure where the arm failed.
  virtual std::optional<SampleFailure> Take(const Chunk& chunk, std::stop_token stop, Samples& samples) = 0;
  // So that the runner's clock can be held against the worker's, arm by arm; where the worker takes the times itself
  // both are the same.
  virtual std::optional<SampleFailure> TakeAlone(int arm, int calls, double limit_seconds, std::stop_token stop,
                                                 AloneCalls& alone) = 0;
  // 1 where the arms share a process, else the number of samples an arm takes before the other one's turn.
  virtual int RunLength(double sample_seconds) const = 0;
};

struct SamplerArm {
  std::shared_ptr<RunnerProcess> process;
  int64_t handle = 0;
  bool worker_timed = false;  // not trusted: never `pair`
};
// arms[0] is the baseline. Samples are taken on the input set named `input_set`.
std::unique_ptr<Sampler> MakeSampler(std::array<SamplerArm, 2> arms, std::string input_set);

}  // namespace assay::worker
