// The configuration of the worker that `assay up` runs: the runners that ship with Assay, that of XLA where it is set
// up, and a Python runner for each further environment (a virtual environment with another wheel) that the user named.
// Thread safety: pure functions.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/installation.h"

namespace assay::client {

struct LocalWorker {
  std::string server;  // host:port
  std::filesystem::path token_file;
  std::filesystem::path state_folder;  // relative: from the configuration's folder
  int threads = 0;                     // 0: the worker's own default
  std::filesystem::path torch_runner;  // program; empty: there is none
  std::filesystem::path venv;          // empty: there is none
  std::filesystem::path xla_runner;    // program; empty: there is none
  Installation::Xla xla;               // with it
  bool gpu = false, tpu = false;       // there are such devices here, which the plug-ins can run on
  std::filesystem::path python_path;   // empty: Assay's packages are installed in the environments
  std::vector<std::pair<std::string, std::filesystem::path>> environments;
};

// "NAME=FOLDER", FOLDER a virtual environment.
absl::StatusOr<std::pair<std::string, std::filesystem::path>> ParseEnvironment(const std::string& text);

// The TOML text of worker/config.h.
std::string WorkerConfig(const LocalWorker& worker);

}  // namespace assay::client
