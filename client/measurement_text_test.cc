#include "client/measurement_text.h"

#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"

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

TEST(MeasurementText, TimesByTheDevicesClockHaveTheirRows) {
  v1::Measurement m;
  m.mutable_timing()->set_pairs(3);
  for (const double ns : {1e6, 2e6, 3e6, 4e6, 5e6}) {
    m.mutable_timing()->add_candidate_quantiles_ns(ns);
    m.mutable_timing()->add_baseline_quantiles_ns(ns);
  }
  EXPECT_THAT(MeasurementText(m), Not(HasSubstr("device's clock")));
  for (const double ns : {1e6, 2e6, 2.5e6, 4e6, 5e6}) m.mutable_timing()->add_baseline_device_quantiles_ns(ns);
  const std::string text = MeasurementText(m);
  EXPECT_THAT(text, testing::ContainsRegex("baseline, device's clock +1.* +2.* +2\\.5.* +4.* +5"));
  EXPECT_THAT(text, Not(HasSubstr("candidate, device's clock"))) << "its runner told none";
}

TEST(MeasurementText, ConditionsAreOfEachProcess) {
  v1::Measurement m;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"nice": -10, "processes": [
                        {"before": {"load_average": [0.5, 0.25], "clocks_khz": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
                         "after": {"load_average": [1.5, 0.5], "temperatures_c": {"k10temp Tctl": 61}},
                         "cpu_waited_share": [0, 0.125], "throttled": 2},
                        {"before": {"load_average": [2, 1]}, "after": {"load_average": [3, 1]}, "throttled": 1}]})",
                  m.mutable_conditions())
                  .ok());
  const std::string text = MeasurementText(m);
  EXPECT_THAT(text, HasSubstr("conditions\n"
                              "  nice: -10\n"
                              "  process 1: cpu_waited_share 0, 0.125, throttled 2\n"
                              "    before: clocks_khz 1 to 9 (9 values), load_average 0.5, 0.25\n"
                              "    after: load_average 1.5, 0.5, temperatures_c k10temp Tctl 61\n"
                              "  process 2: throttled 1\n"
                              "    before: load_average 2, 1\n"
                              "    after: load_average 3, 1\n"));
  EXPECT_THAT(text, HasSubstr("throttled 3 times while this was timed"));
  for (auto& process :
       *(*m.mutable_conditions()->mutable_fields())["processes"].mutable_list_value()->mutable_values()) {
    (*process.mutable_struct_value()->mutable_fields())["throttled"].set_number_value(0);
  }
  EXPECT_THAT(MeasurementText(m), Not(HasSubstr("while this was timed")));
}

}  // namespace
}  // namespace assay::client
