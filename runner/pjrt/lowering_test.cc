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
    std::filesystem::create_directories(folder_);
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
  std::vector<LoweringParameter> Parameters() const {
    return {{{"s", graph::DType::kInt64, {}}, std::as_bytes(std::span(&four_, 1)), true},
            {{"x", graph::DType::kFloat32, {2, 3}}, {}, false}};
  }

  std::filesystem::path folder_;
  const int64_t four_ = 4;
};

TEST_F(LoweringTest, AsksAndReadsTheReply) {
  Lowering lowering(Fake(kReply));
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
  std::string keep, more;
  const auto first = Lowering(Fake(kReply)).Lower("the model", Parameters(), "cpu", {}, &keep);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(first->cached);
  const auto again = Lowering(Fake(kReply)).Lower("the model", Parameters(), "cpu", keep, &more);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->cached);
  EXPECT_EQ(more, "");
  EXPECT_EQ(again->stablehlo, first->stablehlo);
  EXPECT_EQ(Count(), 1);
  // What was kept of anything else that the text depends on is of no use.
  EXPECT_FALSE(Lowering(Fake(kReply)).Lower("another model", Parameters(), "cpu", keep)->cached);
  EXPECT_FALSE(Lowering(Fake(kReply)).Lower("the model", Parameters(), "tpu", keep)->cached);
  EXPECT_FALSE(Lowering(Fake(kReply, "2")).Lower("the model", Parameters(), "cpu", keep)->cached);
  EXPECT_EQ(Count(), 4);
}

TEST_F(LoweringTest, WhatIsKeptIsNotTrusted) {
  std::string keep;
  ASSERT_TRUE(Lowering(Fake(kReply)).Lower("the model", Parameters(), "cpu", {}, &keep).ok());
  for (const std::string& kept :
       {keep.substr(0, keep.size() - 4), keep.substr(1), std::string("x"), std::string(70, '\n')}) {
    std::string kept_again;
    const auto again = Lowering(Fake(kReply)).Lower("the model", Parameters(), "cpu", kept, &kept_again);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_FALSE(again->cached);
    EXPECT_EQ(kept_again, keep);
  }
  EXPECT_EQ(Count(), 5);
}

TEST_F(LoweringTest, WhatCannotBeLoweredIsSaidAndFoundOutOnce) {
  constexpr char kError[] = R"({"error": {"message": "no lowering for the operator aten.foo.default"}})";
  std::string keep;
  for (int i = 0; i < 2; ++i) {
    const auto lowered = Lowering(Fake(kError)).Lower("the model", Parameters(), "cpu", keep, i == 0 ? &keep : nullptr);
    EXPECT_TRUE(absl::IsInvalidArgument(lowered.status()));
    EXPECT_THAT(std::string(Said(lowered.status())), HasSubstr("aten.foo.default"));
  }
  EXPECT_EQ(Count(), 1);
}

TEST_F(LoweringTest, AReplyThatIsNoneIsNotKept) {
  std::string keep;
  EXPECT_TRUE(absl::IsInternal(Lowering(Fake("{}")).Lower("the model", Parameters(), "cpu", {}, &keep).status()));
  EXPECT_EQ(keep, "");
}

TEST_F(LoweringTest, ARunnerWithoutOneSaysHowToNameIt) {
  const auto lowered = Lowering({}).Lower("the model", Parameters(), "cpu");
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
