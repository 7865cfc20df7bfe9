// Reads the fields of a request; what is missing or of another kind is InvalidArgument.
// Thread safety: pure functions.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::pjrt {

absl::StatusOr<std::string> Text(const boost::json::object& params, std::string_view name);
absl::StatusOr<int64_t> Integer(const boost::json::object& params, std::string_view name);
// Each item from `minimum` to `maximum`.
absl::StatusOr<std::vector<int64_t>> Integers(const boost::json::object& params, std::string_view name, int64_t minimum,
                                              int64_t maximum);

}  // namespace assay::pjrt
