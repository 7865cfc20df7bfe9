// What the kernel's scheduler makes of a runner: a raised priority while it is timed, and how long its threads had to
// wait for a CPU. A neighbour's process that takes turns with a timed one is noise in the times; where the worker may
// (root, or CAP_SYS_NICE), timed runners go before it.
// Thread safety: none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace assay::worker {

// The process and all that descend from it; empty where it is gone.
std::vector<pid_t> ProcessTree(pid_t root, const std::filesystem::path& proc = "/proc");

// Over all threads of some processes, since each thread began.
struct CpuTime {
  int64_t ran_ns = 0;
  int64_t waited_ns = 0;  // could run, and another had the CPU
};
// Zero where the system does not tell (a kernel without schedstats).
CpuTime CpuTimeOf(const std::vector<pid_t>& processes, const std::filesystem::path& proc = "/proc");

// The share of the time between two readings, in which the threads could run, that they waited: 0 to 1. `elsewhere_ns`
// of the waiting is not meant.
double WaitedShare(const CpuTime& before, const CpuTime& after, int64_t elsewhere_ns = 0);

// What unequal waiting adds to the log speed-up (baseline / candidate) of arms that have a process each, as far as
// times grow by it. The estimate is of medians, which bear interruptions; but on a crowded machine the scheduler may
// keep one of the two behind a busy neighbour all the time, and no statistics of the samples shows that. Waiting that
// the median does not show (TimingResult::unshown_ns) is no part of the shares.
double WaitingBias(double baseline_share, double candidate_share);
// A bias that is too large for an estimate to be believed; below it is what interruptions make of equal arms.
inline constexpr double kSeriousBias = 0.2;

// The CPUs that a thread may use (0: the caller); empty where it is gone.
std::vector<int> AllowedCpus(pid_t thread = 0);
// False where the kernel refuses: the thread is gone, or may use none of them.
bool SetAllowedCpus(pid_t thread, const std::vector<int>& cpus);

// Gives the threads of some processes, and the scheduler's groups of their sessions, a nice value; ends with the one
// that they had. Threads that they start meanwhile inherit it and keep it.
class Priority {
 public:
  // `nice` 0 changes nothing.
  Priority(std::vector<pid_t> processes, int nice);
  ~Priority();
  Priority(const Priority&) = delete;
  Priority& operator=(const Priority&) = delete;
  // Every thread has it. False too where `nice` is 0.
  bool given() const { return given_; }

 private:
  // Nice values of a process and of the scheduler's group of its session.
  struct Before {
    pid_t process;
    int nice, group;
  };
  std::vector<Before> before_;
  bool given_ = false;
};

// Keeps the threads of some processes on so many CPUs, the same ones for all of them, of those that the first process
// may use; ends with what each process had. Two processes that the kernel puts on different CPUs do not measure the
// same machine: one of the CPUs is the busier one. Threads that are started meanwhile inherit it and keep it.
class Pinning {
 public:
  // `cpus` 0, or no fewer than there are, changes nothing.
  Pinning(const std::vector<pid_t>& processes, int cpus);
  ~Pinning();
  Pinning(const Pinning&) = delete;
  Pinning& operator=(const Pinning&) = delete;
  // Those that they are kept on; empty where nothing was changed.
  const std::vector<int>& cpus() const { return cpus_; }

 private:
  std::vector<std::pair<pid_t, std::vector<int>>> before_;  // by process
  std::vector<int> cpus_;
};

}  // namespace assay::worker
