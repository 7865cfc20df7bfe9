#include "server/option_schema.h"

#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"

namespace assay::server {
namespace {

using google::protobuf::Struct;

Struct Json(const std::string& text) {
  Struct out;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(text, &out).ok()) << text;
  return out;
}

const char kSchema[] = R"({"type": "object", "additionalProperties": false, "properties": {
  "mode": {"type": "string", "enum": ["default", "max-autotune"]},
  "dynamic": {"type": "boolean", "default": false},
  "threads": {"type": "integer", "minimum": 1, "maximum": 64},
  "ratio": {"type": "number", "minimum": 0, "maximum": 1}}})";

std::string Check(const std::string& options) {
  return std::string(CheckOptions(Json(kSchema), Json(options)).message());
}

TEST(OptionSchema, AcceptsWhatIsListed) {
  EXPECT_EQ(Check(R"({"mode": "max-autotune", "dynamic": true, "threads": 64, "ratio": 0.5})"), "");
  EXPECT_EQ(Check("{}"), "");
}

TEST(OptionSchema, RefusesTheRestAndSaysWhatIsAccepted) {
  EXPECT_EQ(Check(R"({"mode": "x"})"), R"(option 'mode' is "x"; accepted: "default", "max-autotune")");
  EXPECT_EQ(Check(R"({"cpp.cxx": "sh"})"), "option 'cpp.cxx' is not known; accepted: dynamic, mode, ratio, threads");
  EXPECT_EQ(Check(R"({"dynamic": "true"})"), R"(option 'dynamic' is "true"; accepted: true, false)");
  EXPECT_EQ(Check(R"({"dynamic": 1})"), "option 'dynamic' is 1; accepted: true, false");
  EXPECT_EQ(Check(R"({"threads": 65})"), "option 'threads' is 65; accepted: an integer from 1 to 64");
  EXPECT_EQ(Check(R"({"threads": 1.5})"), "option 'threads' is 1.5; accepted: an integer from 1 to 64");
  EXPECT_EQ(Check(R"({"threads": null})"), "option 'threads' is null; accepted: an integer from 1 to 64");
  EXPECT_EQ(Check(R"({"ratio": [1]})"), "option 'ratio' is [1]; accepted: a number from 0 to 1");
  EXPECT_EQ(Check(R"({"mode": {"a": "default"}})"),
            R"(option 'mode' is {"a":"default"}; accepted: "default", "max-autotune")");
}

TEST(OptionSchema, OpenSchemasAreInvalid) {
  for (const char* schema : {
           R"({"type": "object", "properties": {}})",
           R"({"type": "object", "additionalProperties": true, "properties": {}})",
           R"({"type": "object", "additionalProperties": false, "properties": {"flags": {"type": "string"}}})",
           R"({"type": "object", "additionalProperties": false, "properties": {"n": {"type": "integer"}}})",
           R"({"type": "object", "additionalProperties": false, "properties": {"n": {}}})",
           R"({"type": "object", "additionalProperties": false, "properties": {"n": {"anyOf": []}}})",
           R"({"type": "object", "additionalProperties": false, "patternProperties": {}})",
           R"({"type": "object", "additionalProperties": false, "properties": {"n": {"enum": [{}]}}})",
       }) {
    EXPECT_FALSE(ValidateSchema(Json(schema)).ok()) << schema;
  }
  EXPECT_TRUE(ValidateSchema(Json(kSchema)).ok());
  EXPECT_TRUE(ValidateSchema(Struct()).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckOptions(Json(R"({"type": "object"})"), Json(R"({"a": 1})"))));
}

TEST(OptionSchema, NoSchemaTakesNoOptions) {
  EXPECT_TRUE(CheckOptions(Struct(), Struct()).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckOptions(Struct(), Json(R"({"a": 1})"))));
}

TEST(OptionSchema, CanonicalJsonIsSorted) {
  EXPECT_EQ(CanonicalJson(Json(R"({"b": 1.0, "a": "x\"", "c": [true, null, 0.1], "d": {"z": 1, "y": 2}})")),
            R"({"a":"x\"","b":1,"c":[true,null,0.10000000000000001],"d":{"y":2,"z":1}})");
}

}  // namespace
}  // namespace assay::server
