// A worker's configuration: one TOML file (worker/README.md lists every key). Only this file names commands.
// Thread safety: a const Config may be read from any number of threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay::worker {

enum class SandboxLevel { kFull, kNone };
std::string_view Name(SandboxLevel level);  // "full", "none"

struct RunnerConfig {
  std::string name;                     // for people and in error messages
  std::vector<std::string> command;     // command[0] is a path
  std::string environment = "default";  // name of the runner environment
  std::string venv;                     // folder of the environment's packages; empty: none
  bool trusted = false;
  bool warm = true;                              // keep its parent between trials, where it can fork
  std::vector<std::string> paths;                // further files and folders that the runner may read
  std::vector<std::string> devices;              // device files, for example "/dev/nvidia0"
  std::map<std::string, std::string> variables;  // environment variables; nothing is inherited
  double start_timeout_seconds = 120;
};

// Limits of one request each; those of a trial's policy come before these.
struct PhaseLimits {
  double load_seconds = 300;
  double compile_seconds = 900;
  double run_seconds = 300;  // of one call
};

struct Config {
  std::string server;  // host:port
  std::string token;
  std::string server_ca;                       // PEM file; empty: no TLS
  std::string client_certificate, client_key;  // PEM files, for mutual TLS; empty: none
  std::string name;                            // host name by default
  std::filesystem::path state_dir;
  std::filesystem::path lock_dir;  // device locks; shared by all workers of a host
  SandboxLevel sandbox = SandboxLevel::kFull;
  int threads = 1;                       // intra-op threads where a policy gives none
  int harness_threads = 0;               // of replay and comparison; 0: all cores
  int64_t memory_limit_bytes = 0;        // of one runner; 0: 80 % of what the worker may use
  std::vector<int> cpus;                 // runners are pinned to these; empty: not pinned
  int nice = -10;                        // of runners while they are timed, where the worker may; 0: as they are
  double maximum_calibration_error = 0;  // devices whose A/A error is above get calibration trials only; 0: no limit
  double drain_seconds = 30;             // how long SIGTERM lets running trials finish
  PhaseLimits limits;
  std::vector<RunnerConfig> runners;
};

// Reads a file; relative paths in it are taken from its folder. `token` may be given as `token_file`.
// InvalidArgument names the file, the line where TOML knows it, the key and what would be accepted; an unknown key is
// an error.
absl::StatusOr<Config> ReadConfig(const std::filesystem::path& file);
absl::StatusOr<Config> ParseConfig(std::string_view text, const std::filesystem::path& folder);

// "0-3,8" → {0, 1, 2, 3, 8}.
absl::StatusOr<std::vector<int>> ParseCpuList(std::string_view text);

}  // namespace assay::worker
