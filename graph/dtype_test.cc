#include "graph/dtype.h"

#include "gmock/gmock.h"

namespace assay::graph {
namespace {

TEST(DTypeTest, NamesReadBack) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType dtype = static_cast<DType>(i);
    EXPECT_EQ(DTypeFromName(Name(dtype)), dtype);
    EXPECT_EQ(DTypeFromName("torch." + std::string(Name(dtype))), dtype);
    EXPECT_EQ(DTypeFromSafetensorsName(SafetensorsName(dtype)), dtype);
    EXPECT_GT(ElementSize(dtype), 0);
    EXPECT_LE(IsFloatingPoint(dtype) + IsComplex(dtype) + IsIntegral(dtype), 1);
  }
  EXPECT_EQ(DTypeFromName("float"), std::nullopt);
  EXPECT_EQ(DTypeFromName("torch.torch.float32"), std::nullopt);
  EXPECT_EQ(DTypeFromSafetensorsName("f32"), std::nullopt);
}

TEST(DTypeTest, KindsAndSizes) {
  EXPECT_EQ(ElementSize(DType::kBFloat16), 2);
  EXPECT_EQ(ElementSize(DType::kComplex128), 16);
  EXPECT_TRUE(IsFloatingPoint(DType::kFloat8E5M2));
  EXPECT_TRUE(IsIntegral(DType::kUInt8));
  EXPECT_FALSE(IsIntegral(DType::kBool));
  EXPECT_FALSE(IsFloatingPoint(DType::kComplex64));
}

}  // namespace
}  // namespace assay::graph
