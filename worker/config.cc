#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include "worker/config.h"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "fmt/format.h"
#include "toml++/toml.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

// Reads the keys of one table and remembers the first thing that is wrong.
class Reader {
 public:
  Reader(const toml::table& table, std::string where, absl::Status& status)
      : table_(table), where_(std::move(where)), status_(status) {}

  template <typename T>
  void Read(std::string_view key, T& to) {
    const toml::node* node = Find(key);
    if (node == nullptr) return;
    if constexpr (std::is_same_v<T, std::string>) {
      if (auto value = node->value_exact<std::string>())
        to = *value;
      else
        Fail(key, "a string");
    } else if constexpr (std::is_same_v<T, bool>) {
      if (auto value = node->value_exact<bool>())
        to = *value;
      else
        Fail(key, "true or false");
    } else if constexpr (std::is_same_v<T, double>) {
      if (auto value = node->value<double>(); value && *value > 0)
        to = *value;
      else
        Fail(key, "a number of seconds above 0");
    } else {
      if (auto value = node->value_exact<int64_t>(); value && *value >= 0 && *value <= std::numeric_limits<T>::max()) {
        to = static_cast<T>(*value);
      } else {
        Fail(key, "a whole number of 0 or more");
      }
    }
  }

  void Read(std::string_view key, std::vector<std::string>& to) {
    const toml::node* node = Find(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr) return Fail(key, "a list of strings");
    to.clear();
    for (const toml::node& item : *array) {
      auto value = item.value_exact<std::string>();
      if (!value) return Fail(key, "a list of strings");
      to.push_back(*value);
    }
  }

  void Read(std::string_view key, std::map<std::string, std::string>& to) {
    const toml::node* node = Find(key);
    if (node == nullptr) return;
    const toml::table* table = node->as_table();
    if (table == nullptr) return Fail(key, "a table of strings");
    for (const auto& [name, item] : *table) {
      auto value = item.value_exact<std::string>();
      if (!value) return Fail(key, "a table of strings");
      to[std::string(name.str())] = *value;
    }
  }

  const toml::node* Find(std::string_view key) {
    known_.insert(std::string(key));
    return table_.get(key);
  }

  void Fail(std::string_view key, std::string_view wanted) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(fmt::format("{}: {} must be {}", where_, key, wanted));
  }

  // To be called last: any other key is an error.
  void RefuseOthers() {
    for (const auto& [key, node] : table_) {
      if (status_.ok() && !known_.contains(std::string(key.str()))) {
        status_ = absl::InvalidArgumentError(
            fmt::format("{}: unknown key {}; known are {}", where_, key.str(), fmt::join(known_, ", ")));
      }
    }
  }

 private:
  const toml::table& table_;
  std::string where_;
  absl::Status& status_;
  std::set<std::string> known_;
};

std::string Absolute(const fs::path& folder, const std::string& path) {
  if (path.empty()) return path;
  return (fs::path(path).is_absolute() ? fs::path(path) : folder / path).lexically_normal().string();
}

RunnerConfig ReadRunner(const toml::table& table, size_t index, const fs::path& folder, absl::Status& status) {
  RunnerConfig runner;
  Reader reader(table, fmt::format("[[runner]] number {}", index + 1), status);
  reader.Read("name", runner.name);
  reader.Read("command", runner.command);
  reader.Read("environment", runner.environment);
  reader.Read("venv", runner.venv);
  reader.Read("trusted", runner.trusted);
  reader.Read("warm", runner.warm);
  reader.Read("paths", runner.paths);
  reader.Read("devices", runner.devices);
  reader.Read("variables", runner.variables);
  reader.Read("start_timeout_seconds", runner.start_timeout_seconds);
  reader.RefuseOthers();
  if (runner.name.empty()) reader.Fail("name", "given");
  if (runner.environment.empty()) reader.Fail("environment", "a name");
  if (runner.command.empty() || runner.command[0].empty()) {
    reader.Fail("command", "a list: the program's path and its arguments");
  } else if (runner.command[0].find('/') != std::string::npos) {
    runner.command[0] = Absolute(folder, runner.command[0]);
  } else {
    reader.Fail("command", "a list whose first item is a path with a slash in it");
  }
  runner.venv = Absolute(folder, runner.venv);
  for (std::string& path : runner.paths) path = Absolute(folder, path);
  return runner;
}

// Whether `outer` is `inner` or a folder above it.
bool Contains(const fs::path& outer, const fs::path& inner) {
  const fs::path relative = inner.lexically_relative(outer);
  return !relative.empty() && *relative.begin() != "..";
}

absl::Status CheckExposure(const Config& config) {
  for (const RunnerConfig& runner : config.runners) {
    std::vector<std::string> exposed = runner.paths;
    if (!runner.venv.empty()) exposed.push_back(runner.venv);
    for (const std::string& path : exposed) {
      if (Contains(path, config.state_dir)) {
        return absl::InvalidArgumentError(fmt::format(
            "runner {} may read {}, which holds the worker's state folder {}: name narrower paths, or move state_dir",
            runner.name, path, config.state_dir.string()));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadText(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return absl::NotFoundError(fmt::format("{} cannot be read", file.string()));
  return text.str();
}

}  // namespace

std::string_view Name(SandboxLevel level) { return level == SandboxLevel::kFull ? "full" : "none"; }

absl::StatusOr<std::vector<int>> ParseCpuList(std::string_view text) {
  std::vector<int> cpus;
  const auto invalid = [&] {
    return absl::InvalidArgumentError(fmt::format("\"{}\" is not a list of CPUs such as \"0-3,8\"", text));
  };
  size_t start = 0;
  while (start <= text.size()) {
    const size_t comma = std::min(text.find(',', start), text.size());
    const std::string_view part = text.substr(start, comma - start);
    int first = 0, last = 0;
    const char* end = part.data() + part.size();
    auto [p, error] = std::from_chars(part.data(), end, first);
    if (error != std::errc() || first < 0) return invalid();
    last = first;
    if (p != end) {
      if (*p != '-') return invalid();
      auto [q, second_error] = std::from_chars(p + 1, end, last);
      if (second_error != std::errc() || q != end || last < first || last > 8191) return invalid();
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    start = comma + 1;
  }
  return cpus;
}

absl::StatusOr<Config> ParseConfig(std::string_view text, const fs::path& folder) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return absl::InvalidArgumentError(
        fmt::format("line {}: {}", parsed.error().source().begin.line, std::string(parsed.error().description())));
  }
  absl::Status status;
  Config config;
  std::string state_dir, lock_dir, sandbox = "full", cpus, token_file;
  Reader reader(parsed.table(), "worker configuration", status);
  reader.Read("server", config.server);
  reader.Read("token", config.token);
  reader.Read("token_file", token_file);
  reader.Read("server_ca", config.server_ca);
  reader.Read("client_certificate", config.client_certificate);
  reader.Read("client_key", config.client_key);
  reader.Read("name", config.name);
  reader.Read("state_dir", state_dir);
  reader.Read("lock_dir", lock_dir);
  reader.Read("sandbox", sandbox);
  reader.Read("threads", config.threads);
  reader.Read("harness_threads", config.harness_threads);
  reader.Read("memory_limit_bytes", config.memory_limit_bytes);
  reader.Read("cpus", cpus);
  reader.Read("nice", config.nice);
  reader.Read("drain_seconds", config.drain_seconds);
  if (const toml::node* node = reader.Find("maximum_calibration_error")) {
    const std::optional<double> value = node->value<double>();
    if (value && *value > 0 && *value <= 1) {
      config.maximum_calibration_error = *value;
    } else {
      reader.Fail("maximum_calibration_error", "a share above 0 and at most 1, for example 0.02");
    }
  }
  if (const toml::node* node = reader.Find("limits")) {
    if (const toml::table* table = node->as_table()) {
      Reader limits(*table, "[limits]", status);
      limits.Read("load_seconds", config.limits.load_seconds);
      limits.Read("compile_seconds", config.limits.compile_seconds);
      limits.Read("run_seconds", config.limits.run_seconds);
      limits.RefuseOthers();
    } else {
      reader.Fail("limits", "a table");
    }
  }
  if (const toml::node* node = reader.Find("runner")) {
    const toml::array* array = node->as_array();
    if (array == nullptr || !array->is_homogeneous<toml::table>()) {
      reader.Fail("runner", "tables, each written [[runner]]");
    } else {
      for (size_t i = 0; i < array->size(); ++i) {
        config.runners.push_back(ReadRunner(*array->get(i)->as_table(), i, folder, status));
      }
    }
  }
  reader.RefuseOthers();
  if (state_dir.empty()) reader.Fail("state_dir", "given: a folder that the worker may write");
  if (sandbox != "full" && sandbox != "none") reader.Fail("sandbox", "\"full\" or \"none\"");
  if (!status.ok()) return status;

  config.sandbox = sandbox == "full" ? SandboxLevel::kFull : SandboxLevel::kNone;
  config.state_dir = Absolute(folder, state_dir);
  config.lock_dir =
      lock_dir.empty() ? fs::temp_directory_path() / "assay-device-locks" : fs::path(Absolute(folder, lock_dir));
  for (std::string* path : {&config.server_ca, &config.client_certificate, &config.client_key}) {
    *path = Absolute(folder, *path);
  }
  if (!token_file.empty()) {
    if (!config.token.empty()) return absl::InvalidArgumentError("give token or token_file, not both");
    absl::StatusOr<std::string> token = ReadText(Absolute(folder, token_file));
    if (!token.ok()) return token.status();
    config.token = *token;
    while (!config.token.empty() && isspace(static_cast<unsigned char>(config.token.back()))) config.token.pop_back();
  }
  if (!cpus.empty()) {
    absl::StatusOr<std::vector<int>> list = ParseCpuList(cpus);
    if (!list.ok()) return list.status();
    config.cpus = *std::move(list);
  }
  if (config.name.empty()) {
    char host[256] = "worker";
    ::gethostname(host, sizeof(host) - 1);
    config.name = host;
  }
  std::set<std::pair<std::string, std::string>> names;
  for (const RunnerConfig& runner : config.runners) {
    if (!names.emplace(runner.name, runner.environment).second) {
      return absl::InvalidArgumentError(
          fmt::format("two runners are named {} in the environment {}", runner.name, runner.environment));
    }
  }
  if (absl::Status exposure = CheckExposure(config); !exposure.ok()) return exposure;
  return config;
}

absl::StatusOr<Config> ReadConfig(const fs::path& file) {
  absl::StatusOr<std::string> text = ReadText(file);
  if (!text.ok()) return text.status();
  std::error_code error;
  absl::StatusOr<Config> config = ParseConfig(*text, fs::absolute(file, error).parent_path());
  if (!config.ok()) {
    return absl::Status(config.status().code(),
                        fmt::format("{}: {}", file.string(), std::string(config.status().message())));
  }
  return config;
}

}  // namespace assay::worker
