// The client with the CPU plug-in that scripts/setup-xla installs.
#include <filesystem>
#include <fstream>
#include <vector>

#include "gmock/gmock.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "runner/pjrt/client.h"
#include "runner/pjrt/options.h"
#include "runner/pjrt/status.h"
#include "runner/pjrt/target.h"

namespace assay::pjrt {
namespace {

using graph::Cat;
using graph::DType;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kAdd[] =
    R"(module { func.func public @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %sum = stablehlo.add %x, %y : tensor<2x3xf32>
  return %sum : tensor<2x3xf32> } })";

class CpuPlugin : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!std::filesystem::exists(ASSAY_PJRT_CPU_PLUGIN)) return;
    auto plugin = Plugin::Load(ASSAY_PJRT_CPU_PLUGIN);
    ASSERT_TRUE(plugin.ok()) << plugin.status();
    plugin_ = plugin->release();
    auto target = Target::Open(plugin_, {}, 1);
    ASSERT_TRUE(target.ok()) << target.status();
    target_ = target->release();
  }
  void SetUp() override {
    if (target_ == nullptr)
      GTEST_SKIP() << "no CPU plug-in at " << ASSAY_PJRT_CPU_PLUGIN << ": scripts/setup-xla installs it";
  }

  static Buffer Upload(const std::vector<float>& values, std::vector<int64_t> shape) {
    auto buffer = target_->client()->Upload(0, DType::kFloat32, shape, std::as_bytes(std::span(values)));
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return *std::move(buffer);
  }
  static std::vector<float> Floats(const HostTensor& tensor) {
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
  }

  static inline Plugin* plugin_ = nullptr;
  static inline Target* target_ = nullptr;
};

TEST_F(CpuPlugin, IsOneDevice) {
  EXPECT_EQ(target_->platform(), "cpu");
  ASSERT_EQ(target_->devices().size(), 1u);
  EXPECT_EQ(target_->devices()[0].id, "cpu");
  EXPECT_GT(target_->devices()[0].memory_bytes, 0);
  EXPECT_FALSE(plugin_->stablehlo_version().empty());
}

// Threads of the pool that programs run on, by the name that XLA gives them.
int PoolThreads() {
  int count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "comm");
    std::string name;
    count += std::getline(file, name) && name == "tf_XLAEigen";
  }
  return count;
}

TEST_F(CpuPlugin, UsesAsManyThreadsAsItIsGiven) {
  const int before = PoolThreads();
  const auto three = Target::Open(plugin_, {}, 3);
  ASSERT_TRUE(three.ok()) << three.status();
  EXPECT_EQ(PoolThreads() - before, 3);
}

TEST_F(CpuPlugin, CompilesAndRuns) {
  const auto compiled = target_->Compile(kAdd, CompileOptions({}, 0));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_GT(compiled->compile_ns, 0);
  EXPECT_GT(*compiled->facts.executable_bytes, 0);
  EXPECT_EQ(compiled->facts.memory.at("argument_bytes"), 48);
  EXPECT_EQ(compiled->facts.memory.at("output_bytes"), 24);
  EXPECT_EQ(compiled->facts.cost.at("flops"), 6);
  EXPECT_THAT(compiled->facts.optimised_hlo, HasSubstr("add"));
  const std::vector<float> x{1, 2, 3, 4, 5, 6}, y{10, 20, 30, 40, 50, 60};
  const Buffer a = Upload(x, {2, 3}), b = Upload(y, {2, 3});
  std::vector<Buffer> outputs;
  for (int i = 0; i < 3; ++i) {
    PJRT_Buffer* const arguments[] = {a.get(), b.get()};
    const absl::Status status = compiled->program->Call(arguments, i != 1, outputs);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(outputs.size(), 1u);
    const auto sum = target_->client()->Download(outputs[0]);
    ASSERT_TRUE(sum.ok()) << sum.status();
    EXPECT_EQ(sum->dtype, DType::kFloat32);
    EXPECT_THAT(sum->shape, ElementsAre(2, 3));
    EXPECT_THAT(Floats(*sum), ElementsAre(11, 22, 33, 44, 55, 66));
  }
}

TEST_F(CpuPlugin, OutputsComeBackRowMajor) {
  // The transposition is only another layout, if the compiler likes.
  const auto compiled =
      target_->Compile(R"(module { func.func public @main(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<i64>) {
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %n = stablehlo.constant dense<7> : tensor<i64>
    return %t, %n : tensor<3x2xf32>, tensor<i64> } })",
                       CompileOptions({}, 0));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const Buffer a = Upload(x, {2, 3});
  PJRT_Buffer* const arguments[] = {a.get()};
  std::vector<Buffer> outputs;
  ASSERT_TRUE(compiled->program->Call(arguments, true, outputs).ok());
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_THAT(Floats(*target_->client()->Download(outputs[0])), ElementsAre(1, 4, 2, 5, 3, 6));
  const auto seven = target_->client()->Download(outputs[1]);
  EXPECT_TRUE(seven->shape.empty());
  EXPECT_EQ(seven->bytes, std::string("\7\0\0\0\0\0\0\0", 8));
}

TEST_F(CpuPlugin, ManyOutputsAndEmptyTensors) {
  std::string results, types;
  for (int i = 0; i < 20; ++i) {
    results += Cat(i == 0 ? "" : ", ", "%x");
    types += Cat(i == 0 ? "" : ", ", "tensor<0x3xf32>");
  }
  const auto compiled = target_->Compile(Cat("module { func.func public @main(%x: tensor<0x3xf32>) -> (", types,
                                             ") { return ", results, " : ", types, " } }"),
                                         CompileOptions({}, 0));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const Buffer a = Upload({}, {0, 3});
  PJRT_Buffer* const arguments[] = {a.get()};
  std::vector<Buffer> outputs;
  ASSERT_TRUE(compiled->program->Call(arguments, true, outputs).ok());
  ASSERT_EQ(outputs.size(), 20u);
  EXPECT_THAT(target_->client()->Download(outputs[19])->shape, ElementsAre(0, 3));
}

TEST_F(CpuPlugin, WhatItRefusesIsAStatus) {
  EXPECT_FALSE(target_->Compile("module { this is not MLIR }", CompileOptions({}, 0)).ok());
  const auto unknown = target_->Compile(kAdd, CompileOptions({{"xla_no_such_flag", true}}, 0));
  EXPECT_THAT(std::string(Said(unknown.status())), HasSubstr("xla_no_such_flag"));
}

// Every flag of the table must exist in the plug-in and take the type that the table gives it.
TEST_F(CpuPlugin, HasEveryFlagOfTheTable) {
  for (const Flag& flag : Flags()) {
    if (!flag.platform.empty() && flag.platform != "cpu") continue;
    if (plugin_->api_minor() < flag.first_api || plugin_->api_minor() > flag.last_api) continue;
    Override one{flag.name, true};
    if (flag.type == Flag::Type::kInt) one.value = flag.maximum;
    if (flag.type == Flag::Type::kChoice) one.value = std::string(flag.choices[0]);
    const auto compiled = target_->Compile(kAdd, CompileOptions({one}, 0));
    EXPECT_TRUE(compiled.ok()) << flag.name << ": " << compiled.status();
  }
}

TEST_F(CpuPlugin, HasNoTopologies) {
  const auto target = Target::Open(plugin_, {{}, "v5e:1x1", ""}, 0);
  EXPECT_THAT(std::string(Said(target.status())), HasSubstr("has no topology v5e:1x1"));
}

TEST(AddOption, ReadsTypes) {
  CreateOptions options;
  for (const char* text : {"a=true", "b=12", "c=text", "d=1x1x1"}) ASSERT_TRUE(AddOption(text, options).ok());
  EXPECT_EQ(options.at("a"), CreateOption(true));
  EXPECT_EQ(options.at("b"), CreateOption(int64_t{12}));
  EXPECT_EQ(options.at("c"), CreateOption(std::string("text")));
  EXPECT_EQ(options.at("d"), CreateOption(std::string("1x1x1")));
  EXPECT_FALSE(AddOption("novalue", options).ok());
  EXPECT_TRUE(absl::IsNotFound(AddOption("e=@/nowhere", options)));
}

}  // namespace
}  // namespace assay::pjrt
