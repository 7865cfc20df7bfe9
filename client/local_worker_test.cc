#include "client/local_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <map>

#include "client/repro.h"
#include "client/state_folder.h"
#include "client/text.h"

namespace assay::client {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class LocalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-local-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  void AddProgram(const fs::path& path) {
    fs::create_directories((folder_ / path).parent_path());
    ASSERT_TRUE(WriteFile(folder_ / path, "#!/bin/sh\n", 0755).ok());
  }
  fs::path folder_;
};

TEST_F(LocalTest, WorkerConfigIsToml) {
  const LocalWorker worker = {.server = "127.0.0.1:1",
                              .token_file = "/state/worker.token",
                              .state_folder = "/state/a \"quoted\\ folder",
                              .threads = 2,
                              .torch_runner = "/bin/assay-runner-torch",
                              .venv = "/venv",
                              .xla_runner = "/bin/assay-runner-pjrt",
                              .xla = {"/venv-xla",
                                      "/venv-xla/plugin.so",
                                      "/src/runner/lowering",
                                      "/venv-xla/libtpu.so",
                                      "/venv-xla/cuda.so",
                                      {"/gpus/a100.txtpb", "/gpus/h100.txtpb"}},
                              .python_path = "/src/runner/python",
                              .environments = {{"nightly", "/venv-nightly"}}};
  LocalWorker with_devices = worker;
  with_devices.gpu = with_devices.tpu = true;
  const toml::table more = toml::parse(WorkerConfig(with_devices));
  std::vector<std::string> names, plugins;
  for (const toml::node& runner : *more["runner"].as_array()) {
    names.push_back(*(*runner.as_table())["name"].value<std::string>());
    plugins.push_back((*runner.as_table())["command"][2].value<std::string>().value_or(""));
  }
  EXPECT_THAT(names, ElementsAre("torch", "xla", "xla-cuda-device", "xla-tpu-device", "xla-tpu", "xla-cuda", "python",
                                 "python"));
  EXPECT_EQ(plugins[2], "/venv-xla/cuda.so");
  EXPECT_EQ(plugins[3], "/venv-xla/libtpu.so");

  const toml::table config = toml::parse(WorkerConfig(worker));
  EXPECT_EQ(config["state_dir"].value<std::string>(), "/state/a \"quoted\\ folder");
  EXPECT_EQ(config["threads"].value<int>(), 2);
  const toml::array& runners = *config["runner"].as_array();
  ASSERT_EQ(runners.size(), 6u);
  EXPECT_EQ((*runners[0].as_table())["name"].value<std::string>(), "torch");
  const toml::table& xla = *runners[1].as_table();
  EXPECT_EQ(xla["command"][0].value<std::string>(), "/bin/assay-runner-pjrt");
  EXPECT_EQ(xla["command"][2].value<std::string>(), "/venv-xla/plugin.so");
  EXPECT_EQ(xla["venv"].value<std::string>(), "/venv-xla");
  EXPECT_EQ(xla["paths"][0].value<std::string>(), "/src/runner/lowering");
  const auto command = [&](int runner) {
    std::string text;
    for (const toml::node& argument : *runners[runner].as_table()->get("command")->as_array()) {
      text += *argument.value<std::string>() + " ";
    }
    return text;
  };
  EXPECT_EQ((*runners[2].as_table())["name"].value<std::string>(), "xla-tpu");
  EXPECT_EQ(
      command(2),
      "/bin/assay-runner-pjrt --plugin /venv-xla/libtpu.so --topology v4:2x2x1 --label v4 --topology v5e:1x1 "
      "--label v5e --topology v5p:2x2x1 --label v5p --topology v6e:1x1 --label v6e --topology tpu7x:2x2x1 --label "
      "tpu7x --lowering /venv-xla/bin/python -m assay_lowering ");
  EXPECT_EQ(command(3),
            "/bin/assay-runner-pjrt --plugin /venv-xla/cuda.so --topology a100 --label a100 --plugin-option "
            "topology=1x1x1 --plugin-option target_config=@/gpus/a100.txtpb --topology h100 --label h100 "
            "--plugin-option topology=1x1x1 --plugin-option target_config=@/gpus/h100.txtpb --lowering "
            "/venv-xla/bin/python -m assay_lowering ");
  const toml::table& nightly = *runners[5].as_table();
  EXPECT_EQ(nightly["environment"].value<std::string>(), "nightly");
  EXPECT_EQ(nightly["command"][0].value<std::string>(), "/venv-nightly/bin/python");
  EXPECT_EQ(nightly["variables"]["PYTHONPATH"].value<std::string>(), "/src/runner/python");
  EXPECT_EQ(nightly["trusted"].value<bool>(), true);
}

TEST_F(LocalTest, EnvironmentsMustBeVirtualEnvironments) {
  AddProgram("venv/bin/python");
  const auto environment = ParseEnvironment("nightly=" + (folder_ / "venv").string());
  ASSERT_TRUE(environment.ok()) << environment.status();
  EXPECT_EQ(environment->first, "nightly");
  EXPECT_TRUE(absl::IsNotFound(ParseEnvironment("a=" + folder_.string()).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseEnvironment("a").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseEnvironment("=x").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseEnvironment("default=" + (folder_ / "venv").string()).status()));
}

TEST_F(LocalTest, FindsProgramsWhereTheyAreBuiltAndInstalled) {
  std::map<std::string, std::string> env;
  const GetEnv get = [&](const char* name) { return env.contains(name) ? env[name] : ""; };
  AddProgram("build/release/server/assay-server");
  AddProgram("path/assay-worker");
  AddProgram(".venv/bin/python");
  fs::create_directories(folder_ / "runner/python/assay_runner");
  const Installation installation(folder_ / "build/release/client", get);
  EXPECT_EQ(*installation.Program("server", "assay-server"), folder_ / "build/release/server/assay-server");
  EXPECT_TRUE(absl::IsNotFound(installation.Program("worker", "assay-worker").status()));
  env["PATH"] = "/nonexistent:" + (folder_ / "path").string();
  EXPECT_EQ(*installation.Program("worker", "assay-worker"), folder_ / "path/assay-worker");
  EXPECT_EQ(*installation.Venv(), folder_ / ".venv");
  EXPECT_EQ(installation.PythonPath(), folder_ / "runner/python");
  EXPECT_TRUE(absl::IsNotFound(installation.FindXla().status()));
  AddProgram(".venv-xla/bin/python");
  EXPECT_TRUE(absl::IsNotFound(installation.FindXla().status()));  // it has no plug-in
  const fs::path plugin = ".venv-xla/lib/python3.11/site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";
  AddProgram(plugin);
  fs::create_directories(folder_ / "runner/lowering/assay_lowering");
  const auto xla = installation.FindXla();
  ASSERT_TRUE(xla.ok()) << xla.status();
  EXPECT_EQ(xla->venv, folder_ / ".venv-xla");
  EXPECT_EQ(xla->plugin, folder_ / plugin);
  EXPECT_EQ(xla->lowering, folder_ / "runner/lowering");
  EXPECT_TRUE(xla->tpu_plugin.empty() && xla->cuda_plugin.empty() && xla->gpus.empty());
  AddProgram(".venv-xla/plugins/tpu/libtpu/libtpu.so");
  AddProgram(".venv-xla/plugins/cuda/jax_plugins/xla_cuda13/xla_cuda_plugin.so");
  AddProgram(".venv-xla/plugins/gpus/h100.txtpb");
  EXPECT_EQ(installation.FindXla()->tpu_plugin, folder_ / ".venv-xla/plugins/tpu/libtpu/libtpu.so");
  EXPECT_EQ(installation.FindXla()->cuda_plugin,
            folder_ / ".venv-xla/plugins/cuda/jax_plugins/xla_cuda13/xla_cuda_plugin.so");
  EXPECT_EQ(installation.FindXla()->gpus.size(), 1u);
  env["ASSAY_XLA_VENV"] = "/nonexistent";
  EXPECT_TRUE(absl::IsNotFound(installation.FindXla().status()));
  env["ASSAY_VENV"] = "/nonexistent";
  EXPECT_TRUE(absl::IsNotFound(installation.Venv().status()));
}

TEST_F(LocalTest, ReproFolderIsWholeAndNeverOverwritten) {
  v1::Evaluation evaluation;
  evaluation.set_id("7");
  evaluation.mutable_candidate()->set_compiler("inductor");
  v1::Measurement measurement;
  measurement.set_outcome_class(v1::RUNTIME_FAIL);
  measurement.set_secret_seed("abcd");
  measurement.mutable_policy()->set_name("sweep");
  v1::GraphSample sample;
  sample.set_hash(std::string(64, 'a'));
  sample.set_model("model");
  const fs::path out = folder_ / ReproFolderName("7", "timm/a b'c");
  EXPECT_EQ(out.filename(), "repro-7-timm-a-b-c");
  ASSERT_TRUE(WriteRepro(out, evaluation, "timm/a", measurement, sample).ok());
  EXPECT_EQ(*ReadFile(out / "sample/model.py"), "model");
  const std::string trial = *ReadFile(out / "trial.json");
  EXPECT_NE(trial.find(R"("secretSeed":"abcd")"), std::string::npos) << trial;
  EXPECT_NE(trial.find(R"("graphHash":"aaaa)"), std::string::npos) << trial;
  EXPECT_NO_THROW(toml::parse(*ReadFile(out / "worker.toml")));
  struct stat info {};
  ASSERT_EQ(::stat((out / "run.sh").c_str(), &info), 0);
  EXPECT_NE(info.st_mode & S_IXUSR, 0u);
  EXPECT_TRUE(absl::IsAlreadyExists(WriteRepro(out, evaluation, "timm/a", measurement, sample)));
}

}  // namespace
}  // namespace assay::client
