#include "client/unknown_command.h"

#include "gmock/gmock.h"

namespace assay::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string Parse(std::vector<std::string> words) {
  CLI::App app("", "assay");
  app.fallthrough();
  app.require_subcommand(1);
  bool json = false;
  app.add_flag("--json", json);
  std::string target;
  for (const char* name : {"leaderboard", "evaluate", "up"}) app.add_subcommand(name)->fallthrough();
  app.get_subcommand("evaluate")->add_option("--target", target)->required();
  CLI::App* suite = app.add_subcommand("suite");
  suite->fallthrough();
  suite->require_subcommand(1);
  for (const char* name : {"list", "show"}) suite->add_subcommand(name)->fallthrough();
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::RequiredError&) {
    return UnknownCommand(app);
  }
  return "no error";
}

TEST(UnknownCommandTest, IsNamedWithTheNearest) {
  EXPECT_THAT(Parse({"leaderbord"}), AllOf(HasSubstr("'assay leaderbord'"), HasSubstr("did you mean 'leaderboard'?")));
  EXPECT_THAT(Parse({"--json", "bogus"}), AllOf(HasSubstr("'assay bogus'"), Not(HasSubstr("did you mean")),
                                                HasSubstr("leaderboard, evaluate, up, suite")));
  EXPECT_THAT(Parse({"suite", "shw"}), AllOf(HasSubstr("'assay suite shw'"), HasSubstr("did you mean 'show'?")));
  EXPECT_THAT(Parse({"xx"}), Not(HasSubstr("did you mean")));
  EXPECT_LT(Parse({std::string(100000, 'a')}).size(), 300u);
  // Another thing that is missing: a command's own option.
  EXPECT_EQ(Parse({"evaluate", "bogus"}), "");
  EXPECT_EQ(Parse({}), "");
  EXPECT_EQ(Parse({"suite"}), "");
}

}  // namespace
}  // namespace assay::client
