#include "client/import.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <set>

#include "client/parallel.h"
#include "client/state_folder.h"
#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

namespace fs = std::filesystem;

// A server in memory.
class FakeServer : public ImportTarget {
 public:
  absl::StatusOr<v1::FindMissingGraphsResponse> FindMissing(const v1::FindMissingGraphsRequest& request) override {
    if (!answers) return absl::UnavailableError("down");
    v1::FindMissingGraphsResponse response;
    for (const std::string& hash : request.hashes()) {
      if (!graphs.contains(hash)) response.add_missing(hash);
    }
    return response;
  }
  absl::StatusOr<v1::UploadGraphsResponse> Upload(const v1::UploadGraphsRequest& request) override {
    ++uploads;
    if (uploads > uploads_accepted) return absl::UnavailableError("died");
    for (const v1::GraphSample& graph : request.graphs()) graphs.insert(graph.hash());
    return v1::UploadGraphsResponse();
  }
  absl::StatusOr<v1::Suite> Create(const v1::CreateSuiteRequest& request) override {
    created.push_back(request);
    v1::Suite suite;
    suite.set_name(request.name());
    suite.set_version(static_cast<int>(created.size()));
    return suite;
  }
  bool answers = true;
  int uploads = 0, uploads_accepted = 1000;
  std::set<std::string> graphs;
  std::vector<v1::CreateSuiteRequest> created;
};

class ImportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-import-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    options_.folder = name;
    options_.suite = "mine";
    options_.threads = 3;
    options_.on_refused = [this](const CheckedSample& sample) { refused_.push_back(sample.path.filename().string()); };
    options_.on_progress = [](size_t, size_t, size_t) {};
  }
  void TearDown() override { fs::remove_all(options_.folder); }

  // One graph a size, so that equal sizes are equal graphs.
  void AddSample(const std::string& name, int size) {
    const fs::path folder = options_.folder / name;
    fs::create_directories(folder);
    Write(folder / "model.py",
          "import torch\n\nclass GraphModule(torch.nn.Module):\n"
          "    def forward(self, L_x_ : torch.Tensor):\n"
          "        l_x_ = L_x_\n"
          "        y = torch.nn.functional.relu(l_x_)\n"
          "        l_x_ = None\n"
          "        return (y,)\n");
    Write(folder / "weight_meta.py",
          fmt::format(
              "class Program_weight_tensor_meta_L_x_:\n    name = \"L_x_\"\n    shape = [{}]\n"
              "    dtype = \"torch.float32\"\n    device = \"cpu\"\n    mean = 0.0\n    std = 1.0\n    data = None\n",
              size));
    Write(folder / "input_meta.py", "");
    Write(folder / "graph_net.json", R"({"framework": "torch", "num_devices_required": 1, "num_nodes_required": 1})");
  }
  void AddBad(const std::string& name) {
    AddSample(name, 1);
    Write(options_.folder / name / "model.py", "import os\n");
  }
  static void Write(const fs::path& file, const std::string& text) { ASSERT_TRUE(WriteFile(file, text).ok()); }

  ImportOptions options_;
  FakeServer server_;
  std::vector<std::string> refused_;
};

TEST_F(ImportTest, SendsOnlyWhatIsMissing) {
  AddSample("family/a", 1);
  AddSample("b", 2);
  AddSample("c", 1);  // the same graph as a
  const auto first = Import(options_, server_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(refused_.empty()) << refused_[0];
  EXPECT_EQ(first->samples, 3u);
  EXPECT_EQ(first->accepted, 3u);
  EXPECT_EQ(first->graphs, 2u);
  EXPECT_EQ(first->sent, 2u);
  EXPECT_TRUE(first->made);
  ASSERT_EQ(server_.created.size(), 1u);
  ASSERT_EQ(server_.created[0].graphs_size(), 3);
  EXPECT_EQ(server_.created[0].graphs(0).name(), "b");
  EXPECT_EQ(server_.created[0].graphs(2).name(), "family/a");
  EXPECT_EQ(server_.created[0].graphs(1).hash(), server_.created[0].graphs(2).hash());

  const auto second = Import(options_, server_);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->sent, 0u);
  EXPECT_EQ(server_.uploads, 1);
}

TEST_F(ImportTest, BatchesAreBounded) {
  for (int i = 1; i <= 7; ++i) AddSample(std::to_string(i), i);
  options_.batch_bytes = 1;
  const auto result = Import(options_, server_);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(server_.uploads, 7);
  EXPECT_EQ(server_.graphs.size(), 7u);
}

TEST_F(ImportTest, RefusedSamplesAreToldAndLeftOut) {
  AddSample("a", 1);
  AddBad("z");
  const auto result = Import(options_, server_);
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(result->made);
  EXPECT_EQ(result->refused, 1u);
  EXPECT_EQ(refused_, std::vector<std::string>{"z"});
  EXPECT_EQ(server_.created[0].graphs_size(), 1);
}

TEST_F(ImportTest, StrictMakesNothing) {
  AddSample("a", 1);
  AddBad("z");
  options_.strict = true;
  const auto result = Import(options_, server_);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->made);
  EXPECT_TRUE(server_.created.empty());
  EXPECT_TRUE(server_.graphs.empty());
}

TEST_F(ImportTest, NothingAcceptedMakesNothing) {
  AddBad("z");
  const auto result = Import(options_, server_);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->made);
  EXPECT_TRUE(server_.created.empty());
}

TEST_F(ImportTest, AServerThatDiesLeavesNoSuite) {
  for (int i = 1; i <= 5; ++i) AddSample(std::to_string(i), i);
  options_.batch_bytes = 1;
  server_.uploads_accepted = 2;
  EXPECT_TRUE(absl::IsUnavailable(Import(options_, server_).status()));
  EXPECT_TRUE(server_.created.empty());
}

TEST_F(ImportTest, ADeadServerAndABadNameAreToldBeforeAnythingIsRead) {
  EXPECT_TRUE(absl::IsNotFound(Import(options_, server_).status())) << "no samples there";
  server_.answers = false;
  EXPECT_TRUE(absl::IsUnavailable(Import(options_, server_).status()));
  options_.suite = "Mine!";
  EXPECT_TRUE(absl::IsInvalidArgument(Import(options_, server_).status()));
}

TEST_F(ImportTest, NamesDoNotDependOnHowTheFolderIsWritten) {
  AddSample("family/only", 1);
  const fs::path root = options_.folder;
  for (const auto& [folder, name] : {std::pair<std::string, const char*>{"", "family/only"},
                                     {"/", "family/only"},
                                     {"/./family/..", "family/only"},
                                     {"/family/only", "only"},
                                     {"/family/only/", "only"}}) {
    options_.folder = root.string() + folder;
    server_.created.clear();
    ASSERT_TRUE(Import(options_, server_).ok());
    ASSERT_EQ(server_.created.size(), 1u);
    EXPECT_EQ(server_.created[0].graphs(0).name(), name) << folder;
  }
  options_.folder = root;
}

TEST_F(ImportTest, ACheckSaysStructureAndSize) {
  AddSample("a", 3);
  AddSample("b", 4);
  const CheckedSample a = CheckSample(options_.folder / "a"), b = CheckSample(options_.folder / "b");
  ASSERT_TRUE(a.accepted && b.accepted);
  EXPECT_EQ(a.structure.size(), 64u);
  EXPECT_EQ(a.structure, b.structure);  // another size only
  EXPECT_NE(a.hash, b.hash);
  EXPECT_EQ(b.parameter_bytes - a.parameter_bytes, 4);
  EXPECT_TRUE(CheckJson(a).find("\"structure\":\"" + a.structure) != std::string::npos) << CheckJson(a);
}

TEST_F(ImportTest, AMissingFileIsNamed) {
  AddSample("a", 1);
  fs::remove(options_.folder / "a/weight_meta.py");
  const CheckedSample checked = CheckSample(options_.folder / "a");
  EXPECT_FALSE(checked.accepted);
  EXPECT_EQ(checked.error.file, "weight_meta.py");
  EXPECT_TRUE(checked.error.message.starts_with("no such file")) << checked.error.message;
}

TEST(ReasonKindTest, LeavesNumbersOutButNotNames) {
  graph::Diagnostic a{.message = "'conv2d' takes 7 arguments, 12 given"};
  EXPECT_EQ(ReasonKind(a), "'conv2d' takes N arguments, N given");
}

TEST(ParallelTest, InOrderBoundedAndStoppable) {
  std::atomic<int> working{0}, begun{0};
  std::vector<size_t> seen;
  size_t consumed = 0;
  std::atomic<bool> bounded{true};
  std::atomic<size_t> consumed_now{0};
  ParallelInOrder(
      200, 3,
      [&](size_t i) {
        ++begun;
        ++working;
        if (i > consumed_now + 12) bounded = false;
        --working;
        return i;
      },
      [&](size_t i, size_t result) {
        EXPECT_EQ(i, result);
        seen.push_back(i);
        consumed_now = ++consumed;
        return consumed < 100;
      });
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_TRUE(bounded);
  EXPECT_LE(begun, 112);
}

}  // namespace
}  // namespace assay::client
