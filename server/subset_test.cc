#include "server/subset.h"

#include <set>

#include "gmock/gmock.h"
#include "server/text.h"

namespace assay::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SubsetCandidate Candidate(double seconds, int graphs, std::string structure, std::vector<std::string> callees = {"a"},
                          std::string source = "") {
  return {seconds, graphs, std::move(structure), std::move(callees), "1/1", std::move(source)};
}

TEST(CostsTest, ComeFromOutcomesWhereThereAreSome) {
  CostFacts facts{.operations = 100, .parameter_bytes = 800'000'000};
  facts.compile_seconds = 7;
  facts.pair_seconds = 0.1;
  EXPECT_THAT(EstimateCosts({facts}, 2), ElementsAre(testing::DoubleNear(0.5 + 1 + 7 + 2 + 0.4, 1e-9)));
  // Long calls pass the budget: three pairs are timed in any case.
  facts.pair_seconds = 10;
  EXPECT_THAT(EstimateCosts({facts}, 2), ElementsAre(testing::DoubleNear(0.5 + 1 + 7 + 30 + 40, 1e-9)));
  // What ends before it is timed costs what it cost: a time-out, for example.
  CostFacts failed{.operations = 1, .failed_seconds = 600};
  EXPECT_THAT(EstimateCosts({failed}, 2), ElementsAre(600));
}

TEST(CostsTest, AreScaledToWhatWasMeasured) {
  const CostFacts unknown{.operations = 1000, .parameter_bytes = 100'000'000};
  const double alone = EstimateCosts({unknown}, 0)[0];
  CostFacts larger = unknown;
  larger.operations = 10000;
  EXPECT_GT(EstimateCosts({larger}, 0)[0], alone);
  std::vector<CostFacts> facts(6, unknown);
  for (int i = 1; i < 6; ++i) facts[i].compile_seconds = 100, facts[i].pair_seconds = 4;
  // The same sizes: the same seconds.
  EXPECT_NEAR(EstimateCosts(facts, 0)[0], EstimateCosts(facts, 0)[1], 1e-9);
}

TEST(SubsetTest, PrefersWhatStandsForManyGraphs) {
  const std::vector<SubsetCandidate> candidates = {Candidate(10, 1, "s1"), Candidate(10, 500, "s2"),
                                                   Candidate(10, 20, "s3")};
  EXPECT_THAT(ChooseSubset(candidates, 5), IsEmpty());
  EXPECT_THAT(ChooseSubset(candidates, 15), ElementsAre(1));
  EXPECT_THAT(ChooseSubset(candidates, 25), ElementsAre(1, 2));
  EXPECT_THAT(ChooseSubset(candidates, 30), ElementsAre(0, 1, 2));
}

TEST(SubsetTest, SpreadsOverCalleesAndSources) {
  const std::vector<SubsetCandidate> candidates = {
      Candidate(1, 3, "s1", {"a", "b"}, "timm"), Candidate(1, 3, "s2", {"a", "b"}, "timm"),
      Candidate(1, 3, "s3", {"a", "b"}, "timm"), Candidate(1, 3, "s4", {"c"}, "nemo")};
  EXPECT_THAT(ChooseSubset(candidates, 2), ElementsAre(0, 3));
}

TEST(SubsetTest, TakesTheCheaperOfEquals) {
  EXPECT_THAT(ChooseSubset({Candidate(9, 2, "s1"), Candidate(3, 2, "s2"), Candidate(4, 2, "s3")}, 9),
              ElementsAre(1, 2));
}

// The queue that looks again at its head only gives what looking at all of them each time gives.
TEST(SubsetTest, IsTheGreedyChoice) {
  std::vector<SubsetCandidate> candidates;
  uint32_t random = 1;
  const auto next = [&](uint32_t below) { return (random = random * 1664525 + 1013904223) >> 16 & 0x7fff % below; };
  for (int i = 0; i < 120; ++i) {
    SubsetCandidate candidate;
    candidate.seconds = 1 + next(50);
    candidate.graphs = 1 + static_cast<int>(next(30));
    candidate.structure = Cat("s", i);
    for (int c = 0; c < 5; ++c) candidate.callees.push_back(Cat("c", next(40)));
    candidate.size = Cat(next(9));
    candidate.source = Cat(next(4));
    candidates.push_back(candidate);
  }
  const std::vector<size_t> chosen = ChooseSubset(candidates, 300);
  double seconds = 0, cheapest_left = 1e9;
  std::set<size_t> in(chosen.begin(), chosen.end());
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (in.contains(i)) {
      seconds += candidates[i].seconds;
    } else {
      cheapest_left = std::min(cheapest_left, candidates[i].seconds);
    }
  }
  EXPECT_LE(seconds, 300);
  EXPECT_GT(seconds + cheapest_left, 300) << "nothing that is left would fit";
  EXPECT_EQ(ChooseSubset(candidates, 300), chosen);
}

TEST(SubsetTest, ClassesAndSources) {
  EXPECT_EQ(SizeClass(1, 0), SizeClass(3, 1));
  EXPECT_NE(SizeClass(3, 0), SizeClass(4, 0));
  EXPECT_EQ(SourceOf("timm/resnet18"), "timm");
  EXPECT_EQ(SourceOf("mlp"), "");
}

}  // namespace
}  // namespace assay::server
