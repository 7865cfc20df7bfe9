#include "client/target.h"

#include <gtest/gtest.h>

#include "client/text.h"

namespace assay::client {
namespace {

TEST(TargetTest, ReadsEveryPart) {
  const auto target = ParseTarget("inductor@env:nightly@cuda");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->compiler(), "inductor");
  EXPECT_EQ(target->environment(), "nightly");
  EXPECT_EQ(target->device_kind(), "cuda");
  EXPECT_EQ(TargetText(*target), "inductor@env:nightly@cuda");
}

TEST(TargetTest, PartsMayBeLeftOutAndSwapped) {
  EXPECT_EQ(ParseTarget("eager-python")->compiler(), "eager-python");
  EXPECT_EQ(ParseTarget("inductor@cuda@env:a")->environment(), "a");
  EXPECT_EQ(TargetText(*ParseTarget("inductor@cpu@env:default")), "inductor");
  EXPECT_EQ(ParseTarget("xla@tpu:v5e")->device_kind(), "tpu:v5e");
}

TEST(TargetTest, RefusesWhatItCannotRead) {
  for (const char* text : {"", "@cuda", "a b", "inductor@", "inductor@env:", "inductor@cuda@cpu",
                           "inductor@env:a@env:b", "x@env:a/b", "x@tpu:", "x@:a", "x@tpu:a:b"}) {
    const auto target = ParseTarget(text);
    EXPECT_TRUE(absl::IsInvalidArgument(target.status())) << text;
    EXPECT_NE(MessageOf(target.status()).find("COMPILER[@env:ENVIRONMENT][@DEVICE]"), std::string::npos);
  }
}

TEST(SuiteNameTest, ReadsVersions) {
  EXPECT_EQ(ParseSuite("graphnet-torch")->version, 0);
  EXPECT_EQ(ParseSuite("graphnet-torch@3")->version, 3);
  for (const char* text : {"", "a@", "a@0", "a@-1", "a@1x", "a@1@2", "@1"}) EXPECT_FALSE(ParseSuite(text).ok()) << text;
}

TEST(OptionTest, ValuesAreTyped) {
  v1::Target target;
  for (const char* text : {"a=true", "b=2.5", "c=max", "d=\"3\"", "e=x=y", "f="})
    ASSERT_TRUE(AddOption(text, target).ok()) << text;
  const auto& fields = target.options().fields();
  EXPECT_TRUE(fields.at("a").bool_value());
  EXPECT_EQ(fields.at("b").number_value(), 2.5);
  EXPECT_EQ(fields.at("c").string_value(), "max");
  EXPECT_EQ(fields.at("d").string_value(), "3");
  EXPECT_EQ(fields.at("e").string_value(), "x=y");
  EXPECT_TRUE(fields.at("f").has_string_value());
  EXPECT_FALSE(AddOption("a=false", target).ok()) << "given twice";
  EXPECT_FALSE(AddOption("=1", target).ok());
  EXPECT_FALSE(AddOption("plain", target).ok());
  // Not a number in JSON.
  v1::Target other;
  ASSERT_TRUE(AddOption("n=inf", other).ok());
  EXPECT_TRUE(other.options().fields().at("n").has_string_value());
}

TEST(TargetTextTest, OptionsAreSorted) {
  v1::Target target;
  target.set_compiler("inductor");
  ASSERT_TRUE(AddOption("mode=fast", target).ok());
  ASSERT_TRUE(AddOption("dynamic=false", target).ok());
  EXPECT_EQ(TargetText(target), "inductor{dynamic=false,mode=fast}");
}

}  // namespace
}  // namespace assay::client
