#include "runner/pjrt/params.h"

#include "graph/text.h"

namespace assay::pjrt {

using graph::Cat;

absl::StatusOr<std::string> Text(const boost::json::object& params, std::string_view name) {
  const boost::json::value* value = params.if_contains(name);
  if (value == nullptr || !value->is_string())
    return absl::InvalidArgumentError(Cat("the request needs the text \"", name, "\""));
  return std::string(std::string_view(value->get_string()));
}

absl::StatusOr<int64_t> Integer(const boost::json::object& params, std::string_view name) {
  const boost::json::value* value = params.if_contains(name);
  if (value == nullptr || !value->is_int64()) {
    return absl::InvalidArgumentError(Cat("the request needs the integer \"", name, "\""));
  }
  return value->get_int64();
}

absl::StatusOr<std::vector<int64_t>> Integers(const boost::json::object& params, std::string_view name, int64_t minimum,
                                              int64_t maximum) {
  const boost::json::value* value = params.if_contains(name);
  if (value == nullptr || !value->is_array()) {
    return absl::InvalidArgumentError(Cat("the request needs the list of integers \"", name, "\""));
  }
  std::vector<int64_t> integers;
  for (const boost::json::value& one : value->get_array()) {
    if (!one.is_int64() || one.get_int64() < minimum || one.get_int64() > maximum) {
      return absl::InvalidArgumentError(
          Cat("\"", name, "\" must hold integers from ", minimum, " to ", maximum, " only"));
    }
    integers.push_back(one.get_int64());
  }
  return integers;
}

}  // namespace assay::pjrt
