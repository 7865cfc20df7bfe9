#include "runner/pjrt/options.h"

#include <set>

#include "gmock/gmock.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "runner/pjrt/proto_writer.h"
#include "runner/pjrt/status.h"

namespace assay::pjrt {
namespace {

using testing::HasSubstr;
namespace json = boost::json;

TEST(ProtoWriter, WritesTheWireFormat) {
  ProtoWriter inner;
  inner.Number(1, 150);
  ProtoWriter outer;
  outer.Bytes(3, inner.bytes());
  EXPECT_EQ(outer.bytes(), std::string("\x1a\x03\x08\x96\x01", 5));
  ProtoWriter negative;
  negative.Number(1, -1);
  EXPECT_EQ(negative.bytes(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  ProtoWriter real;
  real.Double(4, 1.0);
  EXPECT_EQ(real.bytes(), std::string("\x21\0\0\0\0\0\0\xf0\x3f", 9));
}

TEST(Options, AreClosedAndTyped) {
  const json::object schema = OptionsSchema("cpu", 81);
  EXPECT_EQ(schema.at("type"), "object");
  EXPECT_EQ(schema.at("additionalProperties"), false);
  const json::object& properties = schema.at("properties").get_object();
  EXPECT_TRUE(properties.contains("xla_cpu_enable_fast_math"));
  EXPECT_FALSE(properties.contains("xla_gpu_ftz"));
  for (const auto& property : properties) {
    const json::object& type = property.value().get_object();
    EXPECT_TRUE(type.contains("enum") || type.at("type") == "boolean" || type.contains("maximum")) << property.key();
  }
}

TEST(Options, AreThoseOfThePluginsVersion) {
  const auto has = [](const char* name, int api) {
    return OptionsSchema("cpu", api).at("properties").get_object().contains(name);
  };
  EXPECT_TRUE(has("xla_cpu_use_fusion_emitters", 81));
  EXPECT_FALSE(has("xla_cpu_use_fusion_emitters", 115));
  EXPECT_FALSE(has("xla_cpu_ftz", 81));
  EXPECT_TRUE(has("xla_cpu_ftz", 115));
  EXPECT_TRUE(ParseOptions({{"xla_cpu_ftz", true}}, "cpu", 115).ok());
  EXPECT_THAT(std::string(Said(ParseOptions({{"xla_cpu_ftz", true}}, "cpu", 81).status())),
              HasSubstr("in this version of the plug-in"));
}

TEST(Options, NameNoFilesAndAreNamedOnce) {
  std::set<std::string> seen;
  for (const Flag& flag : Flags()) {
    const std::string name(flag.name);
    EXPECT_TRUE(seen.insert(name).second) << name;
    for (const char* word : {"dump", "path", "dir", "file", "extra_options", "cache", "libdevice"}) {
      EXPECT_EQ(name.find(word), std::string::npos) << name;
    }
  }
}

TEST(Options, WhatDoesNotFitIsNamed) {
  const auto refusal = [](json::object options) {
    return std::string(Said(ParseOptions(options, "cpu", 81).status()));
  };
  EXPECT_THAT(refusal({{"xla_dump_to", "/tmp/x"}}), HasSubstr("no option xla_dump_to"));
  EXPECT_THAT(refusal({{"xla_gpu_ftz", true}}), HasSubstr("on the platform cpu"));
  EXPECT_THAT(refusal({{"xla_cpu_enable_fast_math", 1}}), HasSubstr("must be true or false"));
  EXPECT_THAT(refusal({{"xla_backend_optimization_level", 4}}), HasSubstr("an integer from 0 to 3"));
  EXPECT_THAT(refusal({{"xla_cpu_max_isa", "AVX1024"}}), HasSubstr("SSE4_2, AVX"));
}

TEST(Options, BecomeOverrides) {
  const auto overrides = ParseOptions(
      {{"xla_cpu_enable_fast_math", true}, {"xla_backend_optimization_level", 2}, {"xla_cpu_max_isa", "AVX2"}}, "cpu",
      81);
  ASSERT_TRUE(overrides.ok());
  ASSERT_EQ(overrides->size(), 3u);
  // executable_build_options {device_ordinal 0, num_replicas 1, num_partitions 1}, then the map's entries.
  std::string expected("\x1a\x06\x08\x00\x20\x01\x28\x01", 8);
  const auto entry = [](std::string name, std::string value) {
    ProtoWriter inner, outer;
    inner.Bytes(1, name);
    inner.Bytes(2, value);
    outer.Bytes(7, inner.bytes());
    return outer.bytes();
  };
  expected += entry("xla_cpu_enable_fast_math", "\x10\x01");
  expected += entry("xla_backend_optimization_level", "\x18\x02");
  expected += entry("xla_cpu_max_isa",
                    "\x0a\x04"
                    "AVX2");
  EXPECT_EQ(CompileOptions(*overrides, 0), expected);
}

}  // namespace
}  // namespace assay::pjrt
