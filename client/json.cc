#include "client/json.h"

#include <google/protobuf/util/json_util.h>

namespace assay::client {

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) return absl::InternalError("the answer has no JSON form: " + status.ToString());
  return json;
}

}  // namespace assay::client
