// Targets, suites and option values as people write them on a command line:
//   target  COMPILER[@env:ENVIRONMENT][@DEVICE]   inductor   inductor@env:nightly   torchscript@cuda
//   suite   NAME[@VERSION]                        graphnet-torch   graphnet-torch@3
//   option  NAME=VALUE                            VALUE is a boolean, a number or a text
// Errors are InvalidArgument and say what would have been accepted.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/common.pb.h"

namespace assay::client {

absl::StatusOr<v1::Target> ParseTarget(std::string_view text);
// The reverse; options stand behind it in braces.
std::string TargetText(const v1::Target& target);
// With all that tells two builds apart: "inductor 2.1 (python, environment 0123456789ab) on cpu".
std::string FullTarget(const v1::Target& target);

struct SuiteName {
  std::string name;
  int version = 0;  // 0: the newest
};
absl::StatusOr<SuiteName> ParseSuite(std::string_view text);

// Adds "name=value" to the target's options: true, false and numbers are typed, "quoted" and all else is text.
absl::Status AddOption(std::string_view text, v1::Target& target);

}  // namespace assay::client
