#include "measure/conversion.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace assay::measure {
namespace {

using graph::DType;

template <typename T>
std::vector<double> Wide(DType dtype, const std::vector<T>& values, size_t parts = 1) {
  std::vector<double> wide(values.size() * sizeof(T) / static_cast<size_t>(ElementSize(dtype)) * parts);
  ToFloat64(dtype, std::as_bytes(std::span(values)), std::as_writable_bytes(std::span(wide)));
  return wide;
}
template <typename T>
std::vector<T> Narrow(DType dtype, const std::vector<double>& wide) {
  std::vector<T> values(wide.size());
  FromFloat64(dtype, std::as_bytes(std::span(wide)), std::as_writable_bytes(std::span(values)));
  return values;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Conversion, EveryValueOf16BitsComesBack) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    std::vector<uint16_t> all(65536);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
    const std::vector<double> wide = Wide(dtype, all);
    const std::vector<uint16_t> back = Narrow<uint16_t>(dtype, wide);
    for (size_t i = 0; i < all.size(); ++i) {
      if (std::isnan(wide[i])) {
        EXPECT_TRUE(std::isnan(Wide(dtype, std::vector<uint16_t>{back[i]})[0])) << i;
      } else {
        ASSERT_EQ(back[i], all[i]) << Name(dtype) << " " << wide[i];
      }
    }
  }
}

TEST(Conversion, RoundsToNearestTiesToEven) {
  const auto half = [](double value) { return Wide(DType::kFloat16, Narrow<uint16_t>(DType::kFloat16, {value}))[0]; };
  EXPECT_EQ(half(1 + 0x1p-11), 1.0);                    // a tie: to the even significand
  EXPECT_EQ(half(1 + 3 * 0x1p-11), 1 + 0x1p-9);         // a tie, the other way
  EXPECT_EQ(half(1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);  // just above: rounding twice, by way of float32, would miss it
  EXPECT_EQ(half(65519.99), 65504.0);
  EXPECT_EQ(half(65520), kInfinity);
  EXPECT_EQ(half(-1e300), -kInfinity);
  EXPECT_EQ(half(0x1p-24), 0x1p-24);
  EXPECT_EQ(half(0x1p-25), 0.0);
  EXPECT_EQ(half(0x1.8p-24), 0x1p-23);
  EXPECT_TRUE(std::signbit(half(-0.0)));
  EXPECT_EQ(half(-kInfinity), -kInfinity);
  const auto brain = [](double value) {
    return Wide(DType::kBFloat16, Narrow<uint16_t>(DType::kBFloat16, {value}))[0];
  };
  EXPECT_EQ(brain(1 + 0x1p-8), 1.0);
  EXPECT_EQ(brain(1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(brain(3.4e38), kInfinity);
  EXPECT_EQ(brain(0x1p-133), 0x1p-133);
}

TEST(Conversion, WiderTypes) {
  EXPECT_EQ(Narrow<float>(DType::kFloat32, {0.1, 1e300})[0], 0.1F);
  EXPECT_EQ(Narrow<float>(DType::kFloat32, {1e300})[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(Narrow<double>(DType::kFloat64, {0.1})[0], 0.1);
  EXPECT_EQ(Wide(DType::kFloat32, std::vector<float>{0.1F})[0], static_cast<double>(0.1F));
  EXPECT_EQ(Wide(DType::kComplex64, std::vector<float>{1, -2, 3, 4}, 2), (std::vector<double>{1, -2, 3, 4}));
  EXPECT_EQ(Narrow<float>(DType::kComplex64, {1, -2}), (std::vector<float>{1, -2}));
}

}  // namespace
}  // namespace assay::measure
