#include "graph/sample_folder.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "graph/test_sample.h"

namespace assay::graph {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SampleFolderTest : public ::testing::Test {
 protected:
  SampleFolderTest() {
    std::string name = (fs::temp_directory_path() / "assay_sample_XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~SampleFolderTest() override { fs::remove_all(root_); }
  fs::path root_;
};

TEST_F(SampleFolderTest, WritesAndReads) {
  const Sample sample = FullSample();
  ASSERT_TRUE(WriteSampleFolder(root_ / "a/b", sample).ok());
  const absl::StatusOr<Sample> read = ReadSampleFolder(root_ / "a/b");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->model, sample.model);
  EXPECT_EQ(read->weight_meta, sample.weight_meta);
  EXPECT_EQ(read->input_meta, sample.input_meta);
  EXPECT_EQ(read->info, sample.info);
}

TEST_F(SampleFolderTest, NamesTheMissingFile) {
  ASSERT_TRUE(WriteSampleFolder(root_, FullSample()).ok());
  fs::remove(root_ / "input_meta.py");
  EXPECT_TRUE(ReadSampleFolder(root_).ok());
  fs::remove(root_ / "weight_meta.py");
  const absl::Status status = ReadSampleFolder(root_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("weight_meta.py: no such file"));
}

TEST_F(SampleFolderTest, RefusesLongAndOddFiles) {
  ASSERT_TRUE(WriteSampleFolder(root_, FullSample()).ok());
  Limits small;
  small.file_bytes = 10;
  EXPECT_EQ(ReadSampleFolder(root_, small).status().code(), absl::StatusCode::kResourceExhausted);
  fs::remove(root_ / "model.py");
  fs::create_symlink("/dev/zero", root_ / "model.py");
  EXPECT_THAT(ReadSampleFolder(root_).status().message(), HasSubstr("not a regular file"));
}

TEST_F(SampleFolderTest, FindsFoldersInOrder) {
  for (const char* name : {"b/y", "a", "b/x", "a/deeper"}) {
    ASSERT_TRUE(WriteSampleFolder(root_ / name, FullSample()).ok());
  }
  fs::create_directories(root_ / "empty");
  fs::create_directory_symlink(root_, root_ / "loop");
  const absl::StatusOr<std::vector<fs::path>> found = FindSampleFolders(root_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, (std::vector<fs::path>{root_ / "a", root_ / "a/deeper", root_ / "b/x", root_ / "b/y"}));
  EXPECT_EQ(FindSampleFolders(root_ / "a")->size(), 2u);
  EXPECT_EQ(FindSampleFolders(root_ / "none").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace assay::graph
