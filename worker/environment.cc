#include "worker/environment.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "fmt/format.h"
#include "graph/sha256.h"
#include "worker/scheduling.h"

namespace assay::worker {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

std::optional<std::string> ReadLine(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
  return line;
}

std::optional<int64_t> ReadNumber(const fs::path& file) {
  const std::optional<std::string> line = ReadLine(file);
  int64_t number = 0;
  if (!line || std::from_chars(line->data(), line->data() + line->size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

void Put(json::object& to, std::string_view key, const std::optional<std::string>& value) {
  if (value) to[key] = *value;
}

json::object Cpu(const fs::path& root) {
  std::ifstream in(root / "proc/cpuinfo");
  std::map<std::string, std::string> first;
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string key = line.substr(0, colon);
    while (!key.empty() && std::isspace(static_cast<unsigned char>(key.back()))) key.pop_back();
    count += key == "processor";
    first.try_emplace(key, colon + 2 <= line.size() ? line.substr(colon + 2) : "");
  }
  json::object cpu = {{"logical_cpus", count}};
  for (const char* key : {"model name", "vendor_id", "cpu family", "model", "stepping", "microcode", "cpu cores"}) {
    if (auto found = first.find(key); found != first.end()) cpu[key] = found->second;
  }
  if (auto found = first.find("flags"); found != first.end()) {
    std::istringstream words(found->second);
    std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
    cpu["flags_hash"] = graph::Sha256Hex(fmt::format("{}", fmt::join(flags, " "))).substr(0, 16);
  }
  const fs::path system = root / "sys/devices/system/cpu";
  Put(cpu, "governor", ReadLine(system / "cpu0/cpufreq/scaling_governor"));
  Put(cpu, "frequency_driver", ReadLine(system / "cpu0/cpufreq/scaling_driver"));
  Put(cpu, "maximum_khz", ReadLine(system / "cpu0/cpufreq/cpuinfo_max_freq"));
  Put(cpu, "smt", ReadLine(system / "smt/control"));
  if (auto no_turbo = ReadLine(system / "intel_pstate/no_turbo")) {
    cpu["turbo"] = *no_turbo == "0";
  } else if (auto boost = ReadLine(system / "cpufreq/boost")) {
    cpu["turbo"] = *boost == "1";
  }
  return cpu;
}

int64_t TotalMemory(const fs::path& root) {
  std::ifstream in(root / "proc/meminfo");
  std::string key;
  int64_t kilobytes = 0;
  in >> key >> kilobytes;
  return key == "MemTotal:" ? kilobytes * 1024 : 0;
}

// The folder of the worker's own control group, of version 2 or of the controller of version 1.
fs::path ControlGroup(const fs::path& root, std::string_view controller) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1), path = line.substr(second + 2);
    if (names == controller) return root / "sys/fs/cgroup" / controller / path;
    if (names.empty() && fs::exists(root / "sys/fs/cgroup/cgroup.controllers")) return root / "sys/fs/cgroup" / path;
  }
  return root / "sys/fs/cgroup" / controller;
}

// The smallest memory limit of the control groups from `folder` upwards; 0: none.
int64_t MemoryLimit(const fs::path& root) {
  int64_t limit = 0;
  for (fs::path folder = ControlGroup(root, "memory"); folder != root && folder.has_relative_path();
       folder = folder.parent_path()) {
    for (const char* file : {"memory.max", "memory.limit_in_bytes"}) {
      const std::optional<int64_t> value = ReadNumber(folder / file);
      // Version 1 writes "none" as a number near 2^63.
      if (value && *value > 0 && *value < (int64_t{1} << 60)) limit = limit == 0 ? *value : std::min(limit, *value);
    }
  }
  return limit;
}

void Sort(const json::value& value, std::string& to) {
  if (const json::object* object = value.if_object()) {
    std::map<std::string, const json::value*> sorted;
    for (const auto& [key, item] : *object) sorted[std::string(key)] = &item;
    to += '{';
    for (bool first = true; const auto& [key, item] : sorted) {
      if (!first) to += ',';
      first = false;
      to += json::serialize(json::string(key)) + ":";
      Sort(*item, to);
    }
    to += '}';
  } else if (const json::array* array = value.if_array()) {
    to += '[';
    for (bool first = true; const json::value& item : *array) {
      if (!first) to += ',';
      first = false;
      Sort(item, to);
    }
    to += ']';
  } else {
    to += json::serialize(value);
  }
}

// The entries of `folder` that are called `prefix` and a number, in the order of the numbers.
std::vector<fs::path> Numbered(const fs::path& folder, std::string_view prefix) {
  std::map<int, fs::path> sorted;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    if (!name.starts_with(prefix)) continue;
    const auto read = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (read.ec == std::errc() && read.ptr == name.data() + name.size()) sorted[number] = entry.path();
  }
  std::vector<fs::path> paths;
  for (auto& [number, path] : sorted) paths.push_back(std::move(path));
  return paths;
}

// A second one of a name is called "NAME 2".
void AddTemperature(json::object& to, const std::string& name, int64_t milli) {
  std::string unique = name;
  for (int i = 2; to.contains(unique); ++i) unique = fmt::format("{} {}", name, i);
  to[unique] = static_cast<double>(milli) / 1000;
}

// Of the thermal zones, and of the processors' own sensors, whose cores are left out where a sensor stands for them
// all.
json::object Temperatures(const fs::path& root) {
  json::object temperatures;
  for (const fs::path& zone : Numbered(root / "sys/class/thermal", "thermal_zone")) {
    const auto milli = ReadNumber(zone / "temp");
    const auto type = ReadLine(zone / "type");
    if (milli && type) AddTemperature(temperatures, *type, *milli);
  }
  for (const fs::path& chip : Numbered(root / "sys/class/hwmon", "hwmon")) {
    const std::string name = ReadLine(chip / "name").value_or("");
    if (name != "coretemp" && name != "k10temp") continue;
    std::vector<std::pair<std::string, int64_t>> cores, others;
    constexpr int kSensors = 256;
    for (int i = 1; i <= kSensors; ++i) {
      const auto milli = ReadNumber(chip / fmt::format("temp{}_input", i));
      if (!milli) continue;
      std::string label = ReadLine(chip / fmt::format("temp{}_label", i)).value_or(fmt::format("temp{}", i));
      (label.starts_with("Core ") ? cores : others).emplace_back(std::move(label), *milli);
    }
    for (const auto& [label, milli] : others.empty() ? cores : others) {
      AddTemperature(temperatures, name + " " + label, milli);
    }
  }
  return temperatures;
}

}  // namespace

std::string StableText(const json::value& value) {
  std::string text;
  Sort(value, text);
  return text;
}

int64_t MemoryLimitOf(const Config& config, const fs::path& root) {
  if (config.memory_limit_bytes > 0) return config.memory_limit_bytes;
  const int64_t total = TotalMemory(root), limit = MemoryLimit(root);
  return (limit > 0 && total > 0 ? std::min(limit, total) : std::max(limit, total)) / 5 * 4;
}

Environment CaptureEnvironment(const Config& config, bool memory_enforced, const fs::path& root) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  Environment environment;
  json::object system;
  utsname name{};
  ::uname(&name);
  system["kernel"] = fmt::format("{} {} {}", name.sysname, name.release, name.machine);
  system["libc"] = fmt::format("glibc {}", ::gnu_get_libc_version());
  Put(system, "transparent_huge_pages", ReadLine(root / "sys/kernel/mm/transparent_hugepage/enabled"));
  Put(system, "address_randomisation", ReadLine(root / "proc/sys/kernel/randomize_va_space"));

  const int64_t total = TotalMemory(root), limit = MemoryLimit(root);
  json::object limits;
  Put(limits, "cpu_max", ReadLine(ControlGroup(root, "cpu") / "cpu.max"));
  Put(limits, "cpu_quota_us", ReadLine(ControlGroup(root, "cpu") / "cpu.cfs_quota_us"));
  if (limit > 0) limits["memory_bytes"] = limit;
  limits["cpus"] = fmt::format("{}", fmt::join(AllowedCpus(), ","));
  // Rounded: what the kernel keeps for itself differs a little from boot to boot.
  json::object memory = {{"gib", (total + kGiB / 2) / kGiB}};

  environment.json = {{"cpu", Cpu(root)},
                      {"system", std::move(system)},
                      {"memory", std::move(memory)},
                      {"limits", std::move(limits)},
                      {"sandbox", std::string(Name(config.sandbox))},
                      {"threads", config.threads},
                      {"pinned_cpus", json::value_from(config.cpus)},
                      {"memory_enforced", memory_enforced ? "cgroup" : "none"}};
  environment.hash = graph::Sha256Hex(StableText(environment.json));
  environment.memory_limit_bytes = MemoryLimitOf(config, root);
  return environment;
}

Environment ForTrial(const Environment& machine, const v1::Device& device,
                     const std::vector<const KnownRunner*>& runners) {
  Environment environment = machine;
  json::array software, cohort_software;
  for (const KnownRunner* runner : runners) {
    const v1::Runner& offer = runner->offer;
    software.push_back(json::object({{"runner", offer.name()},
                                     {"version", offer.version()},
                                     {"build", offer.build()},
                                     {"environment", offer.environment()},
                                     {"environment_hash", offer.environment_hash()}}));
    cohort_software.push_back(json::value(offer.name() + " " + offer.version()));
  }
  environment.json["device"] = json::object({{"id", device.id()}, {"kind", device.kind()}, {"model", device.model()}});
  environment.json["software"] = std::move(software);
  environment.json["cohort"] = json::object({{"device", device.model()}, {"software", std::move(cohort_software)}});
  environment.hash = graph::Sha256Hex(StableText(environment.json));
  return environment;
}

Conditions CaptureConditions(const fs::path& root) {
  Conditions conditions;
  if (const auto line = ReadLine(root / "proc/loadavg")) {
    std::istringstream in(*line);
    double one = 0, five = 0;
    if (in >> one >> five) conditions.json["load_average"] = json::array({one, five});
  }
  json::array clocks;
  for (const fs::path& cpu : Numbered(root / "sys/devices/system/cpu", "cpu")) {
    if (const auto khz = ReadNumber(cpu / "cpufreq/scaling_cur_freq")) clocks.push_back(*khz);
    if (const auto count = ReadNumber(cpu / "thermal_throttle/core_throttle_count")) {
      conditions.throttle_count = conditions.throttle_count.value_or(0) + *count;
    }
  }
  if (!clocks.empty()) conditions.json["clocks_khz"] = std::move(clocks);
  if (json::object temperatures = Temperatures(root); !temperatures.empty()) {
    conditions.json["temperatures_c"] = std::move(temperatures);
  }
  return conditions;
}

json::object TellConditions(const Conditions& before, const Conditions& after) {
  json::object told = {{"before", before.json}, {"after", after.json}};
  if (before.throttle_count && after.throttle_count) {
    told["throttled"] = *after.throttle_count - *before.throttle_count;
  }
  return told;
}

}  // namespace assay::worker
