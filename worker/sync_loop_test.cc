#include "worker/sync_loop.h"

#include <deque>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A coordinator that is told its answers and shows what it was asked.
class FakeService : public Service {
 public:
  using SyncAnswer = absl::StatusOr<v1::SynchroniseResponse>;
  using ReportAnswer = absl::StatusOr<v1::ReportResponse>;

  // Waits for the next request, and answers it.
  v1::SynchroniseRequest NextSync(SyncAnswer answer) { return Take(syncs_, std::move(answer)); }
  v1::ReportRequest NextReport(ReportAnswer answer) { return Take(reports_, std::move(answer)); }

  SyncAnswer Synchronise(const v1::SynchroniseRequest& request, std::stop_token stop) override {
    return Ask(syncs_, request, stop);
  }
  ReportAnswer Report(const v1::ReportRequest& request, std::stop_token stop) override {
    return Ask(reports_, request, stop);
  }
  absl::StatusOr<graph::Sample> GetGraph(std::string_view) override { return absl::NotFoundError("none"); }
  absl::StatusOr<std::string> GetLowering(const v1::LoweringKey&) override { return absl::NotFoundError("none"); }
  absl::Status PutLowering(const v1::LoweringKey&, std::string_view) override { return absl::OkStatus(); }

  // From now on every call is answered at once.
  void Release() {
    std::unique_lock lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  template <typename Request, typename Answer>
  struct Queue {
    std::deque<Request> requests;
    std::deque<Answer> answers;
  };

  template <typename Request, typename Answer>
  Request Take(Queue<Request, Answer>& queue, Answer answer) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !queue.requests.empty(); });
    Request request = queue.requests.front();
    queue.requests.pop_front();
    queue.answers.push_back(std::move(answer));
    changed_.notify_all();
    return request;
  }

  template <typename Request, typename Answer>
  Answer Ask(Queue<Request, Answer>& queue, const Request& request, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    if (!released_) queue.requests.push_back(request);
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return !queue.answers.empty() || released_; });
    if (queue.answers.empty()) return absl::UnavailableError("no answer");
    Answer answer = std::move(queue.answers.front());
    queue.answers.pop_front();
    return answer;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool released_ = false;
  Queue<v1::SynchroniseRequest, SyncAnswer> syncs_;
  Queue<v1::ReportRequest, ReportAnswer> reports_;
};

// Runs a trial until it is told to end it, or stopped.
class FakeExecutor : public Executor {
 public:
  explicit FakeExecutor(std::string id) { device_.set_id(std::move(id)); }
  const v1::Device& device() const override { return device_; }

  void Start(v1::Assignment assignment, std::stop_token stop, Phase phase, Done done) override {
    std::unique_lock lock(mutex_);
    started_ = std::move(assignment);
    end_ = false;
    thread_ = std::jthread([this, stop, phase, done] {
      phase("timing");
      absl::StatusOr<v1::Measurement> result = absl::CancelledError("stopped");
      {
        std::unique_lock lock(mutex_);
        changed_.notify_all();
        if (changed_.wait(lock, stop, [&] { return end_; })) {
          v1::Measurement measurement;
          measurement.set_trial_id(started_->trial_id());
          measurement.set_fence(started_->fence());
          measurement.set_outcome_class(v1::CORRECT);
          result = measurement;
        }
      }
      done(std::move(result));
    });
    changed_.notify_all();
  }

  void WaitForStart() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return started_.has_value(); });
  }
  void End() {
    std::unique_lock lock(mutex_);
    end_ = true;
    changed_.notify_all();
  }

 private:
  v1::Device device_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<v1::Assignment> started_;
  bool end_ = false;
  std::jthread thread_;
};

v1::SynchroniseResponse Assign(const std::string& trial, int64_t fence, double lease = 3600) {
  v1::SynchroniseResponse response;
  v1::Assignment& assignment = *response.add_assignments();
  assignment.set_trial_id(trial);
  assignment.set_fence(fence);
  assignment.set_lease_seconds(lease);
  assignment.set_device("cpu");
  return response;
}

v1::ReportResponse Accept() {
  v1::ReportResponse response;
  response.add_results()->set_accepted(true);
  return response;
}

class SyncLoopTest : public testing::Test {
 protected:
  SyncLoopTest() {
    Identity identity;
    identity.worker_id = "w";
    identity.incarnation = "i";
    identity.maximum_calibration_error = 0.02;
    SyncTimes times;
    times.heartbeat_seconds = 0.005;
    times.first_retry_seconds = 0.001;
    times.last_retry_seconds = 0.002;
    loop_ = std::make_unique<SyncLoop>(service_, identity, std::vector<Executor*>{&executor_}, times);
    thread_ = std::jthread([this] { status_ = loop_->Run(); });
  }
  ~SyncLoopTest() override {
    loop_->Abandon();
    service_.Release();
    thread_.join();
    loop_.reset();
  }

  // Answers heartbeats until one holds `count` trials.
  v1::SynchroniseRequest SyncUntilHeld(int count) {
    while (true) {
      v1::SynchroniseRequest request = service_.NextSync(v1::SynchroniseResponse());
      if (request.held_size() == count) return request;
    }
  }

  FakeService service_;
  FakeExecutor executor_{"cpu"};
  std::unique_ptr<SyncLoop> loop_;
  absl::Status status_;
  std::jthread thread_;
};

TEST_F(SyncLoopTest, TellsTheLimitOfTheCalibrationErrorEveryTime) {
  EXPECT_EQ(service_.NextSync(v1::SynchroniseResponse()).maximum_calibration_error(), 0.02);
  EXPECT_EQ(service_.NextSync(v1::SynchroniseResponse()).maximum_calibration_error(), 0.02);
}

TEST_F(SyncLoopTest, RunsAndReportsWhatItIsGiven) {
  EXPECT_EQ(service_.NextSync(v1::SynchroniseResponse()).wait_seconds(), 0) << "the first call announces the worker";
  v1::SynchroniseRequest request = service_.NextSync(Assign("t1", 5));
  EXPECT_THAT(request.free_devices(), ElementsAre("cpu"));
  EXPECT_GT(request.wait_seconds(), 0);
  executor_.WaitForStart();
  request = SyncUntilHeld(1);
  EXPECT_EQ(request.held(0).trial_id(), "t1");
  EXPECT_EQ(request.held(0).fence(), 5);
  EXPECT_THAT(request.free_devices(), IsEmpty());
  EXPECT_EQ(request.wait_seconds(), 0) << "nothing is waited for while nothing is free";
  executor_.End();
  const v1::ReportRequest report = service_.NextReport(Accept());
  EXPECT_EQ(report.measurements(0).fence(), 5);
  EXPECT_EQ(report.incarnation(), "i");
  request = SyncUntilHeld(0);
}

TEST_F(SyncLoopTest, ALostAnswerStrandsNothing) {
  // The coordinator gave a trial and the answer was lost: the next call does not name it as held, so it is given again.
  service_.NextSync(absl::UnavailableError("lost"));
  const v1::SynchroniseRequest request = service_.NextSync(Assign("t1", 5));
  EXPECT_THAT(request.held(), IsEmpty());
  EXPECT_THAT(request.free_devices(), ElementsAre("cpu"));
  executor_.WaitForStart();
  // The same answer twice starts it once.
  service_.NextSync(Assign("t1", 5));
  EXPECT_EQ(SyncUntilHeld(1).held(0).trial_id(), "t1");
  executor_.End();
  service_.NextReport(absl::UnavailableError("lost"));
  service_.NextReport(absl::DeadlineExceededError("lost"));
  service_.NextReport(Accept());
  SyncUntilHeld(0);
}

TEST_F(SyncLoopTest, DropsWhatItIsToldTo) {
  service_.NextSync(Assign("t1", 5));
  executor_.WaitForStart();
  v1::SynchroniseResponse wrong_fence, drop;
  for (v1::SynchroniseResponse* response : {&wrong_fence, &drop}) {
    v1::Drop& d = *response->add_drops();
    d.set_trial_id("t1");
    d.set_fence(response == &drop ? 5 : 4);
    d.set_reason("cancelled");
  }
  service_.NextSync(wrong_fence);
  service_.NextSync(v1::SynchroniseResponse());
  EXPECT_EQ(service_.NextSync(drop).held_size(), 1) << "a drop of another fence is not meant for this lease";
  EXPECT_THAT(SyncUntilHeld(0).free_devices(), ElementsAre("cpu"));
}

TEST_F(SyncLoopTest, EndsATrialBeforeItsLeaseDoes) {
  const Clock::time_point start = Clock::now();
  service_.NextSync(Assign("t1", 5, /*lease=*/0.2));
  executor_.WaitForStart();
  // Heartbeats that extend nothing.
  SyncUntilHeld(0);
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - start).count(), 60);
}

TEST_F(SyncLoopTest, ALeaseCanBeExtended) {
  service_.NextSync(Assign("t1", 5, /*lease=*/0.5));
  executor_.WaitForStart();
  v1::SynchroniseResponse extend;
  v1::Extension& extension = *extend.add_extensions();
  extension.set_trial_id("t1");
  extension.set_fence(5);
  extension.set_lease_seconds(3600);
  service_.NextSync(extend);
  const Clock::time_point start = Clock::now();
  while (Clock::now() - start < std::chrono::milliseconds(600)) {
    ASSERT_EQ(service_.NextSync(extend).held_size(), 1);
  }
}

TEST_F(SyncLoopTest, DrainsAtTheCoordinatorsWord) {
  service_.NextSync(Assign("t1", 5));
  executor_.WaitForStart();
  v1::SynchroniseResponse drain;
  drain.set_drain(true);
  service_.NextSync(drain);
  EXPECT_TRUE(SyncUntilHeld(1).draining());
  executor_.End();
  service_.NextReport(Accept());
  service_.Release();
  thread_ = std::jthread();  // joins
  thread_ = std::jthread([] {});
  EXPECT_TRUE(status_.ok());
}

TEST_F(SyncLoopTest, AbandonsAtOnce) {
  service_.NextSync(Assign("t1", 5));
  executor_.WaitForStart();
  loop_->Abandon();
  const v1::SynchroniseRequest last = [&] {
    while (true) {
      v1::SynchroniseRequest request = service_.NextSync(v1::SynchroniseResponse());
      if (request.held().empty()) return request;
    }
  }();
  EXPECT_TRUE(last.draining()) << "the last call gives back what was held";
  EXPECT_THAT(last.free_devices(), IsEmpty());
}

TEST_F(SyncLoopTest, RefusedAtTheFirstContactItEnds) {
  service_.NextSync(absl::UnauthenticatedError("unknown token"));
  thread_.join();
  thread_ = std::jthread([] {});
  EXPECT_TRUE(absl::IsUnauthenticated(status_));
}

TEST(LeaseTimeTest, KeepsAMargin) {
  EXPECT_EQ(LeaseTime(60), std::chrono::seconds(55));
  EXPECT_EQ(LeaseTime(10), std::chrono::seconds(9));
  EXPECT_EQ(LeaseTime(-1), std::chrono::seconds(0));
}

}  // namespace
}  // namespace assay::worker
