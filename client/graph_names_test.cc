#include "client/graph_names.h"

#include "gmock/gmock.h"

namespace assay::client {
namespace {

using testing::ElementsAre;

TEST(GraphNames, MatchTheLongestEnd) {
  const std::vector<std::string> names = {"b", "a/b", "xa/b", "c"};
  EXPECT_EQ(MatchName("/data/a/b", names), "a/b");
  EXPECT_EQ(MatchName("a/b", names), "a/b");
  EXPECT_EQ(MatchName("/data/d/b", names), "b");
  EXPECT_EQ(MatchName("/data/dc", names), std::nullopt);
  EXPECT_EQ(MatchName("", names), std::nullopt);
}

TEST(GraphNames, WithoutTheFoldersThatAllShare) {
  EXPECT_THAT(ShortNames({"/d/s/x/a", "/d/s/y/b", "/d/s/x/c"}), ElementsAre("x/a", "y/b", "x/c"));
  EXPECT_THAT(ShortNames({"/d/s/a"}), ElementsAre("a"));
  EXPECT_THAT(ShortNames({"/d/s/a", "/d/s/a"}), ElementsAre("a", "a"));
  EXPECT_THAT(ShortNames({"/d/s", "/d/s/a"}), ElementsAre("s", "s/a"));
  EXPECT_THAT(ShortNames({"/", "a"}), ElementsAre("/", "a"));
  EXPECT_THAT(ShortNames({}), ElementsAre());
}

TEST(GraphNames, RepeatedOnesAreNumbered) {
  std::vector<std::string> names = {"a", "b", "a", "a#2", "a"};
  EXPECT_THAT(MakeUnique(names), ElementsAre(2, 4));
  EXPECT_THAT(names, ElementsAre("a", "b", "a#3", "a#2", "a#4"));
}

}  // namespace
}  // namespace assay::client
