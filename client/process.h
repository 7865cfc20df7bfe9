// Child processes of `assay up`: each in a process group of its own, its output in a log file, told to end by the
// kernel when `assay up` dies. Thread safety: the thread that starts a child must live as long as the process, for the
// kernel tells the child when that *thread* ends. So: one thread, the main one.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::client {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
};

struct ProcessSpec {
  std::string name;                        // for people: "server"
  std::vector<std::string> argv;           // argv[0] is a path
  std::map<std::string, std::string> env;  // besides those of this process
  std::filesystem::path log;               // standard output and error are appended
  int end_signal = 15;                     // asks it to end
  std::optional<User> user;                // drops privileges for good
  std::filesystem::path folder;            // working folder; empty: as it is
};

// Starts it; an error says why the program cannot be run. Its process group has its pid.
absl::StatusOr<pid_t> StartProcess(const ProcessSpec& spec);

// Runs it to its end; an error where the exit code is not 0, with the end of its log.
absl::Status RunToEnd(const ProcessSpec& spec, const std::string& standard_input = "");

// "exit code 3", "signal 9 (Killed)": of a wait status.
std::string EndText(int wait_status);

// The last lines of a log file.
std::string LogTail(const std::filesystem::path& log, int lines = 12);

}  // namespace assay::client
