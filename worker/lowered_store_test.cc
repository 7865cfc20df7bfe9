#include "worker/lowered_store.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>

#include "gtest/gtest.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

// Keeps lowerings, as another worker sees them too.
class FakeService : public Service {
 public:
  absl::StatusOr<v1::SynchroniseResponse> Synchronise(const v1::SynchroniseRequest&, std::stop_token) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<v1::ReportResponse> Report(const v1::ReportRequest&, std::stop_token) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<graph::Sample> GetGraph(std::string_view) override { return absl::UnimplementedError(""); }
  absl::StatusOr<std::string> GetLowering(const v1::LoweringKey& key) override {
    const auto found = entries.find(key.SerializeAsString());
    if (found == entries.end()) return absl::NotFoundError("none");
    return found->second;
  }
  absl::Status PutLowering(const v1::LoweringKey& key, std::string_view content) override {
    entries.emplace(key.SerializeAsString(), content);
    return absl::OkStatus();
  }
  std::map<std::string, std::string> entries;
};

KnownRunner MakeRunner(bool trusted = true) {
  KnownRunner runner;
  runner.config.name = "xla";
  runner.config.trusted = trusted;
  runner.lowering = "lowering 1";
  runner.offer.set_environment_hash("environment");
  return runner;
}

class LoweredStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("lowered_store_test_" + std::to_string(::getpid()));
  }
  void TearDown() override { fs::remove_all(folder_); }
  // The only file.
  fs::path File() const { return fs::directory_iterator(folder_)->path(); }

  fs::path folder_;
  const KnownRunner runner_ = MakeRunner();
};

TEST_F(LoweredStoreTest, KeepsBytes) {
  const LoweredStore store(folder_, nullptr);
  EXPECT_FALSE(store.Read(runner_, "a"));
  std::string bytes(100'000, 'x');
  bytes[500] = '\0';
  store.Write(runner_, "a", bytes);
  EXPECT_EQ(store.Read(runner_, "a"), bytes);
  store.Write(runner_, "a", "newer");
  EXPECT_EQ(store.Read(runner_, "a"), "newer");
  EXPECT_LT(fs::file_size(File()), 100u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(LoweredStoreTest, DamagedEntriesAreNone) {
  const LoweredStore store(folder_, nullptr);
  store.Write(runner_, "a", std::string(1000, 'x'));
  fs::resize_file(File(), fs::file_size(File()) - 3);
  EXPECT_FALSE(store.Read(runner_, "a"));
  std::ofstream(File()) << "no frame";
  EXPECT_FALSE(store.Read(runner_, "a"));
}

TEST_F(LoweredStoreTest, TheLeastRecentlyUsedGoFirst) {
  const LoweredStore unbounded(folder_, nullptr);
  for (const char* graph : {"a", "b", "c"}) {
    unbounded.Write(runner_, graph, graph);
    for (const fs::directory_entry& file : fs::directory_iterator(folder_)) {
      // Those before are older by an hour each.
      fs::last_write_time(file, file.last_write_time() - std::chrono::hours(1));
    }
  }
  const auto size = static_cast<int64_t>(fs::file_size(File()));
  const LoweredStore bounded(folder_, nullptr, 3 * size);
  EXPECT_TRUE(bounded.Read(runner_, "a"));  // used just now
  bounded.Write(runner_, "d", "d");
  EXPECT_TRUE(bounded.Read(runner_, "a"));
  EXPECT_FALSE(bounded.Read(runner_, "b"));
  EXPECT_TRUE(bounded.Read(runner_, "c"));
  EXPECT_TRUE(bounded.Read(runner_, "d"));
}

TEST_F(LoweredStoreTest, EntriesAreOfOneGraphLoweringAndEnvironment) {
  const LoweredStore store(folder_, nullptr);
  store.Write(runner_, "a", "lowered");
  EXPECT_FALSE(store.Read(runner_, "b"));
  KnownRunner another = runner_;
  another.lowering = "lowering 2";
  EXPECT_FALSE(store.Read(another, "a"));
  another = runner_;
  another.offer.set_environment_hash("tampered with");
  EXPECT_FALSE(store.Read(another, "a"));
  another = runner_;
  another.offer.set_build("newer");  // of the program around the lowering
  EXPECT_TRUE(store.Read(another, "a"));
}

TEST_F(LoweredStoreTest, AGraphIsLoweredOnceInACluster) {
  FakeService service;
  LoweredStore(folder_ / "one", &service).Write(runner_, "a", "lowered");
  const LoweredStore other(folder_ / "other", &service);
  EXPECT_EQ(other.Read(runner_, "a"), "lowered");
  service.entries.clear();
  EXPECT_EQ(other.Read(runner_, "a"), "lowered") << "kept here, too";
}

TEST_F(LoweredStoreTest, ARunnerThatIsNotTrustedSharesNothing) {
  FakeService service;
  const LoweredStore store(folder_, &service);
  const KnownRunner stranger = MakeRunner(/*trusted=*/false);
  store.Write(stranger, "a", "spoilt");
  EXPECT_TRUE(service.entries.empty());
  EXPECT_FALSE(store.Read(runner_, "a"));
  EXPECT_EQ(store.Read(stranger, "a"), "spoilt");
  store.Write(runner_, "b", "lowered");
  EXPECT_FALSE(store.Read(stranger, "b"));
  EXPECT_FALSE(LoweredStore(folder_ / "other", &service).Read(stranger, "b"));
}

}  // namespace
}  // namespace assay::worker
