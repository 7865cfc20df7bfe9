#include "client/progress.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "client/evaluation_text.h"
#include "client/follow.h"

namespace assay::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ProgressTest : public ::testing::Test {
 protected:
  ~ProgressTest() override {
    std::fclose(file_);
    std::free(text_);
  }
  std::string Written() {
    std::fflush(file_);
    return std::string(text_, size_);
  }
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_ = ::open_memstream(&text_, &size_);
  Clock::time_point now_{seconds(1000)};
  std::function<Clock::time_point()> clock_ = [this] { return now_; };
};

TEST_F(ProgressTest, PlainLinesNowAndThenInAPipe) {
  Progress progress(file_, 0, clock_);
  progress.Show("1/3");
  now_ += seconds(1);
  progress.Show("2/3");
  now_ += seconds(10);
  progress.Show("2/3 again");
  progress.Show("3/3", true);
  EXPECT_EQ(Written(), "1/3\n2/3 again\n3/3\n");
}

TEST_F(ProgressTest, OneLineDrawnAgainOnATerminal) {
  {
    Progress progress(file_, 6, clock_);
    progress.Show("µ23456789");
    now_ += milliseconds(50);
    progress.Show("too soon");
    now_ += milliseconds(60);
    progress.Show("b");
  }
  EXPECT_EQ(Written(), "\r\x1b[Kµ2345…\r\x1b[Kb\r\x1b[K");
}

TEST(RateTest, ForgetsTheDistantPast) {
  Rate rate;
  Clock::time_point now{seconds(1)};
  EXPECT_EQ(rate.per_second(), 0);
  rate.Add(now, 0);
  EXPECT_EQ(rate.SecondsFor(10), 0);
  rate.Add(now += seconds(10), 5);
  EXPECT_DOUBLE_EQ(rate.per_second(), 0.5);
  EXPECT_DOUBLE_EQ(rate.SecondsFor(10), 20);
  for (int i = 1; i <= 100; ++i) rate.Add(now += seconds(1), 5 + 2 * i);
  EXPECT_NEAR(rate.per_second(), 2, 0.01);
}

v1::Evaluation Running() {
  v1::Evaluation e;
  e.set_id("7");
  e.set_state(v1::RUNNING);
  e.set_trials(40);
  e.set_finished(12);
  e.set_running(1);
  (*e.mutable_counts())["compile_fail"] = 1;
  (*e.mutable_counts())["correct"] = 11;
  e.set_expected_seconds_left(70);
  return e;
}

TEST(ProgressLineTest, SaysHowFarItIs) {
  Rate rate;
  rate.Add(Clock::time_point(seconds(1)), 0);
  rate.Add(Clock::time_point(seconds(31)), 12);
  EXPECT_EQ(ProgressLine(Running(), rate),
            "12/40 graphs · 1 running · 11 correct, 1 compile_fail · 24.0 a minute · 1 min 10 s left");
}

TEST(ProgressLineTest, SaysWhyNothingRuns) {
  v1::Evaluation e = Running();
  e.set_running(0);
  e.clear_counts();
  e.set_expected_seconds_left(0);
  e.set_waiting_for("no live worker serves inductor on cuda");
  EXPECT_EQ(ProgressLine(e, Rate()), "12/40 graphs · waiting: no live worker serves inductor on cuda");
}

TEST(FollowTest, WaitsFromChangeToChangeAndThroughAnOutage) {
  std::vector<int> after;
  int calls = 0, unreachable = 0, changes = 0;
  const auto get = [&](const v1::GetEvaluationRequest& request) -> absl::StatusOr<v1::Evaluation> {
    EXPECT_EQ(request.id(), "7");
    after.push_back(request.after_finished());
    v1::Evaluation e = Running();
    switch (calls++) {
      case 0:
        return e;
      case 1:
        return absl::UnavailableError("restarting");
      case 2:
        return e;  // nothing new
      default:
        e.set_finished(40);
        e.set_state(v1::COMPLETED);
        return e;
    }
  };
  double slept = 0;
  const auto last = Follow("7", get,
                           {.sleep = [&](double s) { slept += s; },
                            .on_change = [&](const v1::Evaluation&) { ++changes; },
                            .on_unreachable = [&](const absl::Status&) { ++unreachable; }});
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->state(), v1::COMPLETED);
  EXPECT_EQ(after, (std::vector<int>{0, 12, 12, 12}));
  EXPECT_EQ(changes, 2);
  EXPECT_EQ(unreachable, 1);
  EXPECT_EQ(slept, 1);
}

TEST(FollowTest, GivesUpAfterAWhileAndAtOnceWhereItWasNeverThere) {
  bool first = true;
  double slept = 0;
  const FollowOptions options = {.patience_seconds = 5,
                                 .sleep = [&](double s) { slept += s; },
                                 .on_change = [](const v1::Evaluation&) {},
                                 .on_unreachable = [](const absl::Status&) {}};
  const auto gone = [&](const v1::GetEvaluationRequest&) -> absl::StatusOr<v1::Evaluation> {
    if (std::exchange(first, false)) return Running();
    return absl::UnavailableError("gone");
  };
  EXPECT_TRUE(absl::IsUnavailable(Follow("7", gone, options).status()));
  EXPECT_EQ(slept, 5);
  slept = 0;
  EXPECT_TRUE(absl::IsUnavailable(Follow("7", gone, options).status()));
  EXPECT_EQ(slept, 0);
}

}  // namespace
}  // namespace assay::client
