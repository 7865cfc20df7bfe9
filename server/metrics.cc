#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace assay::server {

namespace {

const prometheus::Histogram::BucketBoundaries kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                          0.25,  0.5,    1,     2.5,  5,     10,   30};

}  // namespace

struct Metrics::Families {
  explicit Families(prometheus::Registry& registry)
      : calls(prometheus::BuildCounter()
                  .Name("assay_calls_total")
                  .Help("API calls, by method and status code")
                  .Register(registry)),
        call_seconds(prometheus::BuildHistogram()
                         .Name("assay_call_seconds")
                         .Help("Time from a call's arrival to its answer; long polls wait in it")
                         .Register(registry)),
        leases(
            prometheus::BuildCounter().Name("assay_leases_total").Help("Trials leased to workers").Register(registry)),
        reports(prometheus::BuildCounter()
                    .Name("assay_reports_total")
                    .Help("Measurements handed in, by result")
                    .Register(registry)),
        lost(prometheus::BuildCounter().Name("assay_lost_leases_total").Help("Leases that ran out").Register(registry)),
        batch_items(prometheus::BuildHistogram()
                        .Name("assay_batch_items")
                        .Help("Calls of workers that shared a transaction")
                        .Register(registry)),
        batch_seconds(prometheus::BuildHistogram()
                          .Name("assay_batch_seconds")
                          .Help("Time of such a transaction")
                          .Register(registry)),
        queue(prometheus::BuildGauge()
                  .Name("assay_trials")
                  .Help("Trials without an outcome, by state")
                  .Register(registry)),
        workers(prometheus::BuildGauge()
                    .Name("assay_live_workers")
                    .Help("Workers that were seen within the lease time")
                    .Register(registry)),
        calibration_error(
            prometheus::BuildGauge()
                .Name("assay_calibration_error_ratio")
                .Help("How far apart two equal arms were measured on a device, |log speed-up|, by quantile")
                .Register(registry)),
        calibration_coverage(prometheus::BuildGauge()
                                 .Name("assay_calibration_coverage_ratio")
                                 .Help("Share of the 95 % intervals of two equal arms that hold no difference")
                                 .Register(registry)) {}

  prometheus::Family<prometheus::Counter>& calls;
  prometheus::Family<prometheus::Histogram>& call_seconds;
  prometheus::Family<prometheus::Counter>& leases;
  prometheus::Family<prometheus::Counter>& reports;
  prometheus::Family<prometheus::Counter>& lost;
  prometheus::Family<prometheus::Histogram>& batch_items;
  prometheus::Family<prometheus::Histogram>& batch_seconds;
  prometheus::Family<prometheus::Gauge>& queue;
  prometheus::Family<prometheus::Gauge>& workers;
  prometheus::Family<prometheus::Gauge>& calibration_error;
  prometheus::Family<prometheus::Gauge>& calibration_coverage;
};

Metrics::Metrics()
    : registry_(std::make_shared<prometheus::Registry>()), families_(std::make_unique<Families>(*registry_)) {}
Metrics::~Metrics() = default;

void Metrics::CountCall(const std::string& method, absl::StatusCode code, double seconds) {
  families_->calls.Add({{"method", method}, {"code", absl::StatusCodeToString(code)}}).Increment();
  families_->call_seconds.Add({{"method", method}}, kSeconds).Observe(seconds);
}

void Metrics::CountLeases(int count) { families_->leases.Add({}).Increment(count); }
void Metrics::CountReports(const std::string& result, int count) {
  families_->reports.Add({{"result", result}}).Increment(count);
}
void Metrics::CountLostLeases(int count) { families_->lost.Add({}).Increment(count); }

void Metrics::ObserveBatch(int items, double seconds) {
  families_->batch_items.Add({}, prometheus::Histogram::BucketBoundaries{1, 2, 5, 10, 20, 50, 100, 200}).Observe(items);
  families_->batch_seconds.Add({}, kSeconds).Observe(seconds);
}

void Metrics::SetQueue(const QueueState& state) {
  families_->queue.Add({{"state", "queued"}}).Set(static_cast<double>(state.queued));
  families_->queue.Add({{"state", "leased"}}).Set(static_cast<double>(state.leased));
  families_->workers.Add({}).Set(static_cast<double>(state.live_workers));
}

void Metrics::SetCalibration(const CalibrationState& state) {
  const prometheus::Labels labels = {{"worker", state.worker_id},
                                     {"device", state.device},
                                     {"runner", state.runner},
                                     {"processes", std::to_string(state.processes)},
                                     {"threads", state.threads == 0 ? "default" : std::to_string(state.threads)}};
  const auto set = [&](const char* quantile, double value) {
    prometheus::Labels with = labels;
    with["quantile"] = quantile;
    families_->calibration_error.Add(with).Set(value);
  };
  set("0.5", state.median);
  set("0.95", state.p95);
  set("1", state.maximum);
  families_->calibration_coverage.Add(labels).Set(state.coverage);
}

std::string Metrics::Text() const { return prometheus::TextSerializer().Serialize(registry_->Collect()); }

}  // namespace assay::server
