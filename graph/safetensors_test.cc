#include "graph/safetensors.h"

#include <limits>

#include "gmock/gmock.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

using ::testing::HasSubstr;

std::vector<TensorSpec> Specs() {
  return {{"a", DType::kBool, {3}},       {"b\"\\", DType::kFloat32, {2, 5}}, {"c", DType::kFloat16, {}},
          {"d", DType::kInt64, {0, 7}},   {"e", DType::kFloat8E5M2, {64}},    {"f", DType::kComplex64, {1, 1, 3}},
          {"g", DType::kBFloat16, {2, 2}}};
}

TEST(SafetensorsTest, PlansAlignedTensors) {
  const TensorLayout layout = PlanTensors(Specs());
  ASSERT_EQ(layout.entries.size(), 7u);
  EXPECT_EQ(layout.header.size() % kTensorAlignment, 0u);
  for (const TensorLayout::Entry& entry : layout.entries)
    EXPECT_EQ(entry.offset % kTensorAlignment, 0) << entry.spec.name;
  EXPECT_EQ(layout.Find("b\"\\")->bytes, 40);
  EXPECT_EQ(layout.Find("none"), nullptr);
  EXPECT_EQ(layout.file_bytes, layout.entries.back().offset + 8);
}

TEST(SafetensorsTest, ReadsWhatItPlans) {
  for (const std::vector<TensorSpec>& specs : {Specs(), std::vector<TensorSpec>{}}) {
    const TensorLayout layout = PlanTensors(specs);
    const absl::StatusOr<TensorLayout> read = ReadTensorHeader(layout.header + "behind it", layout.file_bytes);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->header, layout.header);
    EXPECT_EQ(read->file_bytes, layout.file_bytes);
    ASSERT_EQ(read->entries.size(), layout.entries.size());
    for (size_t i = 0; i < specs.size(); ++i) {
      EXPECT_EQ(read->entries[i].spec.name, specs[i].name);
      EXPECT_EQ(read->entries[i].spec.dtype, specs[i].dtype);
      EXPECT_EQ(read->entries[i].spec.shape, specs[i].shape);
      EXPECT_EQ(read->entries[i].offset, layout.entries[i].offset);
      EXPECT_EQ(read->entries[i].bytes, layout.entries[i].bytes);
    }
  }
}

std::string Header(std::string_view json) {
  std::string header(8, '\0');
  for (int i = 0; i < 8; ++i) header[i] = static_cast<char>(json.size() >> (8 * i));
  return Cat(header, json);
}

void ExpectRefused(std::string_view json, int64_t data_bytes, std::string_view why) {
  const std::string header = Header(json);
  const absl::StatusOr<TensorLayout> read = ReadTensorHeader(header, static_cast<int64_t>(header.size()) + data_bytes);
  ASSERT_FALSE(read.ok()) << json;
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(read.status().message(), HasSubstr(why)) << json;
}

std::string Entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return Cat("{\"x\":{\"dtype\":\"", dtype, "\",\"shape\":", shape, ",\"data_offsets\":", offsets, "}}");
}

TEST(SafetensorsTest, AcceptsMetadataAndAnyOrder) {
  const std::string header =
      Header(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
             R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}  )");
  const absl::StatusOr<TensorLayout> read = ReadTensorHeader(header, static_cast<int64_t>(header.size()) + 6);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->entries.size(), 2u);
  EXPECT_EQ(read->entries[0].spec.name, "a");
  EXPECT_EQ(read->entries[1].offset, static_cast<int64_t>(header.size()) + 4);
}

TEST(SafetensorsTest, RefusesHostileHeaders) {
  EXPECT_FALSE(ReadTensorHeader("", 0).ok());
  EXPECT_FALSE(ReadTensorHeader("1234567", 7).ok());
  EXPECT_FALSE(ReadTensorHeader(std::string(8, '\xff'), std::numeric_limits<int64_t>::max()).ok());
  const std::string header = Header("{}");
  EXPECT_THAT(ReadTensorHeader(header, 9).status().message(), HasSubstr("longer than the file"));
  EXPECT_THAT(ReadTensorHeader(header.substr(0, 9), 10).status().message(), HasSubstr("9 were given"));
  ExpectRefused("", 0, "not JSON");
  ExpectRefused("{", 0, "not JSON");
  ExpectRefused(std::string(100000, '['), 0, "not JSON");
  ExpectRefused("[]", 0, "not a JSON object");
  ExpectRefused("{\"x\":1}", 0, "not a JSON object");
  ExpectRefused("{\"x\":{}}", 0, "it needs \"dtype\"");
  ExpectRefused(Entry("F33", "[1]", "[0,4]"), 4, "unknown dtype");
  ExpectRefused(Entry("F32", "[-1]", "[0,4]"), 4, "non-negative");
  ExpectRefused(Entry("F32", "[1.0]", "[0,4]"), 4, "non-negative");
  ExpectRefused(Entry("F32", "[18446744073709551615]", "[0,4]"), 4, "non-negative");
  ExpectRefused(Entry("F32", "[4294967296,4294967296]", "[0,4]"), 4, "overflows");
  ExpectRefused(Entry("F32", "[0,9223372036854775807]", "[0,0]"), 0, "overflows");
  ExpectRefused(Entry("F32", "[1]", "[4,0]"), 4, "ascending");
  ExpectRefused(Entry("F32", "[1]", "[-4,0]"), 4, "ascending");
  ExpectRefused(Entry("F32", "[1]", "[0,4,8]"), 8, "it needs");
  ExpectRefused(Entry("F32", "[1]", "[0,8]"), 8, "its offsets mean 8 bytes, its shape and dtype 4");
  ExpectRefused(Entry("F32", "[2]", "[0,8]"), 4, "behind the end of the file");
  ExpectRefused(Entry("F32", "[1]", "[4,8]"), 8, "a hole before it");
  ExpectRefused(Entry("F32", "[1]", "[0,4]"), 8, "bytes follow the last tensor");
  ExpectRefused(
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", 6,
      "overlaps");
}

// Whatever single byte of a header is changed, the reader refuses it or gives tensors that lie in the file.
TEST(SafetensorsTest, SurvivesAnyChangedByte) {
  const TensorLayout layout = PlanTensors(Specs());
  for (size_t i = 0; i < layout.header.size(); ++i) {
    for (const char c : {'\0', '\x7f', '\xff', '0', '9', '"', '}', '-'}) {
      std::string header = layout.header;
      header[i] = c;
      const absl::StatusOr<TensorLayout> read = ReadTensorHeader(header, layout.file_bytes);
      if (!read.ok()) continue;
      for (const TensorLayout::Entry& entry : read->entries) {
        EXPECT_GE(entry.offset, static_cast<int64_t>(read->header.size()));
        EXPECT_LE(entry.offset + entry.bytes, layout.file_bytes);
      }
    }
  }
}

}  // namespace
}  // namespace assay::graph
