#include "client/measurement_text.h"

#include "gmock/gmock.h"

namespace assay::client {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MeasurementText, SaysWhichSideIsFartherOff) {
  v1::Measurement m;
  EXPECT_THAT(MeasurementText(m), Not(HasSubstr("reference ")));
  v1::Reference& reference = *m.mutable_reference();
  reference.set_runner("torch");
  reference.mutable_baseline()->set_outcome_class(v1::CORRECT);
  reference.mutable_baseline()->set_critical_t(-5.5);
  reference.mutable_candidate()->set_outcome_class(v1::ACCURACY);
  reference.mutable_candidate()->set_critical_t(2.5);
  reference.mutable_candidate()->set_max_abs_diff(1000);
  std::string text = MeasurementText(m);
  EXPECT_THAT(text, HasSubstr("in float64, by runner torch: the candidate is farther off"));
  EXPECT_THAT(text, HasSubstr("candidate accuracy, t* 2.5"));
  EXPECT_THAT(text, HasSubstr("off by 1e+03 at most"));
  EXPECT_THAT(text, HasSubstr("baseline t* -5.5"));
  reference.mutable_baseline()->set_critical_t(3);
  EXPECT_THAT(MeasurementText(m), HasSubstr("the baseline is farther off"));
  reference.mutable_candidate()->set_critical_t(3);
  EXPECT_THAT(MeasurementText(m), HasSubstr("both are equally far off"));
  reference.Clear();
  reference.set_failure("it draws random numbers");
  EXPECT_THAT(MeasurementText(m), HasSubstr("none in float64: it draws random numbers"));
}

TEST(MeasurementText, SaysThatCachesWereCold) {
  v1::Measurement m;
  m.mutable_timing()->set_pairs(3);
  EXPECT_THAT(MeasurementText(m), Not(HasSubstr("cold caches")));
  m.mutable_policy()->set_cache("cold");
  EXPECT_THAT(MeasurementText(m), HasSubstr("two processes, cold caches"));
}

}  // namespace
}  // namespace assay::client
