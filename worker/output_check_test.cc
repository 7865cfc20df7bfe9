#include "worker/output_check.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "gmock/gmock.h"
#include "graph/safetensors.h"

namespace assay::worker {
namespace {

using graph::DType;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Output {
  DType dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

template <typename T>
std::string Raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

// What a runner writes and the worker reads: through a memory file.
runner::TensorBytes Written(const std::vector<Output>& outputs) {
  std::vector<graph::TensorSpec> specs;
  for (const Output& output : outputs) {
    specs.push_back({std::to_string(specs.size()), output.dtype, output.shape});
  }
  const graph::TensorLayout layout = graph::PlanTensors(specs);
  static const std::vector<std::byte> zeros(64);
  std::vector<std::span<const std::byte>> data;
  for (const auto& entry : layout.entries) {
    const bool padding = entry.spec.name.starts_with("__pad__");
    data.push_back(padding ? std::span<const std::byte>(zeros).first(entry.bytes)
                           : std::as_bytes(std::span(outputs[std::stoul(entry.spec.name)].bytes)));
  }
  runner::MemoryFile file = *runner::MemoryFile::Create("outputs");
  EXPECT_TRUE(runner::WriteTensors(file.fd(), layout, data).ok());
  absl::StatusOr<runner::TensorBytes> read = ReadOutputs(file.fd(), static_cast<int64_t>(outputs.size()), 1 << 20);
  EXPECT_TRUE(read.ok()) << read.status();
  return *std::move(read);
}

measure::GraphComparison Compare(const std::vector<Output>& candidate, const std::vector<Output>& baseline,
                                 v1::Measurement* told = nullptr) {
  v1::Measurement measurement;
  const auto compared = CompareSet("public", Written(candidate), Written(baseline), 1, measurement);
  EXPECT_TRUE(compared.ok()) << compared.status();
  if (told != nullptr) *told = measurement;
  return *compared;
}

// An output of every dtype that the protocol has, empty ones and scalars, and each with another value somewhere.
TEST(OutputCheck, EveryDTypeIsComparedByItsOwnRule) {
  struct Case {
    const char* name;
    Output same, other;
    v1::OutcomeClass differs;
    double critical_t;  // of the other; NaN: not said
  };
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const Case cases[] = {
      {"float32",
       {DType::kFloat32, {2}, Raw({1.0F, 2.0F})},
       {DType::kFloat32, {2}, Raw({1.0F, 2.001F})},
       v1::CORRECT,
       NAN},
      {"float32 far", {DType::kFloat32, {1}, Raw({0.0F})}, {DType::kFloat32, {1}, Raw({500.0F})}, v1::ACCURACY, NAN},
      {"NaN", {DType::kFloat32, {1}, Raw({1.0F})}, {DType::kFloat32, {1}, Raw({nan})}, v1::NAN_MISMATCH, kInfinity},
      {"infinity",
       {DType::kFloat32, {1}, Raw({1.0F})},
       {DType::kFloat32, {1}, Raw({inf})},
       v1::INF_MISMATCH,
       kInfinity},
      {"float64", {DType::kFloat64, {}, Raw({1.0})}, {DType::kFloat64, {}, Raw({1.0 + 1e-9})}, v1::CORRECT, NAN},
      {"float16",
       {DType::kFloat16, {1}, Raw<uint16_t>({0x3c00})},
       {DType::kFloat16, {1}, Raw<uint16_t>({0x3c01})},
       v1::CORRECT,
       NAN},
      {"bfloat16",
       {DType::kBFloat16, {1}, Raw<uint16_t>({0x3f80})},
       {DType::kBFloat16, {1}, Raw<uint16_t>({0x3f81})},
       v1::CORRECT,
       NAN},
      {"complex64",
       {DType::kComplex64, {1}, Raw({1.0F, 0.0F})},
       {DType::kComplex64, {1}, Raw({1.0F, 0.001F})},
       v1::CORRECT,
       NAN},
      {"complex128",
       {DType::kComplex128, {1}, Raw({1.0, 0.0})},
       {DType::kComplex128, {1}, Raw({1.0, 1e4})},
       v1::ACCURACY,
       NAN},
      {"int64",
       {DType::kInt64, {}, Raw<int64_t>({7})},
       {DType::kInt64, {}, Raw<int64_t>({8})},
       v1::ACCURACY,
       kInfinity},
      {"int32",
       {DType::kInt32, {1}, Raw<int32_t>({7})},
       {DType::kInt32, {1}, Raw<int32_t>({8})},
       v1::ACCURACY,
       kInfinity},
      {"int16",
       {DType::kInt16, {1}, Raw<int16_t>({7})},
       {DType::kInt16, {1}, Raw<int16_t>({8})},
       v1::ACCURACY,
       kInfinity},
      {"int8", {DType::kInt8, {1}, Raw<int8_t>({7})}, {DType::kInt8, {1}, Raw<int8_t>({-7})}, v1::ACCURACY, kInfinity},
      {"uint8",
       {DType::kUInt8, {1}, Raw<uint8_t>({7})},
       {DType::kUInt8, {1}, Raw<uint8_t>({8})},
       v1::ACCURACY,
       kInfinity},
      {"bool",
       {DType::kBool, {2}, Raw<uint8_t>({0, 1})},
       {DType::kBool, {2}, Raw<uint8_t>({1, 1})},
       v1::ACCURACY,
       kInfinity},
      {"float8_e4m3fn",
       {DType::kFloat8E4M3FN, {1}, Raw<uint8_t>({0x38})},
       {DType::kFloat8E4M3FN, {1}, Raw<uint8_t>({0x39})},
       v1::ACCURACY,
       kInfinity},
      {"float8_e5m2",
       {DType::kFloat8E5M2, {1}, Raw<uint8_t>({0x3c})},
       {DType::kFloat8E5M2, {1}, Raw<uint8_t>({0x3d})},
       v1::ACCURACY,
       kInfinity},
      {"a type mismatch",
       {DType::kInt32, {1}, Raw<int32_t>({1})},
       {DType::kFloat32, {1}, Raw({1.0F})},
       v1::TYPE_MISMATCH,
       kInfinity},
      {"a shape mismatch",
       {DType::kFloat32, {2, 1}, Raw({1.0F, 2.0F})},
       {DType::kFloat32, {1, 2}, Raw({1.0F, 2.0F})},
       v1::SHAPE_MISMATCH,
       kInfinity},
      {"empty of another shape",
       {DType::kFloat32, {0, 3}, ""},
       {DType::kFloat32, {3, 0}, ""},
       v1::SHAPE_MISMATCH,
       kInfinity},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    v1::Measurement told;
    const measure::GraphComparison equal = Compare({c.same}, {c.same}, &told);
    EXPECT_EQ(equal.error_class, measure::ErrorClass::kCorrect);
    EXPECT_EQ(equal.critical_t, -kInfinity);
    ASSERT_EQ(told.comparisons_size(), 1);
    EXPECT_EQ(told.comparisons(0).first_bad_index(), -1);
    const measure::GraphComparison other = Compare({c.other}, {c.same}, &told);
    EXPECT_EQ(told.comparisons(0).output_class(), c.differs);
    if (!std::isnan(c.critical_t)) EXPECT_EQ(other.critical_t, c.critical_t);
    if (std::isnan(c.critical_t)) EXPECT_TRUE(std::isfinite(other.critical_t));
    EXPECT_EQ(told.comparisons(0).dtype(), graph::Name(c.same.dtype));
    const bool mismatch = c.differs == v1::TYPE_MISMATCH || c.differs == v1::SHAPE_MISMATCH;
    EXPECT_EQ(!told.comparisons(0).message().empty(), mismatch) << "a mismatch says both sides";
  }
}

TEST(OutputCheck, EmptyOutputsAreEqualAndProveNothing) {
  v1::Measurement told;
  const std::vector<Output> empty = {
      {DType::kFloat16, {0, 4}, ""}, {DType::kInt64, {0}, ""}, {DType::kComplex64, {2, 0}, ""}};
  EXPECT_EQ(Compare(empty, empty, &told).critical_t, -kInfinity);
  EXPECT_EQ(told.comparisons_size(), 3);
  EXPECT_EQ(Compare({}, {}).error_class, measure::ErrorClass::kCorrect);
  EXPECT_NE(DegeneracyOf(Written({})), v1::DEGENERACY_UNSPECIFIED);
}

TEST(OutputCheck, AnotherNumberOfOutputsIsAShapeMismatch) {
  const Output one = {DType::kFloat32, {1}, Raw({1.0F})};
  EXPECT_EQ(Compare({one}, {one, one}).error_class, measure::ErrorClass::kShapeMismatch);
  EXPECT_EQ(Compare({one, one}, {one}).error_class, measure::ErrorClass::kShapeMismatch);
}

TEST(OutputCheck, AMismatchNamesBothSides) {
  v1::Measurement told;
  Compare({{DType::kFloat32, {2, 1}, Raw({1.0F, 2.0F})}}, {{DType::kInt32, {2}, Raw<int32_t>({1, 2})}}, &told);
  EXPECT_THAT(told.comparisons(0).message(), HasSubstr("candidate float32[2, 1], baseline int32[2]"));
  EXPECT_EQ(told.comparisons(0).output_class(), v1::TYPE_MISMATCH) << "the dtype comes first";
}

TEST(OutputCheck, WhatARunnerToldMustBeThere) {
  runner::MemoryFile file = *runner::MemoryFile::Create("outputs");
  const graph::TensorLayout layout = graph::PlanTensors({{"1", DType::kBool, {1}}});
  const std::byte yes{1};
  ASSERT_TRUE(runner::WriteTensors(file.fd(), layout, {std::span(&yes, 1)}).ok());
  EXPECT_THAT(std::string(ReadOutputs(file.fd(), 2, 1 << 20).status().message()), HasSubstr("told of 2 outputs"));
  EXPECT_THAT(std::string(ReadOutputs(file.fd(), 1, 1 << 20).status().message()), HasSubstr("no output named \"0\""));
}

}  // namespace
}  // namespace assay::worker
