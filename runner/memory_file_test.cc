#include "runner/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::runner {
namespace {

using graph::DType;

MemoryFile FileWith(std::string_view text) {
  absl::StatusOr<MemoryFile> file = MemoryFile::Create("test");
  EXPECT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->Resize(static_cast<int64_t>(text.size())).ok());
  absl::StatusOr<Mapping> mapping = file->MapShared();
  EXPECT_TRUE(mapping.ok()) << mapping.status();
  std::memcpy(mapping->bytes().data(), text.data(), text.size());
  return *std::move(file);
}

TEST(MemoryFileTest, SealedItCannotChange) {
  MemoryFile file = FileWith("hello");
  ASSERT_TRUE(file.Seal().ok());
  EXPECT_EQ(::ftruncate(file.fd(), 1), -1);
  EXPECT_EQ(::pwrite(file.fd(), "x", 1, 0), -1);
  EXPECT_EQ(::mmap(nullptr, 5, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0), MAP_FAILED);
}

TEST(MemoryFileTest, IsNotSealedWhileItIsMappedForWriting) {
  absl::StatusOr<MemoryFile> file = MemoryFile::Create("test");
  ASSERT_TRUE(file.ok() && file->Resize(10).ok());
  absl::StatusOr<Mapping> mapping = file->MapShared();
  ASSERT_TRUE(mapping.ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(file->Seal()));
}

TEST(MemoryFileTest, PrivateMappingsAreApart) {
  MemoryFile file = FileWith("hello");
  EXPECT_TRUE(absl::IsFailedPrecondition(MapPrivate(file.fd()).status())) << "not sealed: its owner could truncate it";
  ASSERT_TRUE(file.Seal().ok());
  absl::StatusOr<Mapping> one = MapPrivate(file.fd()), two = MapPrivate(file.fd());
  ASSERT_TRUE(one.ok() && two.ok());
  one->bytes()[0] = std::byte{'x'};
  EXPECT_EQ(two->bytes()[0], std::byte{'h'});
}

TEST(MemoryFileTest, AnEmptyFileIsAnEmptyMapping) {
  MemoryFile file = FileWith("");
  ASSERT_TRUE(file.Seal().ok());
  absl::StatusOr<Mapping> mapping = MapPrivate(file.fd());
  ASSERT_TRUE(mapping.ok());
  EXPECT_TRUE(mapping->bytes().empty());
}

class TensorsTest : public testing::Test {
 protected:
  TensorsTest()
      : layout_(graph::PlanTensors({{"0", DType::kFloat32, {3}}, {"1", DType::kInt64, {}}})), file_(FileWith("junk")) {}

  absl::Status Write() {
    return WriteTensors(file_.fd(), layout_,
                        {std::as_bytes(std::span(floats_)), std::as_bytes(std::span(&scalar_, 1))});
  }

  const std::vector<float> floats_ = {1, 2, 3};
  const int64_t scalar_ = 42;
  graph::TensorLayout layout_;
  MemoryFile file_;
};

TEST_F(TensorsTest, AreReadAsWritten) {
  ASSERT_TRUE(Write().ok());
  absl::StatusOr<TensorBytes> read = ReadTensors(file_.fd(), 1 << 20);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->layout.entries.size(), 2u);
  const auto* entry = read->layout.Find("1");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->offset % graph::kTensorAlignment, 0);
  int64_t scalar = 0;
  std::memcpy(&scalar, read->Data(*entry).data(), sizeof(scalar));
  EXPECT_EQ(scalar, 42);
}

TEST_F(TensorsTest, ATruncatedFileIsAnError) {
  ASSERT_TRUE(Write().ok());
  for (const int64_t size : {layout_.file_bytes - 1, int64_t{70}, int64_t{8}, int64_t{1}, int64_t{0}}) {
    ASSERT_EQ(::ftruncate(file_.fd(), size), 0);
    EXPECT_TRUE(absl::IsInvalidArgument(ReadTensors(file_.fd(), 1 << 20).status())) << size;
  }
}

TEST_F(TensorsTest, ATooLargeFileIsNotRead) {
  const MemoryFile large = FileWith(std::string(2 << 20, 'x'));
  EXPECT_TRUE(absl::IsResourceExhausted(ReadTensors(large.fd(), 1 << 20).status()));
}

// A size that nothing was written for costs its sender nothing: that is no lack of memory but a broken promise.
TEST_F(TensorsTest, AFileThatOnlyClaimsItsSizeIsRefused) {
  ASSERT_TRUE(Write().ok());
  ASSERT_EQ(::ftruncate(file_.fd(), int64_t{1} << 45), 0);
  const absl::Status status = ReadTensors(file_.fd(), 1 << 20).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("claims 35184372088832 bytes"));
}

TEST_F(TensorsTest, DataThatDoesNotFitIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(WriteTensors(file_.fd(), layout_, {std::as_bytes(std::span(floats_))})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      WriteTensors(file_.fd(), layout_, {std::as_bytes(std::span(floats_)), std::as_bytes(std::span(floats_))})));
}

}  // namespace
}  // namespace assay::runner
