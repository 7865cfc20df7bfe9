// The exit codes of the `assay` command: scripts rely on them, so a number never changes its meaning.
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace assay::client {

enum ExitCode : int {
  kOk = 0,
  kNo = 1,            // asked and answered, and the answer is no: a graph was refused, an evaluation was cancelled
  kUsage = 2,         // the command line, or a value in the request, is wrong
  kUnreachable = 3,   // no server answers
  kDenied = 4,        // the token is missing, wrong, expired, or of a lower role than is needed
  kNotFound = 5,      // no such file, suite, graph, evaluation, worker or token
  kPrecondition = 6,  // not possible in the present state, or over a limit
  kFailed = 7,        // anything else
  kInterrupted = 130,
};

ExitCode ExitCodeOf(const absl::Status& status);

// For `--help`.
inline constexpr std::string_view kExitCodesHelp =
    "Exit codes:\n"
    "  0  done                          4  token missing, wrong, or of too low a role\n"
    "  1  the answer is no (a graph     5  not found\n"
    "     refused, a run cancelled …)   6  not possible in the present state, or over a limit\n"
    "  2  wrong usage or value          7  anything else\n"
    "  3  no server answers             130  interrupted\n";

}  // namespace assay::client
