#include "worker/environment.h"

#include <unistd.h>

#include <fstream>

#include "gmock/gmock.h"
#include "graph/canonical.h"
#include "graph/test_sample.h"
#include "gtest/gtest.h"
#include "worker/graph_cache.h"
#include "worker/runner_environment.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::HasSubstr;

class FolderTest : public testing::Test {
 protected:
  FolderTest() : folder_(fs::path(testing::TempDir()) / ("environment_test_" + std::to_string(::getpid()))) {}
  ~FolderTest() override { fs::remove_all(folder_); }

  void Write(const std::string& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }

  fs::path folder_;
};

class EnvironmentTest : public FolderTest {
 protected:
  void SetUp() override {
    Write("proc/cpuinfo",
          "processor\t: 0\nmodel name\t: Test CPU\nflags\t\t: sse avx\n\nprocessor\t: 1\nmodel name\t: Test "
          "CPU\nflags\t: sse avx\n");
    Write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");
    Write("proc/loadavg", "0.50 0.25 0.10 1/100 1234\n");
    Write("proc/self/cgroup", "0::/unit/worker\n");
    Write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    Write("sys/fs/cgroup/unit/memory.max", "10737418240\n");
    Write("sys/fs/cgroup/unit/worker/memory.max", "max\n");
    Write("sys/fs/cgroup/unit/worker/cpu.max", "200000 100000\n");
    Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2500000\n");
    Write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    Write("sys/class/thermal/thermal_zone0/temp", "45500\n");
    Write("sys/class/thermal/thermal_zone0/type", "package\n");
  }
};

TEST_F(EnvironmentTest, ReadsWhatDecidesTimes) {
  const Environment environment = CaptureEnvironment(Config(), false, folder_);
  const std::string text = StableText(environment.json);
  EXPECT_THAT(text, HasSubstr("\"model name\":\"Test CPU\""));
  EXPECT_THAT(text, HasSubstr("\"logical_cpus\":2"));
  EXPECT_THAT(text, HasSubstr("\"governor\":\"performance\""));
  EXPECT_THAT(text, HasSubstr("\"turbo\":false"));
  EXPECT_THAT(text, HasSubstr("\"gib\":16"));
  EXPECT_THAT(text, HasSubstr("\"cpu_max\":\"200000 100000\""));
  EXPECT_EQ(environment.memory_limit_bytes, 10737418240 / 5 * 4) << "of the control group above";
}

TEST_F(EnvironmentTest, HashIsOfWhatStays) {
  const std::string hash = CaptureEnvironment(Config(), false, folder_).hash;
  EXPECT_EQ(hash.size(), 64u);
  Write("proc/loadavg", "9.00 9.00 9.00 1/100 1234\n");
  Write("proc/meminfo", "MemTotal:       16777000 kB\n");
  Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1000000\n");
  EXPECT_EQ(CaptureEnvironment(Config(), false, folder_).hash, hash);
  Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  EXPECT_NE(CaptureEnvironment(Config(), false, folder_).hash, hash);
}

TEST_F(EnvironmentTest, ATrialsHashIsOfItsOwnRunners) {
  const Environment machine = CaptureEnvironment(Config(), false, folder_);
  KnownRunner one, two;
  one.offer.set_name("torch");
  one.offer.set_version("2");
  two.offer.set_name("torch");
  two.offer.set_version("3");
  v1::Device device;
  device.set_model("Test CPU");
  const Environment environment = ForTrial(machine, device, {&one});
  EXPECT_EQ(environment.hash, ForTrial(machine, device, {&one}).hash);
  EXPECT_NE(environment.hash, ForTrial(machine, device, {&two}).hash);
  EXPECT_THAT(StableText(environment.json), HasSubstr(R"("cohort":{"device":"Test CPU","software":["torch 2"]})"));
}

TEST_F(EnvironmentTest, ConditionsMove) {
  const Conditions before = CaptureConditions(folder_);
  EXPECT_EQ(StableText(before.json),
            "{\"clocks_khz\":[2500000],\"load_average\":[5E-1,2.5E-1],\"temperatures_c\":{\"package\":4.55E1}}");
  EXPECT_FALSE(before.throttle_count.has_value());
  Write("proc/loadavg", "2.50 0.50 0.10 1/100 1234\n");
  const json::object told = TellConditions(before, CaptureConditions(folder_));
  EXPECT_FALSE(told.contains("throttled")) << "not known";
  EXPECT_EQ(told.at("before").at("load_average").at(0).as_double(), 0.5);
  EXPECT_EQ(told.at("after").at("load_average").at(0).as_double(), 2.5);
}

TEST_F(EnvironmentTest, ThrottlingIsCountedOverTheTimedPart) {
  for (const char* cpu : {"cpu0", "cpu1"}) {
    Write(std::string("sys/devices/system/cpu/") + cpu + "/thermal_throttle/core_throttle_count", "100\n");
  }
  const Conditions before = CaptureConditions(folder_);
  EXPECT_EQ(TellConditions(before, CaptureConditions(folder_)).at("throttled").as_int64(), 0);
  Write("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "103\n");
  EXPECT_EQ(TellConditions(before, CaptureConditions(folder_)).at("throttled").as_int64(), 3);
}

TEST_F(EnvironmentTest, EveryTemperatureHasItsOwnName) {
  Write("sys/class/thermal/thermal_zone10/temp", "50000\n");
  Write("sys/class/thermal/thermal_zone10/type", "package\n");
  Write("sys/class/hwmon/hwmon0/name", "nvme\n");
  Write("sys/class/hwmon/hwmon0/temp1_input", "99000\n");
  Write("sys/class/hwmon/hwmon1/name", "k10temp\n");
  Write("sys/class/hwmon/hwmon1/temp1_input", "61000\n");
  Write("sys/class/hwmon/hwmon1/temp1_label", "Tctl\n");
  Write("sys/class/hwmon/hwmon1/temp3_input", "62000\n");
  for (const std::string socket : {"2", "3"}) {
    const std::string chip = "sys/class/hwmon/hwmon" + socket + "/";
    Write(chip + "name", "coretemp\n");
    Write(chip + "temp2_input", "64000\n");
    Write(chip + "temp2_label", "Core 0\n");
  }
  Write("sys/class/hwmon/hwmon3/temp1_input", "65000\n");
  Write("sys/class/hwmon/hwmon3/temp1_label", "Package id 1\n");
  EXPECT_EQ(StableText(CaptureConditions(folder_).json.at("temperatures_c")),
            R"({"coretemp Core 0":6.4E1,"coretemp Package id 1":6.5E1,"k10temp Tctl":6.1E1,)"
            R"("k10temp temp3":6.2E1,"package":4.55E1,"package 2":5E1})");
}

TEST(StableTextTest, SortsKeysAtEveryDepth) {
  EXPECT_EQ(StableText(boost::json::parse(R"({"b": [{"z": 1, "a": null}], "a": true})")),
            R"({"a":true,"b":[{"a":null,"z":1}]})");
}

class RunnerEnvironmentTest : public FolderTest {
 protected:
  void SetUp() override {
    Write("one/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
    Write("one/lib/python3.11/site-packages/torch-2.0.dist-info/RECORD",
          "torch/a.py,sha256=x,1\ntorch/b.py,sha256=y,2\n");
    Write("program", "program");
    runner_.name = "r";
    runner_.command = {(folder_ / "program").string()};
    runner_.venv = (folder_ / "one").string();
  }
  std::string Hash() {
    absl::StatusOr<std::string> hash = HashRunnerEnvironment(runner_);
    EXPECT_TRUE(hash.ok()) << hash.status();
    return hash.ok() ? *hash : "";
  }
  RunnerConfig runner_;
};

TEST_F(RunnerEnvironmentTest, IsOfTheContents) {
  const std::string hash = Hash();
  fs::copy(folder_ / "one", folder_ / "two", fs::copy_options::recursive);
  runner_.venv = (folder_ / "two").string();
  EXPECT_EQ(Hash(), hash) << "the place does not count";
  const std::string record = "two/lib/python3.11/site-packages/torch-2.0.dist-info/RECORD";
  Write(record, "torch/b.py,sha256=y,2\ntorch/__pycache__/a.pyc,,\ntorch/a.py,sha256=x,1\n");
  EXPECT_EQ(Hash(), hash) << "nor the order, nor compiled files";
  Write(record, "torch/a.py,sha256=other,1\ntorch/b.py,sha256=y,2\n");
  EXPECT_NE(Hash(), hash);
}

TEST_F(RunnerEnvironmentTest, TheProgramCounts) {
  const std::string hash = Hash();
  Write("program", "another program");
  EXPECT_NE(Hash(), hash);
}

TEST_F(RunnerEnvironmentTest, AnEmptyEnvironmentIsAnError) {
  fs::remove_all(folder_ / "one/lib");
  EXPECT_THAT(std::string(HashRunnerEnvironment(runner_).status().message()), HasSubstr("no installed packages"));
}

class GraphCacheTest : public FolderTest {
 protected:
  void SetUp() override {
    absl::StatusOr<graph::Graph> graph = graph::Parse(graph::ReluSample());
    ASSERT_TRUE(graph.ok()) << graph.status();
    sample_ = graph::Canonical(*graph);
    hash_ = graph::Hash(*graph);
  }
  graph::Sample sample_;
  std::string hash_;
};

TEST_F(GraphCacheTest, FetchesOnce) {
  int fetched = 0;
  const auto fetch = [&](std::string_view) { return ++fetched, absl::StatusOr<graph::Sample>(sample_); };
  for (int i = 0; i < 2; ++i) {
    GraphCache cache(folder_, fetch);
    for (int j = 0; j < 2; ++j) {
      absl::StatusOr<graph::Sample> sample = cache.Get(hash_);
      ASSERT_TRUE(sample.ok()) << sample.status();
      EXPECT_EQ(sample->model, sample_.model);
    }
  }
  EXPECT_EQ(fetched, 1);
}

TEST_F(GraphCacheTest, ADamagedFileIsFetchedAgain) {
  int fetched = 0;
  GraphCache cache(folder_, [&](std::string_view) { return ++fetched, absl::StatusOr<graph::Sample>(sample_); });
  ASSERT_TRUE(cache.Get(hash_).ok());
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.path().filename() == "model.py") std::ofstream(entry.path(), std::ios::app) << "#";
  }
  ASSERT_TRUE(cache.Get(hash_).ok());
  EXPECT_EQ(fetched, 2);
}

TEST_F(GraphCacheTest, RefusesAnotherGraph) {
  GraphCache cache(folder_, [&](std::string_view) { return absl::StatusOr<graph::Sample>(sample_); });
  EXPECT_TRUE(absl::IsDataLoss(cache.Get(std::string(64, 'a')).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(cache.Get("../../etc").status()));
}

}  // namespace
}  // namespace assay::worker
