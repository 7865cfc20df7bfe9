#include "worker/reference.h"

#include <cstring>

#include "gmock/gmock.h"
#include "graph/safetensors.h"

namespace assay::worker {
namespace {

using graph::DType;
using testing::HasSubstr;

template <typename T>
std::span<const std::byte> Bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

runner::MemoryFile File(const std::vector<graph::TensorSpec>& specs, std::vector<std::span<const std::byte>> data) {
  const graph::TensorLayout layout = graph::PlanTensors(specs);
  static const std::vector<std::byte> zeros(64);
  std::vector<std::span<const std::byte>> all;
  size_t next = 0;
  for (const auto& entry : layout.entries) {
    const bool padding = graph::IsPadding(entry.spec);
    all.push_back(padding ? std::span<const std::byte>(zeros).first(entry.bytes) : data[next]);
    next += !padding;
  }
  runner::MemoryFile file = *runner::MemoryFile::Create("test");
  EXPECT_TRUE(runner::WriteTensors(file.fd(), layout, all).ok());
  return file;
}

runner::TensorBytes Read(const runner::MemoryFile& file) { return *runner::ReadTensors(file.fd(), 1 << 20); }

template <typename T>
std::vector<T> Values(const runner::TensorBytes& tensors, const char* name) {
  const auto data = tensors.Data(*tensors.layout.Find(name));
  std::vector<T> values(data.size() / sizeof(T));
  memcpy(values.data(), data.data(), data.size());
  return values;
}

TEST(Reference, InputsAreWidenedAndTheRestStays) {
  const std::vector<float> real = {0.1F, -3}, complex = {1, -2};
  const std::vector<uint16_t> half = {0x3c00, 0xc000, 0x0001};
  const std::vector<int64_t> integers = {7};
  runner::MemoryFile file = File({{"real", DType::kFloat32, {2}},
                                  {"complex", DType::kComplex64, {1}},
                                  {"half", DType::kFloat16, {3}},
                                  {"integer", DType::kInt64, {}},
                                  {"empty", DType::kFloat32, {0, 4}}},
                                 {Bytes(real), Bytes(complex), Bytes(half), Bytes(integers), {}});
  ASSERT_TRUE(file.Seal().ok());
  runner::MemoryFile secret = File({{"real", DType::kFloat32, {2}}}, {Bytes(real)});
  ASSERT_TRUE(secret.Seal().ok());
  const auto wide = WidenInputs({std::move(file), std::move(secret), "seed", 0});
  ASSERT_TRUE(wide.ok()) << wide.status();
  const runner::TensorBytes read = Read(wide->public_set);
  EXPECT_EQ(Values<double>(read, "real"), (std::vector<double>{static_cast<double>(0.1F), -3}));
  EXPECT_EQ(Values<double>(read, "complex"), (std::vector<double>{1, -2}));
  EXPECT_EQ(Values<double>(read, "half"), (std::vector<double>{1, -2, 0x1p-24}));
  EXPECT_EQ(Values<int64_t>(read, "integer"), integers);
  EXPECT_EQ(read.layout.Find("integer")->spec.dtype, DType::kInt64);
  EXPECT_EQ(read.layout.Find("empty")->spec.shape, (std::vector<int64_t>{0, 4}));
  for (const auto& entry : read.layout.entries) EXPECT_EQ(entry.offset % 64, 0);
  EXPECT_EQ(Read(wide->secret_set).layout.entries.size(), 1u);
  EXPECT_GT(wide->bytes, 0);
}

TEST(Reference, OutputsAreRoundedToAnArmsDType) {
  const std::vector<double> real = {0.1, 1e300}, complex = {1, 0.1};
  const std::vector<int64_t> integers = {7};
  const runner::TensorBytes reference =
      Read(File({{"0", DType::kFloat64, {2}}, {"1", DType::kComplex128, {1}}, {"2", DType::kInt64, {1}}},
                {Bytes(real), Bytes(complex), Bytes(integers)}));
  const std::vector<float> real32(2), complex64(2);
  const runner::TensorBytes like =
      Read(File({{"0", DType::kFloat32, {2}}, {"1", DType::kComplex64, {1}}, {"2", DType::kInt64, {1}}},
                {Bytes(real32), Bytes(complex64), Bytes(integers)}));
  const auto narrow = NarrowOutputs(reference, like);
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  ASSERT_EQ(narrow->layout.entries.size(), 3u);
  EXPECT_EQ(Values<float>(*narrow, "0"), (std::vector<float>{0.1F, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(Values<float>(*narrow, "1"), (std::vector<float>{1, 0.1F}));
  EXPECT_EQ(Values<int64_t>(*narrow, "2"), integers);

  const runner::TensorBytes fewer = Read(File({{"0", DType::kFloat32, {2}}}, {Bytes(real32)}));
  EXPECT_THAT(std::string(NarrowOutputs(reference, fewer).status().message()), HasSubstr("3 outputs, an arm 1"));
  const runner::TensorBytes other = Read(File({{"0", DType::kFloat32, {1, 2}}}, {Bytes(real32)}));
  EXPECT_THAT(std::string(NarrowOutputs(fewer, other).status().message()), HasSubstr("another dtype or shape"));
}

}  // namespace
}  // namespace assay::worker
