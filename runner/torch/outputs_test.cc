#include "runner/torch/outputs.h"

#include <ATen/ops/complex.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/tensor.h>

#include <cstring>

#include "gtest/gtest.h"
#include "runner/memory_file.h"

namespace assay::torch_runner {
namespace {

using graph::DType;

// Every kind of output, as the worker reads it.
TEST(Outputs, EveryKindIsWritten) {
  const at::Tensor real = at::tensor({0.0, 0.26, -1.0}, at::kFloat);
  const std::vector<c10::IValue> outputs = {
      at::quantize_per_tensor(real, 0.25, 10, at::kQUInt8),
      at::complex(real, real).conj(),
      real.to(at::kFloat8_e4m3fn),
      real.to(at::kFloat8_e5m2),
      at::empty({0, 4}, at::kHalf),
      at::empty({2, 0}, at::kLong),
      real.gt(0),
      true,
      int64_t{3},
      0.5,
  };
  runner::MemoryFile file = *runner::MemoryFile::Create("outputs");
  const auto written = WriteOutputs(file.fd(), ToHost(outputs, /*copy=*/false));
  ASSERT_TRUE(written.ok()) << written.status();
  const auto read = runner::ReadTensors(file.fd(), 1 << 20);
  ASSERT_TRUE(read.ok()) << read.status();
  const std::vector<std::pair<DType, std::vector<int64_t>>> wanted = {
      {DType::kFloat32, {3}},    {DType::kComplex64, {3}}, {DType::kFloat8E4M3FN, {3}}, {DType::kFloat8E5M2, {3}},
      {DType::kFloat16, {0, 4}}, {DType::kInt64, {2, 0}},  {DType::kBool, {3}},         {DType::kBool, {}},
      {DType::kInt64, {}},       {DType::kFloat64, {}},
  };
  ASSERT_EQ(read->layout.entries.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto* entry = read->layout.Find(std::to_string(i));
    ASSERT_NE(entry, nullptr) << i;
    EXPECT_EQ(entry->spec.dtype, wanted[i].first) << i;
    EXPECT_EQ(entry->spec.shape, wanted[i].second) << i;
  }
  const auto floats = [&](const char* name) {
    const auto data = read->Data(*read->layout.Find(name));
    std::vector<float> values(data.size() / sizeof(float));
    memcpy(values.data(), data.data(), data.size());
    return values;
  };
  EXPECT_EQ(floats("0"), (std::vector<float>{0, 0.25F, -1}));
  EXPECT_EQ(floats("1"), (std::vector<float>{0, -0.0F, 0.26F, -0.26F, -1, 1}));
}

}  // namespace
}  // namespace assay::torch_runner
