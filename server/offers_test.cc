#include "server/offers.h"

#include "gmock/gmock.h"

namespace assay::server {
namespace {

using testing::HasSubstr;

Offer MakeOffer(const std::string& runner, const std::string& compiler, const std::string& baseline,
                const std::string& environment = "default") {
  Offer offer;
  offer.compiler = compiler;
  offer.version = "1";
  offer.runner = runner;
  offer.build = runner + " build";
  offer.environment = environment;
  offer.environment_hash = runner + " " + environment;
  offer.device_kind = "cpu";
  offer.baseline = baseline;
  offer.live_workers = 1;
  offer.workers = 1;
  return offer;
}

TEST(DefaultBaseline, IsTheRunnersOwnInTheSameEnvironment) {
  const std::vector<Offer> offers = {MakeOffer("python", "eager", "eager"),
                                     MakeOffer("torch", "eager", "eager", "other"),
                                     MakeOffer("torch", "eager", "eager"), MakeOffer("torch", "script", "eager")};
  const auto baseline = DefaultBaseline({offers[3], {}}, offers);
  ASSERT_TRUE(baseline.ok()) << baseline.status();
  EXPECT_EQ(baseline->offer.key(), offers[2].key());
}

TEST(DefaultBaseline, MayBeAnotherRunnersInItsDefaultEnvironment) {
  std::vector<Offer> offers = {MakeOffer("python", "eager", "eager"), MakeOffer("torch", "eager", "eager", "other"),
                               MakeOffer("torch", "eager", "eager"),
                               MakeOffer("pjrt", "xla", "torch/eager", "nightly")};
  const auto baseline = DefaultBaseline({offers[3], {}}, offers);
  ASSERT_TRUE(baseline.ok()) << baseline.status();
  EXPECT_EQ(baseline->offer.key(), offers[2].key());
  // The very target that a user's `eager` of that runner is: they share a section of the leaderboard.
  v1::Target named;
  named.set_compiler("eager");
  named.set_runner("torch");
  EXPECT_EQ(Resolve(named, offers, "baseline")->key(), baseline->key());
  // On the candidate's kind of device.
  offers[3].device_kind = "tpu";
  const absl::Status missing = DefaultBaseline({offers[3], {}}, offers).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(missing));
  EXPECT_THAT(std::string(missing.message()), HasSubstr("the default baseline of xla is eager of the runner 'torch'"));
}

TEST(DefaultBaseline, ARunnerThatNamesNoneIsAnError) {
  const std::vector<Offer> offers = {MakeOffer("pjrt", "xla", ""), MakeOffer("torch", "eager", "eager")};
  const absl::Status status = DefaultBaseline({offers[0], {}}, offers).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("name one in baseline.compiler"));
}

}  // namespace
}  // namespace assay::server
