// The options of the compiler `xla`: a closed, typed table of XLA's flags, by platform and by the versions of the
// plug-in that have them. They are given to one compilation, never through the environment. Flags that name files or
// folders, write dumps or take free text are not in it. Thread safety: pure functions.
#pragma once

#include <boost/json.hpp>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::pjrt {

inline constexpr int kLatestApi = std::numeric_limits<int>::max();

struct Flag {
  enum class Type { kBool, kInt, kChoice };
  std::string_view name;      // "xla_cpu_enable_fast_math"
  std::string_view platform;  // "cpu", "cuda", "tpu"; empty: every one
  Type type = Type::kBool;
  int64_t minimum = 0, maximum = 0;       // of kInt
  std::vector<std::string_view> choices;  // of kChoice
  std::string_view description;
  // Minor versions of the plug-in's PJRT interface, which is of the version 0, that are known to have it.
  int first_api = 0, last_api = kLatestApi;
};

const std::vector<Flag>& Flags();

struct Override {
  std::string_view name;
  std::variant<bool, int64_t, std::string> value;
};

// The closed JSON schema of the options on a platform, of a plug-in with that minor version of the interface.
boost::json::object OptionsSchema(std::string_view platform, int api);

// Checks options against the table. InvalidArgument names the option, what was given and what would be accepted.
absl::StatusOr<std::vector<Override>> ParseOptions(const boost::json::object& options, std::string_view platform,
                                                   int api);

// A serialised CompileOptionsProto: one replica, one partition, the overrides. `device` is the device's number, or -1
// to leave it to the plug-in.
std::string CompileOptions(const std::vector<Override>& overrides, int device);

}  // namespace assay::pjrt
