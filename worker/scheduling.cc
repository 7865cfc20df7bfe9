#include "worker/scheduling.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <string>

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

// Entries of a folder of /proc that are numbers: processes, or threads of one.
std::vector<pid_t> Numbers(const fs::path& folder) {
  std::vector<pid_t> numbers;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    pid_t number = 0;
    const auto [rest, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failure == std::errc() && rest == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

// 0 where it is gone.
pid_t ParentOf(const fs::path& process) {
  std::ifstream in(process / "stat");
  std::string line;
  std::getline(in, line);
  // The command's name is in brackets and may hold anything; state and parent follow it.
  const size_t end = line.rfind(')');
  pid_t parent = 0;
  if (end == std::string::npos || end + 4 >= line.size()) return 0;
  std::from_chars(line.data() + end + 4, line.data() + line.size(), parent);
  return parent;
}

// Room for machines with more CPUs than cpu_set_t has.
class CpuMask {
 public:
  CpuMask() : bits_(kWords) {}
  explicit CpuMask(const std::vector<int>& cpus) : CpuMask() {
    for (const int cpu : cpus) {
      if (cpu < static_cast<int>(8 * kBytes)) CPU_SET_S(cpu, kBytes, set());
    }
  }
  std::vector<int> List() {
    std::vector<int> cpus;
    for (int cpu = 0; cpu < static_cast<int>(8 * kBytes); ++cpu) {
      if (CPU_ISSET_S(cpu, kBytes, set())) cpus.push_back(cpu);
    }
    return cpus;
  }
  cpu_set_t* set() { return reinterpret_cast<cpu_set_t*>(bits_.data()); }

  static constexpr size_t kWords = 128;
  static constexpr size_t kBytes = kWords * sizeof(unsigned long);

 private:
  std::vector<unsigned long> bits_;
};

// Whether at least one thread took it.
bool PinProcess(pid_t process, const std::vector<int>& cpus) {
  bool any = false;
  for (const pid_t thread : Numbers(fs::path("/proc") / std::to_string(process) / "task")) {
    any = SetAllowedCpus(thread, cpus) || any;
  }
  return any;
}

// Between sessions the kernel shares CPUs by group, whatever the nice values of the threads, where it groups them at
// all.
fs::path GroupFile(pid_t process) { return fs::path("/proc") / std::to_string(process) / "autogroup"; }

// "/autogroup-12 nice -10"; 0 where there is no group.
int GroupNice(pid_t process) {
  std::ifstream in(GroupFile(process));
  std::string group, word;
  int nice = 0;
  return in >> group >> word >> nice ? nice : 0;
}

bool GiveNice(pid_t process, int threads, int group) {
  bool all = true;
  for (const pid_t thread : Numbers(fs::path("/proc") / std::to_string(process) / "task")) {
    all = ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), threads) == 0 && all;
  }
  if (std::error_code error; fs::exists(GroupFile(process), error)) {
    std::ofstream out(GroupFile(process));
    out << group << std::flush;
    all = out.good() && all;
  }
  return all;
}

}  // namespace

std::vector<pid_t> ProcessTree(pid_t root, const fs::path& proc) {
  std::multimap<pid_t, pid_t> children;
  bool exists = false;
  for (const pid_t pid : Numbers(proc)) {
    children.emplace(ParentOf(proc / std::to_string(pid)), pid);
    exists = exists || pid == root;
  }
  std::vector<pid_t> tree;
  if (exists) tree.push_back(root);
  for (size_t i = 0; i < tree.size(); ++i) {
    const auto [begin, end] = children.equal_range(tree[i]);
    for (auto it = begin; it != end; ++it) tree.push_back(it->second);
  }
  return tree;
}

CpuTime CpuTimeOf(const std::vector<pid_t>& processes, const fs::path& proc) {
  CpuTime time;
  for (const pid_t pid : processes) {
    const fs::path tasks = proc / std::to_string(pid) / "task";
    for (const pid_t thread : Numbers(tasks)) {
      std::ifstream in(tasks / std::to_string(thread) / "schedstat");
      int64_t ran = 0, waited = 0;
      if (in >> ran >> waited) {
        time.ran_ns += ran;
        time.waited_ns += waited;
      }
    }
  }
  return time;
}

double WaitedShare(const CpuTime& before, const CpuTime& after, int64_t elsewhere_ns) {
  // A thread that ended in between takes its times along.
  const auto ran = static_cast<double>(std::max<int64_t>(0, after.ran_ns - before.ran_ns));
  const auto waited = static_cast<double>(std::max<int64_t>(0, after.waited_ns - before.waited_ns - elsewhere_ns));
  return waited == 0 ? 0 : waited / (ran + waited);
}

double WaitingBias(double baseline_share, double candidate_share) {
  // Shares of 1 would be a process that never ran.
  const auto running = [](double waited) { return std::max(1 - waited, 1e-3); };
  return std::log(running(candidate_share) / running(baseline_share));
}

std::vector<int> AllowedCpus(pid_t thread) {
  CpuMask mask;
  return ::sched_getaffinity(thread, CpuMask::kBytes, mask.set()) == 0 ? mask.List() : std::vector<int>();
}

bool SetAllowedCpus(pid_t thread, const std::vector<int>& cpus) {
  return ::sched_setaffinity(thread, CpuMask::kBytes, CpuMask(cpus).set()) == 0;
}

Priority::Priority(std::vector<pid_t> processes, int nice) {
  if (nice == 0 || processes.empty()) return;
  given_ = true;
  for (const pid_t process : processes) {
    errno = 0;
    const int before = ::getpriority(PRIO_PROCESS, static_cast<id_t>(process));
    if (before == -1 && errno != 0) continue;  // gone
    before_.push_back({process, before, GroupNice(process)});
    given_ = GiveNice(process, nice, nice) && given_;
  }
}

Priority::~Priority() {
  for (const Before& before : before_) GiveNice(before.process, before.nice, before.group);
}

Pinning::Pinning(const std::vector<pid_t>& processes, int cpus) {
  if (cpus <= 0 || processes.empty()) return;
  std::vector<int> chosen = AllowedCpus(processes[0]);
  if (cpus >= static_cast<int>(chosen.size())) return;
  // The first CPUs get more of the system's own work.
  chosen.erase(chosen.begin(), chosen.end() - cpus);
  for (const pid_t process : processes) {
    std::vector<int> before = AllowedCpus(process);
    if (PinProcess(process, chosen)) before_.emplace_back(process, std::move(before));
  }
  if (!before_.empty()) cpus_ = std::move(chosen);
}

Pinning::~Pinning() {
  for (const auto& [process, cpus] : before_) PinProcess(process, cpus);
}

}  // namespace assay::worker
