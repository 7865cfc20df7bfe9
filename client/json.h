// The API's own JSON: names in camelCase, every field present, enumerations by name, 64-bit integers as text. One line.
// Thread safety: pure.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace google::protobuf {
class Message;
}

namespace assay::client {

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message);

}  // namespace assay::client
