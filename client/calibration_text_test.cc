#include "client/calibration_text.h"

#include "client/leaderboard_text.h"
#include "gmock/gmock.h"

namespace assay::client {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CalibrationText, SaysWhatWasMeasured) {
  v1::Calibration c;
  c.set_worker_id("0123456789abcdef");
  c.set_device("cpu");
  c.mutable_target()->set_name("eager");
  c.set_trials(48);
  c.set_median_error(0.004);
  c.set_p95_error(0.0123);
  c.set_max_error(0.031);
  c.set_intervals(40);
  c.set_covering(38);
  const std::string text = CalibrationText({c});
  for (const char* part : {"01234567 ", "0.40 %", "1.23 %", "3.10 %", "95 %", "default"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_EQ(CalibrationText({}), "");
}

TEST(CalibrationText, StandsBesideScoresAndMarksThem) {
  v1::GetLeaderboardResponse board;
  v1::LeaderboardSection* section = board.add_sections();
  section->add_entries();
  EXPECT_THAT(LeaderboardText(board), Not(HasSubstr("2 %")));
  section->add_entries()->set_calibration_p95(0.012);
  EXPECT_THAT(LeaderboardText(board), HasSubstr("1.2 %"));
  EXPECT_THAT(LeaderboardText(board), Not(HasSubstr("!")));
  v1::LeaderboardEntry* noisy = section->add_entries();
  noisy->set_calibration_p95(0.034);
  noisy->set_noisy_device(true);
  EXPECT_THAT(LeaderboardText(board), HasSubstr("3.4 % !"));
  EXPECT_THAT(LeaderboardText(board), HasSubstr("above 2 %"));
}

}  // namespace
}  // namespace assay::client
