// `assay up`: a private Postgres, one server and one worker on this machine, together. All of them go when it goes:
// on SIGINT or SIGTERM in order, on kill -9 by the kernel (PR_SET_PDEATHSIG) and a guard process. A child that dies is
// started again. Logs are in STATE/log.
// Thread safety: the main thread, before any other is made.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "client/installation.h"
#include "client/state_folder.h"

namespace assay::client {

struct UpOptions {
  std::filesystem::path state;
  int http_port = 0, grpc_port = 0;  // 0: those of the last time where they are free, else free ones
  int threads = 0;
  std::vector<std::pair<std::string, std::filesystem::path>> environments;
  std::function<void(const std::string&)> say;  // what happens, for people
  std::function<void(const LocalService&)> ready;
};

// Runs until it is asked to end (OK) or cannot go on. Aborted where one runs in this state folder already.
absl::Status RunUp(const UpOptions& options, const Installation& installation);

// Asks the one that runs here to end and waits until all is down. False where none runs.
absl::StatusOr<bool> RunDown(const std::filesystem::path& state);

}  // namespace assay::client
