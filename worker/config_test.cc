#include "worker/config.h"

#include <fstream>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(std::string_view text) { return std::string(ParseConfig(text, "/etc/assay").status().message()); }

TEST(ConfigTest, ReadsEveryKey) {
  absl::StatusOr<Config> config = ParseConfig(R"(
    server = "localhost:9000"
    token = "abc"
    name = "bench-1"
    state_dir = "state"
    lock_dir = "/run/locks"
    sandbox = "none"
    threads = 4
    cpus = "0-1,3"
    memory_limit_bytes = 1000000000
    drain_seconds = 5
    [limits]
    compile_seconds = 60
    [[runner]]
    name = "torch"
    command = ["../bin/runner", "--flag"]
    venv = "venv"
    trusted = true
    paths = ["lib"]
    variables = {OMP_PROC_BIND = "close"}
    [[runner]]
    name = "torch"
    environment = "nightly"
    command = ["/opt/runner"]
  )",
                                              "/etc/assay");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->state_dir, "/etc/assay/state");
  EXPECT_EQ(config->lock_dir, "/run/locks");
  EXPECT_EQ(config->sandbox, SandboxLevel::kNone);
  EXPECT_THAT(config->cpus, ElementsAre(0, 1, 3));
  EXPECT_EQ(config->limits.compile_seconds, 60);
  EXPECT_EQ(config->limits.load_seconds, PhaseLimits().load_seconds);
  ASSERT_EQ(config->runners.size(), 2u);
  EXPECT_THAT(config->runners[0].command, ElementsAre("/etc/bin/runner", "--flag"));
  EXPECT_EQ(config->runners[0].venv, "/etc/assay/venv");
  EXPECT_TRUE(config->runners[0].trusted);
  EXPECT_EQ(config->runners[0].variables.at("OMP_PROC_BIND"), "close");
  EXPECT_FALSE(config->runners[1].trusted) << "not trusted unless said";
  EXPECT_EQ(config->runners[1].environment, "nightly");
}

TEST(ConfigTest, TheSandboxIsFullUnlessSaid) {
  absl::StatusOr<Config> config = ParseConfig("state_dir = \"/s\"", "/");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->sandbox, SandboxLevel::kFull);
  EXPECT_FALSE(config->name.empty());
}

TEST(ConfigTest, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf("server = \n"), HasSubstr("line 1"));
  EXPECT_THAT(ErrorOf("sever = \"x\"\nstate_dir = \"s\""), HasSubstr("unknown key sever"));
  EXPECT_THAT(ErrorOf("threads = \"x\"\nstate_dir = \"s\""), HasSubstr("threads must be a whole number"));
  EXPECT_THAT(ErrorOf("threads = -1\nstate_dir = \"s\""), HasSubstr("threads must be a whole number"));
  EXPECT_THAT(ErrorOf("drain_seconds = 0\nstate_dir = \"s\""), HasSubstr("drain_seconds"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("state_dir must be given"));
  EXPECT_THAT(ErrorOf("state_dir = \"s\"\nsandbox = \"some\""), HasSubstr("\"full\" or \"none\""));
  EXPECT_THAT(ErrorOf("state_dir = \"s\"\ncpus = \"3-1\""), HasSubstr("list of CPUs"));
  EXPECT_THAT(ErrorOf("state_dir = \"s\"\ntoken = \"a\"\ntoken_file = \"b\""), HasSubstr("not both"));
  EXPECT_THAT(ErrorOf("state_dir = \"s\"\n[[runner]]\nname = \"x\""), HasSubstr("[[runner]] number 1: command"));
  EXPECT_THAT(ErrorOf("state_dir = \"s\"\n[[runner]]\nname = \"x\"\ncommand = [\"sh\"]"), HasSubstr("a slash"));
  EXPECT_THAT(ErrorOf("state_dir = \"s\"\n[[runner]]\nname = \"x\"\ncommand = [\"/x\"]\n"
                      "[[runner]]\nname = \"x\"\ncommand = [\"/y\"]"),
              HasSubstr("two runners are named x"));
}

TEST(ConfigTest, TheLimitOfTheCalibrationErrorIsAShare) {
  const auto limit = [](std::string_view value) {
    const absl::StatusOr<Config> config =
        ParseConfig(fmt::format("state_dir = \"s\"\nmaximum_calibration_error = {}", value), "/");
    return config.ok() ? config->maximum_calibration_error : -1;
  };
  EXPECT_EQ(limit("0.02"), 0.02);
  EXPECT_EQ(limit("1"), 1);
  EXPECT_EQ(ParseConfig("state_dir = \"s\"", "/")->maximum_calibration_error, 0) << "no limit unless said";
  for (const char* wrong : {"0", "-0.1", "2", "\"2 %\"", "nan", "true"}) EXPECT_EQ(limit(wrong), -1) << wrong;
  EXPECT_THAT(ErrorOf("state_dir = \"s\"\nmaximum_calibration_error = 2"), HasSubstr("at most 1, for example 0.02"));
}

TEST(ConfigTest, RefusesToExposeTheState) {
  EXPECT_THAT(ErrorOf("state_dir = \"/srv/assay/state\"\n[[runner]]\nname = \"x\"\ncommand = [\"/x\"]\n"
                      "paths = [\"/srv/assay\"]"),
              HasSubstr("holds the worker's state folder"));
  EXPECT_EQ(ErrorOf("state_dir = \"/srv/assay/state\"\n[[runner]]\nname = \"x\"\ncommand = [\"/x\"]\n"
                    "paths = [\"/srv/assay/lib\"]"),
            "");
}

TEST(ConfigTest, ReadsTheTokenFromAFile) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "config_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "token") << "secret\n";
  std::ofstream(folder / "worker.toml") << "state_dir = \"s\"\ntoken_file = \"token\"\n";
  absl::StatusOr<Config> config = ReadConfig(folder / "worker.toml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->token, "secret");
  EXPECT_EQ(config->state_dir, folder / "s");
  EXPECT_THAT(std::string(ReadConfig(folder / "none.toml").status().message()), HasSubstr("none.toml"));
}

}  // namespace
}  // namespace assay::worker
