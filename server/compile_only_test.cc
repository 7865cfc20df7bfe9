// Evaluations that only compile, and the store of lowered graphs, against a real database.
#include "gmock/gmock.h"
#include "server/lowering_store.h"
#include "server/postgres_fixture.h"
#include "server/report.h"
#include "server/submission.h"
#include "server/text.h"

namespace assay::server {
namespace {

using testing::HasSubstr;

class CompileOnlyTest : public PostgresTest {
 protected:
  void SetUp() override {
    PostgresTest::SetUp();
    Execute(
        "INSERT INTO graphs (hash, canonical, structure, operations, parameter_bytes) VALUES (repeat('a', 64), '', "
        "'s', 1, 0)");
  }
  static v1::LoweringKey Key() {
    v1::LoweringKey key;
    key.set_graph_hash(std::string(64, 'a'));
    key.set_lowering("lowering 1 for cpu");
    key.set_environment_hash("e");
    return key;
  }
  absl::Status Put(const v1::LoweringKey& key, const std::string& content) {
    return database().Run([&](Transaction& transaction) { return StoreLowering(transaction, key, content); });
  }
  absl::StatusOr<std::string> Load(const v1::LoweringKey& key) {
    absl::StatusOr<std::string> out = absl::UnknownError("");
    const absl::Status status = database().Run([&](Transaction& transaction) {
      out = LoadLowering(transaction, key);
      return out.status();
    });
    return status.ok() ? out : status;
  }
};

TEST_F(CompileOnlyTest, TheFirstLoweringHolds) {
  EXPECT_TRUE(absl::IsNotFound(Load(Key()).status()));
  const std::string content("\0lowered\xff", 9);
  EXPECT_TRUE(Put(Key(), content).ok());
  EXPECT_EQ(*Load(Key()), content);
  EXPECT_TRUE(Put(Key(), "spoilt").ok());
  EXPECT_EQ(*Load(Key()), content);
}

TEST_F(CompileOnlyTest, ALoweringIsOfOneGraphVersionAndEnvironment) {
  ASSERT_TRUE(Put(Key(), "lowered").ok());
  v1::LoweringKey other = Key();
  other.set_lowering("lowering 2 for cpu");
  EXPECT_TRUE(absl::IsNotFound(Load(other).status()));
  other = Key();
  other.set_environment_hash("tampered with");
  EXPECT_TRUE(absl::IsNotFound(Load(other).status()));
  other.clear_environment_hash();
  EXPECT_TRUE(absl::IsInvalidArgument(Load(other).status()));
  other = Key();
  other.set_graph_hash(std::string(64, 'b'));
  EXPECT_THAT(std::string(Put(other, "x").message()), HasSubstr("there is no graph"));
  EXPECT_TRUE(absl::IsInvalidArgument(Put(Key(), "")));
  EXPECT_TRUE(absl::IsInvalidArgument(Put(Key(), std::string(kMostLoweringBytes + 1, 'x'))));
}

TEST(CompileOnlyPolicy, HasNothingOfTiming) {
  v1::Policy policy;
  policy.set_name("aot");
  const auto complete = CompletePolicy(policy);
  ASSERT_TRUE(complete.ok()) << complete.status();
  EXPECT_EQ(complete->compile_timeout_seconds(), 600);
  EXPECT_EQ(complete->budget_seconds(), 0);
  policy.set_budget_seconds(1);
  EXPECT_THAT(std::string(CompletePolicy(policy).status().message()), HasSubstr("aot runs nothing"));
  policy.set_name("nonsense");
  EXPECT_THAT(std::string(CompletePolicy(policy).status().message()), HasSubstr("or aot to compile only"));
}

TEST(CompileOnlyMeasurement, CompiledIsAnOutcomeOfThatPolicyOnly) {
  v1::Measurement measurement;
  measurement.set_outcome_class(v1::COMPILED);
  EXPECT_TRUE(CheckMeasurement(measurement, /*compiles_only=*/true).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckMeasurement(measurement, /*compiles_only=*/false)));
  measurement.set_outcome_class(v1::CORRECT);
  measurement.add_comparisons();
  measurement.mutable_timing()->set_pairs(1);
  EXPECT_TRUE(CheckMeasurement(measurement, /*compiles_only=*/false).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckMeasurement(measurement, /*compiles_only=*/true)));
}

TEST(CompileOnlyOffer, NeedsTheCandidateOnly) {
  Offer offer;
  offer.compiler = "xla";
  offer.version = "1";
  offer.runner = "pjrt";
  offer.device_kind = "tpu:v5e";
  const auto requirement = RequirementOf({offer, {}}, nullptr);
  ASSERT_TRUE(requirement.ok());
  EXPECT_TRUE(Capabilities({offer}).Serves(*requirement, "tpu:v5e"));
  EXPECT_FALSE(Capabilities({offer}).Serves(*requirement, "cpu"));
  EXPECT_FALSE(IsCalibration(*requirement));
  EXPECT_THAT(DescribeRequirement(*requirement), HasSubstr("xla 1 (runner pjrt"));
  v1::Target wanted;
  wanted.set_compiler("xla");
  wanted.set_device_kind("tpu:v4");
  EXPECT_THAT(std::string(Resolve(wanted, {offer}, "candidate").status().message()),
              HasSubstr("scripts/setup-xla --tpu"));
}

}  // namespace
}  // namespace assay::server
