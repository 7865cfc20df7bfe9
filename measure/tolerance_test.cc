#include "measure/tolerance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "measure/random.h"
#include "measure/tolerance_kernel.h"

namespace assay::measure {
namespace {

using graph::DType;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
OutputComparison Compare(DType dtype, const std::vector<T>& candidate, const std::vector<T>& baseline,
                         int threads = 1) {
  const std::vector<int64_t> shape = {static_cast<int64_t>(candidate.size() * sizeof(T)) / graph::ElementSize(dtype)};
  const absl::StatusOr<OutputComparison> result =
      CompareOutputs(dtype, shape, std::as_bytes(std::span(candidate)), std::as_bytes(std::span(baseline)), threads);
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

OutputComparison Compare(const std::vector<float>& candidate, const std::vector<float>& baseline, int threads = 1) {
  return Compare(DType::kFloat32, candidate, baseline, threads);
}

uint16_t ToBFloat16(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }

TEST(ToleranceTest, BoundsAtSomeLevels) {
  struct Row {
    const char* dtype;
    double t, atol, rtol;
  };
  for (const Row& row :
       {Row{"float16", -10, 1e-10, 1e-6}, Row{"bfloat16", -10, 1e-10, 2.56e-4}, Row{"float32", -10, 1e-10, 1.69e-12},
        Row{"float64", -10, 1e-14, 1e-14}, Row{"float16", -7, 1e-7, 6.31e-5}, Row{"bfloat16", -3, 1e-3, 8.36e-2},
        Row{"float32", -4, 1e-4, 1.96e-5}, Row{"float64", -9, 2.51e-13, 2.51e-13}, Row{"float16", 1, 10, 3.98},
        Row{"bfloat16", 1, 10, 2.29}, Row{"float32", 1, 10, 15.0}, Row{"float64", 1, 25.1, 25.1},
        Row{"complex64", -4, 1e-4, 1.96e-5}, Row{"complex128", -10, 1e-14, 1e-14}, Row{"complex32", -10, 1e-10, 1e-6},
        Row{"quint8", -4, 1e-4, 1.96e-5}, Row{"qint32", -10, 1e-10, 1.69e-12}}) {
    SCOPED_TRACE(testing::Message() << row.dtype << " at " << row.t);
    const Tolerance bounds = At(RuleOf(row.dtype), row.t);
    EXPECT_NEAR(bounds.atol / row.atol, 1, 0.005);
    EXPECT_NEAR(bounds.rtol / row.rtol, 1, 0.005);
  }
  for (const char* exact : {"bool", "int64", "uint8", "float8_e4m3fn", "float8_e5m2", "anything"}) {
    EXPECT_TRUE(RuleOf(exact).exact) << exact;
    EXPECT_EQ(At(RuleOf(exact), 0).atol, 0);
    EXPECT_EQ(At(RuleOf(exact), 0).rtol, 0);
  }
  for (int i = 0; i < graph::kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(RuleOf(dtype).rtol_slope, RuleOf(graph::Name(dtype)).rtol_slope);
    EXPECT_EQ(RuleOf(dtype).exact, RuleOf(graph::Name(dtype)).exact);
  }
}

TEST(ToleranceTest, CriticalToleranceIsTheSmallestLevel) {
  Random random(1);
  for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    const ToleranceRule rule = RuleOf(dtype);
    for (int i = 0; i < 2000; ++i) {
      const double difference = std::pow(10, 60 * random.Uniform() - 40);
      const double magnitude = i % 10 == 0 ? 0 : std::pow(10, 60 * random.Uniform() - 40);
      const double t = CriticalTolerance(rule, difference, magnitude);
      const Tolerance at = At(rule, t);
      ASSERT_LE(difference, at.atol + at.rtol * magnitude) << difference << " of " << magnitude;
      const Tolerance below = At(rule, t - 1e-12 * std::max(1.0, std::abs(t)));
      ASSERT_GT(difference, below.atol + below.rtol * magnitude) << difference << " of " << magnitude;
    }
  }
}

TEST(ToleranceTest, CriticalToleranceOfSpecialDifferences) {
  const ToleranceRule rule = RuleOf(DType::kFloat32);
  EXPECT_EQ(CriticalTolerance(rule, 0, 5), -kInfinity);
  EXPECT_EQ(CriticalTolerance(rule, kInfinity, 5), kInfinity);
  EXPECT_EQ(CriticalTolerance(rule, std::nan(""), 5), kInfinity);
  EXPECT_NEAR(CriticalTolerance(rule, 1e-3, 0), -3, 1e-14);
  EXPECT_NEAR(CriticalTolerance(rule, 2, 1), 0, 1e-15);
  EXPECT_LT(CriticalTolerance(rule, 5e-324, 0), -300);
  EXPECT_EQ(CriticalTolerance(RuleOf(DType::kInt32), 1, 5), kInfinity);
  EXPECT_EQ(CriticalTolerance(RuleOf(DType::kInt32), 0, 5), -kInfinity);
}

TEST(CompareTest, BitEqualIsMinusInfinity) {
  const OutputComparison result = Compare({1, -2, 0, kInf, -kInf}, {1, -2, -0.0f, kInf, -kInf});
  EXPECT_EQ(result.error_class, ErrorClass::kCorrect);
  EXPECT_EQ(result.critical_t, -kInfinity);
  EXPECT_EQ(result.first_bad_index, -1);
  EXPECT_EQ(result.worst_index, -1);
  EXPECT_EQ(result.max_abs_diff, 0);
  EXPECT_EQ(result.mean_abs_diff, 0);
  EXPECT_EQ(result.candidate_inf, 2);
  EXPECT_EQ(result.baseline_inf, 2);
  EXPECT_EQ(result.finite_elements, 5);
}

TEST(CompareTest, FindsTheWorstElement) {
  std::vector<float> baseline(5000, 1);
  std::vector<float> candidate = baseline;
  candidate[1500] += 1e-5f;
  candidate[3000] += 1e-3f;
  candidate[4000] -= 1e-4f;
  baseline[4500] = candidate[4500] = 1000;
  candidate[4500] += 0.01f;  // the largest difference, but not for its size
  const OutputComparison result = Compare(candidate, baseline);
  EXPECT_EQ(result.error_class, ErrorClass::kCorrect);
  EXPECT_EQ(result.first_bad_index, 1500);
  EXPECT_EQ(result.worst_index, 3000);
  EXPECT_NEAR(result.max_abs_diff, 0.01, 1e-4);
  EXPECT_NEAR(result.mean_abs_diff, (1e-5 + 1e-3 + 1e-4 + 0.01) / 5000, 1e-7);
  EXPECT_DOUBLE_EQ(result.critical_t,
                   CriticalTolerance(RuleOf(DType::kFloat32), static_cast<double>(candidate[3000]) - 1, 1));
}

TEST(CompareTest, AboveOneIsAnAccuracyFailure) {
  // At t = 1 the bound for a baseline of 0 is 10.
  EXPECT_EQ(Compare({10}, {0}).error_class, ErrorClass::kCorrect);
  EXPECT_NEAR(Compare({10}, {0}).critical_t, 1, 1e-15);
  const OutputComparison far = Compare({100}, {0});
  EXPECT_EQ(far.error_class, ErrorClass::kAccuracy);
  EXPECT_NEAR(far.critical_t, 2, 1e-12);
}

TEST(CompareTest, NanIsCloseToNothing) {
  for (const auto& [x, y] : {std::pair(kNan, 1.0f), std::pair(1.0f, kNan), std::pair(kNan, kNan)}) {
    const OutputComparison result = Compare({1, 2, x, 4}, {1, 2, y, 4});
    EXPECT_EQ(result.error_class, ErrorClass::kNan);
    EXPECT_EQ(result.critical_t, kInfinity);
    EXPECT_EQ(result.first_bad_index, 2);
    EXPECT_EQ(result.worst_index, 2);
    EXPECT_EQ(result.candidate_nan, std::isnan(x));
    EXPECT_EQ(result.baseline_nan, std::isnan(y));
    EXPECT_EQ(result.finite_elements, 3);
  }
}

TEST(CompareTest, InfinityIsCloseOnlyToItsEqual) {
  for (const auto& [x, y] : {std::pair(kInf, 1.0f), std::pair(1.0f, kInf), std::pair(kInf, -kInf)}) {
    const OutputComparison result = Compare({1, x, 3.5}, {1, y, 3});
    EXPECT_EQ(result.error_class, ErrorClass::kInf);
    EXPECT_EQ(result.critical_t, kInfinity);
    EXPECT_EQ(result.candidate_inf, std::isinf(x));
    EXPECT_EQ(result.baseline_inf, std::isinf(y));
    EXPECT_EQ(result.max_abs_diff, 0.5);
    EXPECT_EQ(result.mean_abs_diff, 0.25);
  }
  // A NaN elsewhere decides the class.
  EXPECT_EQ(Compare({kInf, kNan}, {1, kNan}).error_class, ErrorClass::kNan);
}

TEST(CompareTest, CountsGoOnAfterTheFirstNan) {
  std::vector<float> candidate(10'000, 1), baseline(10'000, 1);
  for (size_t i = 0; i < candidate.size(); i += 3) candidate[i] = kNan;
  for (size_t i = 1; i < candidate.size(); i += 3) baseline[i] = 2;
  const OutputComparison result = Compare(candidate, baseline);
  EXPECT_EQ(result.candidate_nan, 3334);
  EXPECT_EQ(result.baseline_nan, 0);
  EXPECT_EQ(result.first_bad_index, 0);
  EXPECT_EQ(result.max_abs_diff, 1);
  EXPECT_DOUBLE_EQ(result.mean_abs_diff, 3333.0 / 6666.0);
}

TEST(CompareTest, DifferencesTooLargeForADouble) {
  const double large = 1.5e308;
  const OutputComparison result = Compare<double>(DType::kFloat64, {large}, {-large});
  EXPECT_EQ(result.error_class, ErrorClass::kCorrect);
  EXPECT_NEAR(result.critical_t, std::log10(2) / 1.4, 1e-12);
  EXPECT_EQ(result.worst_index, 0);
  using Complex = std::complex<double>;
  const OutputComparison complex =
      Compare<Complex>(DType::kComplex128, {Complex(large, large)}, {Complex(large, -large)});
  EXPECT_EQ(complex.error_class, ErrorClass::kCorrect);
  EXPECT_NEAR(complex.critical_t, std::log10(std::sqrt(2.0)) / 1.4, 1e-12);
  EXPECT_EQ(Compare<Complex>(DType::kComplex128, {Complex(large, large)}, {Complex(0, 0)}).error_class,
            ErrorClass::kAccuracy);
}

TEST(CompareTest, ComplexByModulus) {
  using Complex = std::complex<float>;
  const OutputComparison result =
      Compare<Complex>(DType::kComplex64, {Complex(3.0003f, 4.0004f), Complex(1, 1)}, {Complex(3, 4), Complex(1, 1)});
  EXPECT_EQ(result.error_class, ErrorClass::kCorrect);
  EXPECT_NEAR(result.max_abs_diff, 5e-4, 1e-6);
  EXPECT_NEAR(result.critical_t, CriticalTolerance(RuleOf(DType::kFloat32), result.max_abs_diff, 5), 1e-12);
  const OutputComparison nan = Compare<Complex>(DType::kComplex64, {Complex(kNan, kInf)}, {Complex(kInf, 0)});
  EXPECT_EQ(nan.error_class, ErrorClass::kNan);
  EXPECT_EQ(nan.candidate_nan, 1);
  EXPECT_EQ(nan.candidate_inf, 0);
  EXPECT_EQ(nan.baseline_inf, 1);
  EXPECT_EQ(Compare<Complex>(DType::kComplex64, {Complex(kInf, 1)}, {Complex(kInf, 1)}).critical_t, -kInfinity);
  EXPECT_EQ(Compare<Complex>(DType::kComplex64, {Complex(kInf, 1)}, {Complex(kInf, 2)}).error_class, ErrorClass::kInf);
}

TEST(CompareTest, IntegersAndBoolsMustBeEqual) {
  const int64_t low = std::numeric_limits<int64_t>::min();
  const int64_t high = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Compare<int64_t>(DType::kInt64, {1, low}, {1, low}).critical_t, -kInfinity);
  const OutputComparison far = Compare<int64_t>(DType::kInt64, {1, low}, {1, high});
  EXPECT_EQ(far.error_class, ErrorClass::kAccuracy);
  EXPECT_EQ(far.critical_t, kInfinity);
  EXPECT_EQ(far.first_bad_index, 1);
  EXPECT_EQ(far.worst_index, 1);
  EXPECT_DOUBLE_EQ(far.max_abs_diff, 0x1p64);
  // A difference of 1 that a double cannot hold.
  EXPECT_EQ(Compare<int64_t>(DType::kInt64, {high - 1}, {high}).max_abs_diff, 1);
  EXPECT_EQ(Compare<int32_t>(DType::kInt32, {5, 7}, {5, 4}).mean_abs_diff, 1.5);
  EXPECT_EQ(Compare<int16_t>(DType::kInt16, {-3}, {4}).max_abs_diff, 7);
  EXPECT_EQ(Compare<int8_t>(DType::kInt8, {-128}, {127}).max_abs_diff, 255);
  EXPECT_EQ(Compare<uint8_t>(DType::kUInt8, {0}, {255}).max_abs_diff, 255);
  // Any byte but 0 is true.
  EXPECT_EQ(Compare<uint8_t>(DType::kBool, {0, 1, 2}, {0, 2, 1}).critical_t, -kInfinity);
  EXPECT_EQ(Compare<uint8_t>(DType::kBool, {0, 1}, {0, 0}).error_class, ErrorClass::kAccuracy);
}

TEST(CompareTest, SmallFloats) {
  // 0x38 is 1 in E4M3FN, 0x3c in E5M2; 0x80 is -0 in both.
  EXPECT_EQ(internal::Float8E4M3FNToFloat(0x38), 1);
  EXPECT_EQ(internal::Float8E4M3FNToFloat(0x7e), 448);
  EXPECT_EQ(internal::Float8E4M3FNToFloat(0x01), 0x1p-9f);
  EXPECT_EQ(internal::Float8E4M3FNToFloat(0xb8), -1);
  EXPECT_TRUE(std::isnan(internal::Float8E4M3FNToFloat(0xff)));
  EXPECT_EQ(internal::Float8E5M2ToFloat(0x3c), 1);
  EXPECT_EQ(internal::Float8E5M2ToFloat(0x7b), 57344);
  EXPECT_EQ(internal::Float8E5M2ToFloat(0x01), 0x1p-16f);
  EXPECT_EQ(internal::Float8E5M2ToFloat(0xfc), -kInf);
  EXPECT_TRUE(std::isnan(internal::Float8E5M2ToFloat(0x7d)));
  for (DType dtype : {DType::kFloat8E4M3FN, DType::kFloat8E5M2}) {
    EXPECT_EQ(Compare<uint8_t>(dtype, {0x38, 0x80}, {0x38, 0x00}).critical_t, -kInfinity);
    const OutputComparison differ = Compare<uint8_t>(dtype, {0x38, 0x39}, {0x38, 0x38});
    EXPECT_EQ(differ.error_class, ErrorClass::kAccuracy);
    EXPECT_EQ(differ.critical_t, kInfinity);
    EXPECT_EQ(differ.first_bad_index, 1);
    // Equal bits, but a NaN.
    EXPECT_EQ(Compare<uint8_t>(dtype, {0x7f}, {0x7f}).error_class, ErrorClass::kNan);
  }
  EXPECT_EQ(Compare<uint8_t>(DType::kFloat8E5M2, {0x7c}, {0x3c}).error_class, ErrorClass::kInf);
}

TEST(CompareTest, EmptyOutputsAreEqual) {
  const OutputComparison result = Compare(std::vector<float>(), std::vector<float>());
  EXPECT_EQ(result.error_class, ErrorClass::kCorrect);
  EXPECT_EQ(result.critical_t, -kInfinity);
  EXPECT_EQ(result.elements, 0);
  EXPECT_EQ(result.mean_abs_diff, 0);
  const std::vector<int64_t> shape = {int64_t{1} << 40, int64_t{1} << 40, 0};
  EXPECT_TRUE(CompareOutputs(DType::kFloat32, shape, {}, {}, 4).ok());
}

TEST(CompareTest, ScalarsHaveAnEmptyShape) {
  const float x = 1, y = 2;
  const auto result =
      CompareOutputs(DType::kFloat32, {}, std::as_bytes(std::span(&x, 1)), std::as_bytes(std::span(&y, 1)), 1);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->elements, 1);
  EXPECT_EQ(result->max_abs_diff, 1);
}

TEST(CompareTest, MismatchesAreClassesOfTheirOwn) {
  const std::vector<float> data(6, 1);
  const auto bytes = std::as_bytes(std::span(data));
  const std::vector<int64_t> two_by_three = {2, 3}, six = {6}, three = {3};
  const auto shape = CompareOutputs({DType::kFloat32, two_by_three, bytes}, {DType::kFloat32, six, bytes}, 1);
  ASSERT_TRUE(shape.ok());
  EXPECT_EQ(shape->error_class, ErrorClass::kShapeMismatch);
  EXPECT_EQ(shape->critical_t, kInfinity);
  const auto type = CompareOutputs({DType::kFloat64, three, bytes}, {DType::kFloat32, six, bytes}, 1);
  ASSERT_TRUE(type.ok());
  EXPECT_EQ(type->error_class, ErrorClass::kTypeMismatch);
}

TEST(CompareTest, ViewsThatContradictThemselvesAreErrors) {
  const std::vector<float> data(6, 1);
  const auto bytes = std::as_bytes(std::span(data));
  const std::vector<int64_t> six = {2, 3}, negative = {-6}, huge = {int64_t{1} << 40, int64_t{1} << 40};
  const auto message = [&](const OutputView& candidate, const OutputView& baseline) {
    return std::string(CompareOutputs(candidate, baseline, 1).status().message());
  };
  const OutputView good = {DType::kFloat32, six, bytes};
  EXPECT_THAT(message({DType::kFloat32, six, bytes.first(20)}, good),
              HasSubstr("the candidate's output is 20 bytes long, but its dtype float32 and shape [2, 3] need 24"));
  EXPECT_THAT(message(good, {DType::kFloat64, six, bytes}), HasSubstr("the baseline's output is 24 bytes long"));
  EXPECT_THAT(message({DType::kFloat32, negative, bytes}, good), HasSubstr("negative dimension: [-6]"));
  EXPECT_THAT(message({DType::kFloat32, huge, bytes}, good), HasSubstr("need more"));
}

TEST(CompareTest, AnyAlignment) {
  std::vector<std::byte> x(4 * 1000 + 3), y(4 * 1000 + 1);
  for (int64_t i = 0; i < 1000; ++i) {
    const float value = static_cast<float>(i), other = value + (i == 777 ? 0.5f : 0);
    std::memcpy(x.data() + 3 + 4 * i, &other, 4);
    std::memcpy(y.data() + 1 + 4 * i, &value, 4);
  }
  const std::vector<int64_t> shape = {1000};
  const auto result = CompareOutputs(DType::kFloat32, shape, std::span(x).subspan(3), std::span(y).subspan(1), 1);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->first_bad_index, 777);
  EXPECT_EQ(result->max_abs_diff, 0.5);
}

// Against the definition, at many levels, for every dtype with bounds.
template <typename T, typename Decode>
void CheckAgainstDefinition(DType dtype, const std::vector<T>& candidate, const std::vector<T>& baseline,
                            Decode decode) {
  const OutputComparison result = Compare<T>(dtype, candidate, baseline);
  for (double t = -15; t <= 2; t += 0.125) {
    if (std::abs(t - result.critical_t) < 1e-9) continue;
    const Tolerance bounds = At(RuleOf(dtype), t);
    bool close = true;
    for (size_t i = 0; i < candidate.size(); ++i) {
      const double x = decode(candidate[i]), y = decode(baseline[i]);
      close &= std::abs(x - y) <= bounds.atol + bounds.rtol * std::abs(y);
    }
    ASSERT_EQ(close, result.critical_t <= t) << graph::Name(dtype) << " at " << t << ", t* " << result.critical_t;
  }
}

TEST(CompareTest, AgreesWithTheDefinition) {
  Random random(12);
  for (int round = 0; round < 20; ++round) {
    const double error = std::pow(10, -8 * random.Uniform());
    const size_t size = 1 + random.Below(5000);
    std::vector<float> x32, y32;
    std::vector<double> x64, y64;
    std::vector<uint16_t> x16, y16, xb, yb;
    for (size_t i = 0; i < size; ++i) {
      const double y = random.Normal() * std::pow(10, 4 * random.Uniform() - 2);
      const double x = y * (1 + error * random.Normal()) + 0.01 * error * random.Normal();
      x64.push_back(x), y64.push_back(y);
      x32.push_back(static_cast<float>(x)), y32.push_back(static_cast<float>(y));
      xb.push_back(ToBFloat16(x32.back())), yb.push_back(ToBFloat16(y32.back()));
      const auto half = static_cast<uint16_t>(random.Below(0x7c00) | (random.Below(2) << 15));
      x16.push_back(half), y16.push_back(static_cast<uint16_t>(half ^ (random.Below(4))));
    }
    const auto same = [](auto value) { return static_cast<double>(value); };
    CheckAgainstDefinition(DType::kFloat64, x64, y64, same);
    CheckAgainstDefinition(DType::kFloat32, x32, y32, same);
    CheckAgainstDefinition(DType::kBFloat16, xb, yb, [](uint16_t bits) {
      return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
    });
    CheckAgainstDefinition(DType::kFloat16, x16, y16,
                           [](uint16_t bits) { return static_cast<double>(internal::HalfToFloat(bits)); });
  }
}

TEST(CompareTest, ThreadsFindTheSame) {
  Random random(13);
  constexpr size_t kSize = 3'000'001;
  std::vector<float> x(kSize), y(kSize);
  for (size_t i = 0; i < kSize; ++i) {
    y[i] = static_cast<float>(random.Uniform());
    x[i] = y[i] + (i > 100 ? static_cast<float>(random.Below(3)) * 1e-7f : 0);
  }
  x[2'900'000] += 0.25f;
  const OutputComparison one = Compare(x, y, 1);
  for (int threads : {2, 3, 8}) {
    const OutputComparison many = Compare(x, y, threads);
    EXPECT_EQ(many.critical_t, one.critical_t);
    EXPECT_EQ(many.worst_index, 2'900'000);
    EXPECT_EQ(many.first_bad_index, one.first_bad_index);
    EXPECT_EQ(many.max_abs_diff, one.max_abs_diff);
    EXPECT_NEAR(many.mean_abs_diff / one.mean_abs_diff, 1, 1e-12);
    EXPECT_EQ(many.finite_elements, static_cast<int64_t>(kSize));
  }
  EXPECT_EQ(Compare(x, y, 0).critical_t, one.critical_t);
}

// Every kind of vector register that this processor has.
TEST(KernelTest, AllVariantsAgreeWithPlainArithmetic) {
  Random random(14);
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    const auto bytes = static_cast<size_t>(graph::ElementSize(dtype));
    const auto value = [&](const std::vector<std::byte>& data, size_t i) -> double {
      uint64_t raw = 0;
      std::memcpy(&raw, data.data() + i * bytes, bytes);
      if (dtype == DType::kFloat64) return std::bit_cast<double>(raw);
      if (dtype == DType::kFloat32) return std::bit_cast<float>(static_cast<uint32_t>(raw));
      if (dtype == DType::kBFloat16) return std::bit_cast<float>(static_cast<uint32_t>(raw << 16));
      return internal::HalfToFloat(static_cast<uint16_t>(raw));
    };
    for (size_t size = 0; size < 70; ++size) {
      std::vector<std::byte> x(size * bytes), y(size * bytes);
      // Any bits: subnormals, infinities and NaN among them.
      for (std::byte& byte : x) byte = static_cast<std::byte>(random.Below(256));
      for (std::byte& byte : y) byte = static_cast<std::byte>(random.Below(256));
      if (size % 3 != 0) {  // mostly numbers that are near
        y = x;
        if (size > 0) y[random.Below(size) * bytes] ^= std::byte{1};
      }
      const double atol = size % 2 == 0 ? 1e-3 : 1e30, rtol = 0.01;
      double sum = 0, largest = 0;
      bool exceeded = false;
      for (size_t i = 0; i < size; ++i) {
        const double difference = std::abs(value(x, i) - value(y, i));
        exceeded |= !(difference <= atol + rtol * std::abs(value(y, i)));
        sum += difference;
        largest = std::max(largest, difference);
      }
      const std::span<const internal::BlockFunction> variants = internal::BlockFunctions(dtype);
      ASSERT_FALSE(variants.empty());
      for (size_t variant = 0; variant < variants.size(); ++variant) {
        SCOPED_TRACE(testing::Message() << graph::Name(dtype) << ", " << size << " elements, variant " << variant);
        const internal::BlockSums sums = variants[variant](x.data(), y.data(), static_cast<int64_t>(size), atol, rtol);
        ASSERT_EQ(sums.exceeded, exceeded);
        if (exceeded) continue;
        ASSERT_EQ(sums.largest, largest);
        if (std::isfinite(sum)) {
          ASSERT_NEAR(sums.sum, sum, 1e-12 * sum);
        }
      }
    }
  }
  EXPECT_EQ(internal::FindBlockFunction(DType::kInt32), nullptr);
}

TEST(KernelTest, EveryHalfHasItsValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const uint16_t zero = 0;
    const float expected = internal::HalfToFloat(half);
    for (internal::BlockFunction function : internal::BlockFunctions(DType::kFloat16)) {
      const internal::BlockSums sums = function(reinterpret_cast<const std::byte*>(&half),
                                                reinterpret_cast<const std::byte*>(&zero), 1, kInfinity, 0);
      if (std::isnan(expected)) {
        ASSERT_TRUE(sums.exceeded) << bits;
      } else {
        ASSERT_EQ(sums.largest, std::abs(static_cast<double>(expected))) << bits;
      }
    }
  }
  EXPECT_EQ(internal::HalfToFloat(0x3c00), 1);
  EXPECT_EQ(internal::HalfToFloat(0xc000), -2);
  EXPECT_EQ(internal::HalfToFloat(0x7bff), 65504);
  EXPECT_EQ(internal::HalfToFloat(0x0001), 0x1p-24f);
  EXPECT_EQ(internal::HalfToFloat(0xfc00), -kInf);
}

TEST(FoldTest, TheWorstOutputDecides) {
  const OutputComparison equal = Compare({1, 2}, {1, 2});
  const OutputComparison near = Compare({1, 2.001f}, {1, 2});
  const OutputComparison nearer = Compare({1, 2.0001f}, {1, 2});
  const OutputComparison far = Compare({500}, {0});
  const OutputComparison nan = Compare({kNan}, {0});

  const GraphComparison all_equal = FoldOutputs({equal, equal}, 2, 2);
  EXPECT_EQ(all_equal.error_class, ErrorClass::kCorrect);
  EXPECT_EQ(all_equal.critical_t, -kInfinity);
  EXPECT_EQ(all_equal.worst_output, -1);

  const GraphComparison good = FoldOutputs({equal, nearer, near}, 3, 3);
  EXPECT_EQ(good.error_class, ErrorClass::kCorrect);
  EXPECT_EQ(good.critical_t, near.critical_t);
  EXPECT_EQ(good.worst_output, 2);
  EXPECT_EQ(good.max_abs_diff, near.max_abs_diff);
  EXPECT_NEAR(good.mean_abs_diff, (0.001 + 0.0001) / 6, 1e-6);
  EXPECT_EQ(good.outputs.size(), 3u);

  const GraphComparison bad = FoldOutputs({near, far, nan, far}, 4, 4);
  EXPECT_EQ(bad.error_class, ErrorClass::kNan);
  EXPECT_EQ(bad.worst_output, 2);
  EXPECT_EQ(bad.critical_t, kInfinity);
  EXPECT_EQ(FoldOutputs({near, far}, 2, 2).error_class, ErrorClass::kAccuracy);
  EXPECT_EQ(FoldOutputs({near, far}, 2, 2).worst_output, 1);
  EXPECT_EQ(FoldOutputs({}, 0, 0).error_class, ErrorClass::kCorrect);
}

TEST(FoldTest, AnotherNumberOfOutputsIsAShapeMismatch) {
  const OutputComparison equal = Compare({1, 2}, {1, 2});
  const OutputComparison nan = Compare({kNan}, {0});
  OutputComparison type;
  type.error_class = ErrorClass::kTypeMismatch;
  for (const GraphComparison& graph : {FoldOutputs({equal}, 1, 2), FoldOutputs({equal, nan}, 3, 2)}) {
    EXPECT_EQ(graph.error_class, ErrorClass::kShapeMismatch);
    EXPECT_EQ(graph.critical_t, kInfinity);
    EXPECT_EQ(graph.worst_output, -1);
  }
  EXPECT_EQ(FoldOutputs({type}, 1, 2).error_class, ErrorClass::kTypeMismatch);
}

TEST(InspectTest, DegenerateOutputs) {
  const auto inspect = [](const std::vector<float>& data) {
    const std::vector<int64_t> shape = {static_cast<int64_t>(data.size())};
    return InspectOutput({DType::kFloat32, shape, std::as_bytes(std::span(data))}).value();
  };
  EXPECT_TRUE(inspect({2, 2, 2}).all_equal);
  EXPECT_FALSE(inspect({2, 2, 2}).all_zero);
  EXPECT_TRUE(inspect({0, -0.0f}).all_zero);
  EXPECT_TRUE(inspect({0}).all_zero);
  EXPECT_FALSE(inspect({3}).all_equal);
  EXPECT_FALSE(inspect({1, 2}).all_equal);
  EXPECT_TRUE(inspect({1, kNan}).has_nan);
  EXPECT_FALSE(inspect({kNan, kNan}).all_equal);
  EXPECT_TRUE(inspect({1, -kInf}).has_inf);
  const Degenerate empty = inspect({});
  EXPECT_FALSE(empty.all_equal || empty.all_zero || empty.has_nan || empty.has_inf);
  const std::vector<int64_t> shape = {9};
  EXPECT_FALSE(InspectOutput({DType::kFloat32, shape, {}}).ok());
}

}  // namespace
}  // namespace assay::measure
