// Checks a compiler's options against the closed schema that its runner describes.
//
// The schema language is the subset of JSON Schema that an allow-list needs: an object with `properties` and
// "additionalProperties": false, each property one of {"type": "boolean"}, {"type": "integer" | "number", "minimum",
// "maximum"}, {"type": "string", "enum": [...]} or {"enum": [...]}, with `default`, `description` and `title` beside. A
// string without an enumeration is refused: it could name a file, a command or flags. Anything else in a schema makes
// the schema itself invalid, so that no rule is silently passed over. Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/struct.pb.h"

namespace assay::server {

// InvalidArgument where the schema is not a closed one of the subset. An empty schema (no fields) takes no options.
absl::Status ValidateSchema(const google::protobuf::Struct& schema);

// InvalidArgument names the option and what would have been accepted. FailedPrecondition: the schema is not valid.
absl::Status CheckOptions(const google::protobuf::Struct& schema, const google::protobuf::Struct& options);

// One text for equal options: keys sorted, whole numbers without a fraction.
std::string CanonicalJson(const google::protobuf::Struct& options);

}  // namespace assay::server
