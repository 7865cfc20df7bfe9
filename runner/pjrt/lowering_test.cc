#include "runner/pjrt/lowering.h"

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "runner/pjrt/status.h"

namespace assay::pjrt {
namespace {

using graph::Cat;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kReply[] = R"({"stablehlo": "module {}", "arguments": [1], "constants": [0], "outputs": []})";

class LoweringTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "cache");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A lowering process that answers `reply`, keeps the request and counts its lowerings.
  std::vector<std::string> Fake(std::string_view reply, std::string_view version = "1") {
    std::ofstream(folder_ / "reply") << reply;
    return {"sh", "-c",
            Cat("if [ \"$1\" = --version ]; then echo ", version, "; else cat > '", (folder_ / "request").string(),
                "'; echo x >> '", (folder_ / "count").string(), "'; cat '", (folder_ / "reply").string(), "'; fi"),
            "fake"};
  }
  int Count() const {
    std::ifstream file(folder_ / "count");
    int count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }
  std::string Cache() const { return (folder_ / "cache").string(); }
  std::vector<LoweringParameter> Parameters() const {
    return {{{"s", graph::DType::kInt64, {}}, std::as_bytes(std::span(&four_, 1)), true},
            {{"x", graph::DType::kFloat32, {2, 3}}, {}, false}};
  }

  std::filesystem::path folder_;
  const int64_t four_ = 4;
};

TEST_F(LoweringTest, AsksAndReadsTheReply) {
  Lowering lowering(Fake(kReply), "");
  const auto lowered = lowering.Lower("the model", Parameters(), "cpu");
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(lowered->stablehlo, "module {}");
  EXPECT_THAT(lowered->arguments, ElementsAre(1));
  EXPECT_THAT(lowered->constants, ElementsAre(0));
  EXPECT_FALSE(lowered->cached);
  std::ifstream file(folder_ / "request");
  const auto request = boost::json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_EQ(request, boost::json::parse(R"({"model": "the model", "platform": "cpu", "parameters": [
      {"name": "s", "dtype": "int64", "shape": [], "value": 4, "number": true},
      {"name": "x", "dtype": "float32", "shape": [2, 3]}]})"));
}

TEST_F(LoweringTest, LowersAGraphOnce) {
  for (int i = 0; i < 2; ++i) {
    Lowering lowering(Fake(kReply), Cache());
    const auto lowered = lowering.Lower("the model", Parameters(), "cpu");
    ASSERT_TRUE(lowered.ok()) << lowered.status();
    EXPECT_EQ(lowered->cached, i == 1);
  }
  EXPECT_EQ(Count(), 1);
  // Whatever the text depends on makes another entry.
  ASSERT_TRUE(Lowering(Fake(kReply), Cache()).Lower("another model", Parameters(), "cpu").ok());
  ASSERT_TRUE(Lowering(Fake(kReply), Cache()).Lower("the model", Parameters(), "tpu").ok());
  ASSERT_TRUE(Lowering(Fake(kReply, "2"), Cache()).Lower("the model", Parameters(), "cpu").ok());
  EXPECT_EQ(Count(), 4);
}

TEST_F(LoweringTest, ATornEntryIsReplaced) {
  ASSERT_TRUE(Lowering(Fake(kReply), Cache()).Lower("the model", Parameters(), "cpu").ok());
  for (const auto& entry : std::filesystem::directory_iterator(Cache())) std::ofstream(entry.path()) << "{\"stable";
  const auto again = Lowering(Fake(kReply), Cache()).Lower("the model", Parameters(), "cpu");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(again->cached);
  EXPECT_EQ(Count(), 2);
  EXPECT_TRUE(Lowering(Fake(kReply), Cache()).Lower("the model", Parameters(), "cpu")->cached);
}

TEST_F(LoweringTest, ACacheThatCannotBeWrittenCostsTimeOnly) {
  const auto lowered = Lowering(Fake(kReply), "/proc/nowhere").Lower("the model", Parameters(), "cpu");
  EXPECT_TRUE(lowered.ok()) << lowered.status();
}

TEST_F(LoweringTest, WhatCannotBeLoweredIsSaid) {
  Lowering lowering(Fake(R"({"error": {"message": "no lowering for the operator aten.foo.default"}})"), Cache());
  for (int i = 0; i < 2; ++i) {
    const auto lowered = lowering.Lower("the model", Parameters(), "cpu");
    EXPECT_TRUE(absl::IsInvalidArgument(lowered.status()));
    EXPECT_THAT(std::string(Said(lowered.status())), HasSubstr("aten.foo.default"));
  }
  EXPECT_EQ(Count(), 1);
}

TEST_F(LoweringTest, ARunnerWithoutOneSaysHowToNameIt) {
  const auto lowered = Lowering({}, "").Lower("the model", Parameters(), "cpu");
  EXPECT_TRUE(absl::IsFailedPrecondition(lowered.status()));
  EXPECT_THAT(std::string(Said(lowered.status())), HasSubstr("--lowering"));
}

TEST(ParseLowered, TrustsNothing) {
  for (const char* reply : {"", "[]", "{}", R"({"stablehlo": 1, "arguments": [], "constants": []})",
                            R"({"stablehlo": "", "arguments": [2], "constants": []})",
                            R"({"stablehlo": "", "arguments": [-1], "constants": []})",
                            R"({"stablehlo": "", "arguments": [], "constants": ["x"]})", R"({"error": "x"})"}) {
    EXPECT_TRUE(absl::IsInternal(ParseLowered(reply, 2).status())) << reply;
  }
  EXPECT_THAT(ParseLowered(R"({"stablehlo": "", "arguments": [], "constants": []})", 2)->arguments, IsEmpty());
}

}  // namespace
}  // namespace assay::pjrt
