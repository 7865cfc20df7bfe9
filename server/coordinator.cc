#include "server/coordinator.h"

#include <algorithm>
#include <map>
#include <optional>
#include <pqxx/pqxx>

#include "server/calibration.h"
#include "server/scoring.h"
#include "server/text.h"
#include "server/worker_store.h"
#include "spdlog/spdlog.h"

namespace assay::server {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestWait = 30;
constexpr char kChannel[] = "assay_submitted";
constexpr char kEnding[] = "the server is ending: call again, another one or its next start answers";
constexpr auto kNotifyEvery = std::chrono::milliseconds(100);

Clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

const v1::SynchroniseRequest& RequestOf(const Call& call) {
  return static_cast<const v1::SynchroniseRequest&>(*call.request);
}
v1::SynchroniseResponse& ResponseOf(Call& call) { return static_cast<v1::SynchroniseResponse&>(*call.response); }

}  // namespace

// One Synchronise, from its arrival to its answer.
struct Coordinator::Poll {
  std::shared_ptr<Call> call;
  SyncInput input;
  std::map<std::string, std::string> kinds;  // of devices, by id
  std::unique_ptr<Capabilities> capabilities;
  Clock::time_point arrived, deadline;
  bool draining = false;
  // After its first transaction:
  SyncOutput output;
  std::vector<v1::Assignment> assignments;

  bool HasNews() const { return !assignments.empty() || !output.dropped.empty() || draining; }
  bool WantsTrials() const { return !draining && !RequestOf(*call).draining() && !output.free_devices.empty(); }
};

struct Coordinator::Batch {
  std::vector<std::shared_ptr<Call>> reports;
  std::vector<std::shared_ptr<Poll>> polls;    // new ones
  std::vector<std::shared_ptr<Poll>> waiting;  // that were here before
  // Results, written anew at every try.
  std::vector<v1::ReportResponse> report_responses;
  std::vector<int64_t> touched;
  int leased = 0;
};

Coordinator::Coordinator(Database& database, const Queue& queue, Metrics& metrics, CoordinatorOptions options)
    : database_(database), queue_(queue), metrics_(metrics), options_(options) {}

Coordinator::~Coordinator() { Stop(); }

void Coordinator::Start() {
  threads_.emplace_back([this] { ServeLoop(); });
  threads_.emplace_back([this] { SweepLoop(); });
  threads_.emplace_back([this] { ListenLoop(); });
}

void Coordinator::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  sweep_wake_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  Serve();  // what arrived before
  for (const auto& poll : std::exchange(waiting_, {})) Finish(*poll, absl::OkStatus());
}

void Coordinator::Synchronise(const std::shared_ptr<Call>& call) {
  const v1::SynchroniseRequest& request = RequestOf(*call);
  const auto wrong = [&](const std::string& message) { call->done(absl::InvalidArgumentError(message)); };
  if (request.worker_id().empty() || request.worker_id().size() > 128) return wrong("worker_id must be 1 to 128 bytes");
  if (request.incarnation().empty() || request.incarnation().size() > 128)
    return wrong("incarnation must be 1 to 128 bytes");
  if (request.devices_size() > 1024) return wrong("more than 1,024 devices");
  auto poll = std::make_shared<Poll>();
  poll->call = call;
  poll->input.worker_id = CleanText(request.worker_id());
  poll->input.incarnation = CleanText(request.incarnation());
  for (const auto& held : request.held()) {
    const auto id = ParseInt(held.trial_id());
    if (!id) return wrong(Cat("held: '", held.trial_id(), "' is not a trial's number"));
    poll->input.held.emplace_back(*id, held.fence());
    poll->input.phases.push_back(held.phase());
  }
  for (const auto& device : request.devices()) {
    if (device.id().empty() || !poll->kinds.emplace(device.id(), device.kind()).second) {
      return wrong(Cat("devices: the id '", device.id(), "' is empty or there twice"));
    }
  }
  for (const auto& device : request.free_devices()) {
    if (!poll->kinds.contains(device)) return wrong(Cat("free_devices: '", device, "' is not among the devices"));
    poll->input.free_devices.push_back(device);
  }
  poll->capabilities = std::make_unique<Capabilities>(OffersOf(request.runners(), request.devices()));
  poll->arrived = Clock::now();
  // A lease must not run out while its holder waits here.
  const double wait =
      std::clamp(request.wait_seconds(), 0.0, std::min(kLongestWait, queue_.options().lease_seconds / 3));
  poll->deadline = poll->arrived + Seconds(wait);
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      arrived_.push_back(std::move(poll));
      wake_.notify_one();
      return;
    }
  }
  call->done(absl::UnavailableError(kEnding));
}

void Coordinator::Report(const std::shared_ptr<Call>& call) {
  const auto& request = static_cast<const v1::ReportRequest&>(*call->request);
  if (request.worker_id().empty()) {
    call->done(absl::InvalidArgumentError("worker_id is empty"));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      reports_.push_back(call);
      wake_.notify_one();
      return;
    }
  }
  call->done(absl::UnavailableError(kEnding));
}

void Coordinator::Submitted() {
  {
    const std::lock_guard lock(mutex_);
    look_ = true;
    notify_ = true;
  }
  wake_.notify_one();
  sweep_wake_.notify_one();
}

void Coordinator::Touched(const std::vector<int64_t>& evaluations) {
  {
    const std::lock_guard lock(mutex_);
    touched_.insert(evaluations.begin(), evaluations.end());
  }
  sweep_wake_.notify_one();
}

void Coordinator::Finish(Poll& poll, absl::Status status) {
  if (status.ok()) {
    v1::SynchroniseResponse& response = ResponseOf(*poll.call);
    // Leases were extended when the poll arrived; the worker counts from the answer.
    const double waited = std::chrono::duration<double>(Clock::now() - poll.arrived).count();
    for (const auto& [trial, fence] : poll.output.extended) {
      v1::Extension* extension = response.add_extensions();
      extension->set_trial_id(std::to_string(trial));
      extension->set_fence(fence);
      extension->set_lease_seconds(std::max(0.0, queue_.options().lease_seconds - waited));
    }
    for (const auto& [held, reason] : poll.output.dropped) {
      v1::Drop* drop = response.add_drops();
      drop->set_trial_id(std::to_string(held.first));
      drop->set_fence(held.second);
      drop->set_reason(reason);
    }
    for (auto& assignment : poll.assignments) *response.add_assignments() = std::move(assignment);
    response.set_drain(poll.draining);
  }
  poll.call->done(std::move(status));
}

absl::Status Coordinator::RunBatch(Batch& batch) {
  const std::string now = queue_.Now();
  return database_.Run([&](Transaction& transaction) {
    batch.report_responses.assign(batch.reports.size(), {});
    batch.touched.clear();
    batch.leased = 0;
    for (const auto& poll : batch.waiting) poll->assignments.clear();

    std::vector<int64_t> ids;
    std::vector<std::string> workers;
    std::vector<ReportInput> inputs;
    for (const auto& call : batch.reports) {
      const auto& request = static_cast<const v1::ReportRequest&>(*call->request);
      for (const auto& measurement : request.measurements()) {
        inputs.push_back({CleanText(request.worker_id()), measurement});
        if (const auto id = ParseInt(measurement.trial_id())) ids.push_back(*id);
      }
    }
    for (const auto& poll : batch.polls) {
      workers.push_back(poll->input.worker_id);
      for (const auto& [trial, fence] : poll->input.held) ids.push_back(trial);
    }
    std::map<int64_t, TrialRow> trials;
    if (!ids.empty() || !workers.empty()) trials = queue_.Lock(transaction, ids, workers);

    std::vector<const ReportInput*> pointers;
    for (const auto& input : inputs) pointers.push_back(&input);
    const auto results = TakeReports(transaction, queue_, pointers, trials, batch.touched);
    size_t next = 0;
    for (size_t i = 0; i < batch.reports.size(); ++i) {
      const auto& request = static_cast<const v1::ReportRequest&>(*batch.reports[i]->request);
      for (int k = 0; k < request.measurements_size(); ++k) *batch.report_responses[i].add_results() = results[next++];
    }

    for (const auto& poll : batch.polls) {
      poll->assignments.clear();
      poll->draining =
          StoreWorker(transaction, RequestOf(*poll->call), ParseInt(poll->call->token.id()).value_or(0), now);
      poll->output = queue_.Sync(transaction, poll->input, trials, batch.touched);
      auto again = queue_.Assignments(transaction, poll->output.redelivered);
      for (auto& [id, assignment] : again) poll->assignments.push_back(std::move(assignment));
    }

    // Has anything that a waiting worker holds gone? Then it is told now. (Trying again finds the same.)
    ArrayParameter held, fences;
    for (const auto& poll : batch.waiting) {
      for (const auto& [trial, fence] : poll->output.extended) {
        held.Add(trial);
        fences.Add(fence);
      }
    }
    if (held.str() != "{}") {
      std::map<int64_t, std::string> gone;  // by fence
      for (const auto& row : transaction.exec_params("SELECT u.fence, t.id IS NULL FROM unnest($1::bigint[], "
                                                     "$2::bigint[]) AS u(id, fence) LEFT JOIN trials t ON t.id = u.id "
                                                     "WHERE t.fence IS DISTINCT FROM u.fence",
                                                     held.str(), fences.str())) {
        gone[row[0].as<int64_t>()] = row[1].as<bool>() ? "cancelled" : "lease lost";
      }
      for (const auto& poll : batch.waiting) {
        std::erase_if(poll->output.extended, [&](const auto& lease) {
          const auto it = gone.find(lease.second);
          if (it == gone.end()) return false;
          poll->output.dropped.push_back({lease, it->second});
          return true;
        });
      }
    }

    std::vector<Slot> slots;
    std::map<std::pair<std::string, std::string>, Poll*> by_place;
    std::optional<std::map<std::pair<std::string, std::string>, double>> errors;  // read where a worker has a limit
    for (const auto* polls : {&batch.waiting, &batch.polls}) {
      for (const auto& poll : *polls) {
        if (!poll->WantsTrials()) continue;
        for (const auto& device : poll->output.free_devices) {
          if (!by_place.emplace(std::make_pair(poll->input.worker_id, device), poll.get()).second) continue;
          slots.push_back({poll->input.worker_id, poll->input.incarnation, device, poll->kinds.at(device),
                           poll->capabilities.get()});
          const double limit = RequestOf(*poll->call).maximum_calibration_error();
          if (limit <= 0) continue;
          if (!errors) errors = LargestErrors(NewestCalibrations(transaction));
          const auto error = errors->find({poll->input.worker_id, device});
          slots.back().calibration_only = error != errors->end() && error->second > limit;
        }
      }
    }
    const std::vector<int64_t> leased = queue_.Claim(transaction, slots, batch.touched);
    batch.leased = static_cast<int>(leased.size());
    if (!leased.empty()) {
      std::map<int64_t, std::string> holders;
      ArrayParameter list;
      for (const int64_t id : leased) list.Add(id);
      for (const auto& row :
           transaction.exec_params("SELECT id, worker_id FROM trials WHERE id = ANY($1::bigint[])", list.str())) {
        holders[row[0].as<int64_t>()] = row[1].c_str();
      }
      for (auto& [id, assignment] : queue_.Assignments(transaction, leased)) {
        by_place.at({holders.at(id), assignment.device()})->assignments.push_back(std::move(assignment));
      }
    }
    return absl::OkStatus();
  });
}

int Coordinator::Serve() {
  Batch batch;
  bool look = false;
  {
    const std::lock_guard lock(mutex_);
    while (!reports_.empty() && static_cast<int>(batch.reports.size()) < options_.largest_batch) {
      batch.reports.push_back(std::move(reports_.front()));
      reports_.pop_front();
    }
    while (!arrived_.empty() && static_cast<int>(batch.polls.size()) < options_.largest_batch) {
      batch.polls.push_back(std::move(arrived_.front()));
      arrived_.pop_front();
    }
    look = std::exchange(look_, false);
  }
  std::erase_if(waiting_, [](const auto& poll) {
    if (!poll->call->cancelled) return false;
    poll->call->done(absl::CancelledError("the worker went away"));
    return true;
  });
  // A worker has one poll; a second one means that it has given the first up.
  for (const auto& poll : batch.polls) {
    std::erase_if(waiting_, [&](const auto& old) {
      if (old->input.worker_id != poll->input.worker_id) return false;
      old->call->done(absl::AbortedError("the worker synchronised again"));
      return true;
    });
  }
  std::stable_sort(batch.polls.begin(), batch.polls.end(),
                   [](const auto& a, const auto& b) { return a->input.worker_id < b->input.worker_id; });
  batch.waiting = waiting_;
  const int items = static_cast<int>(batch.reports.size() + batch.polls.size());
  if (items == 0 && batch.waiting.empty()) return 0;

  const auto started = Clock::now();
  absl::Status status = RunBatch(batch);
  int answered = 0;
  std::vector<int64_t> touched = batch.touched;
  int leased = batch.leased;
  std::vector<std::pair<std::shared_ptr<Call>, absl::Status>> failed_reports;
  std::vector<std::shared_ptr<Poll>> good_polls = batch.polls;
  std::vector<std::pair<std::shared_ptr<Call>, v1::ReportResponse>> good_reports;
  if (status.ok()) {
    for (size_t i = 0; i < batch.reports.size(); ++i)
      good_reports.emplace_back(batch.reports[i], std::move(batch.report_responses[i]));
  } else {
    spdlog::error("a batch of {} calls failed: {}", items, std::string(status.message()));
    // Those that were waiting go on; what the batch would have given them was rolled back.
    for (const auto& poll : batch.waiting) poll->assignments.clear();
    // One of them may be what the database refuses: each on its own.
    good_polls.clear();
    touched.clear();
    leased = 0;
    const auto alone = [&](Batch& one) {
      const absl::Status own = items == 1 || absl::IsUnavailable(status) ? status : RunBatch(one);
      if (own.ok()) {
        touched.insert(touched.end(), one.touched.begin(), one.touched.end());
        leased += one.leased;
      }
      return own;
    };
    for (const auto& call : batch.reports) {
      Batch one;
      one.reports = {call};
      const absl::Status own = alone(one);
      if (own.ok()) {
        good_reports.emplace_back(call, std::move(one.report_responses[0]));
      } else {
        failed_reports.emplace_back(call, own);
      }
    }
    for (const auto& poll : batch.polls) {
      Batch one;
      one.polls = {poll};
      const absl::Status own = alone(one);
      if (own.ok()) {
        good_polls.push_back(poll);
      } else {
        Finish(*poll, own);
        ++answered;
      }
    }
  }
  metrics_.ObserveBatch(items, std::chrono::duration<double>(Clock::now() - started).count());
  metrics_.CountLeases(leased);

  for (auto& [call, response] : good_reports) {
    int accepted = 0;
    for (const auto& result : response.results()) accepted += result.accepted() ? 1 : 0;
    metrics_.CountReports("accepted", accepted);
    metrics_.CountReports("refused", response.results_size() - accepted);
    static_cast<v1::ReportResponse&>(*call->response) = std::move(response);
    call->done(absl::OkStatus());
    ++answered;
  }
  for (auto& [call, own] : failed_reports) {
    call->done(own);
    ++answered;
  }
  waiting_.insert(waiting_.end(), good_polls.begin(), good_polls.end());
  const auto present = Clock::now();
  std::erase_if(waiting_, [&](const auto& poll) {
    if (!poll->HasNews() && present < poll->deadline) return false;
    Finish(*poll, absl::OkStatus());
    ++answered;
    return true;
  });
  if (!touched.empty()) {
    Touched(touched);
    if (on_progress_) on_progress_();
  }
  return answered;
}

void Coordinator::ServeLoop() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      auto until = Clock::now() + Seconds(options_.poll_seconds);
      for (const auto& poll : waiting_) until = std::min(until, poll->deadline);
      wake_.wait_until(lock, until, [&] {
        return stopping_ || !reports_.empty() || !arrived_.empty() || (look_ && !waiting_.empty());
      });
      if (stopping_) return;
    }
    Serve();
  }
}

void Coordinator::FinishTouched() {
  std::set<int64_t> ids;
  {
    const std::lock_guard lock(mutex_);
    ids.swap(touched_);
  }
  for (const int64_t id : ids) {
    const absl::Status status =
        database_.Run([&](Transaction& transaction) { return FinishEvaluation(transaction, id, queue_.Now()); });
    if (!status.ok()) spdlog::error("evaluation {} cannot be ended: {}", id, std::string(status.message()));
  }
  if (!ids.empty() && on_progress_) on_progress_();
}

void Coordinator::Sweep() {
  std::vector<int64_t> touched;
  int lost = 0;
  QueueState state;
  std::vector<v1::Calibration> calibrations;
  const absl::Status status = database_.Run([&](Transaction& transaction) {
    touched.clear();
    lost = queue_.Sweep(transaction, touched);
    // Also those whose last outcome was written by a coordinator that died before it could end them.
    const std::vector<int64_t> ended = FinishableEvaluations(transaction);
    touched.insert(touched.end(), ended.begin(), ended.end());
    const pqxx::row counts = transaction.exec_params1(
        Cat("SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'leased'), "
            "(SELECT count(*) FROM workers WHERE last_seen > ",
            queue_.Now(), " - make_interval(secs => $1)) FROM trials"),
        queue_.options().lease_seconds);
    calibrations = NewestCalibrations(transaction);
    state = {counts[0].as<int64_t>(), counts[1].as<int64_t>(), counts[2].as<int64_t>()};
    return absl::OkStatus();
  });
  if (!status.ok()) {
    spdlog::error("the sweep failed: {}", std::string(status.message()));
    return;
  }
  metrics_.SetQueue(state);
  for (const v1::Calibration& c : calibrations) {
    metrics_.SetCalibration({c.worker_id(), c.device(), c.target().runner(), c.one_process() ? 1 : 2,
                             c.policy().threads(), c.median_error(), c.p95_error(), c.max_error(),
                             c.intervals() == 0 ? 0 : static_cast<double>(c.covering()) / c.intervals()});
  }
  metrics_.CountLostLeases(lost);
  if (lost > 0) {
    spdlog::warn("{} leases ran out", lost);
    Submitted();
  }
  Touched(touched);
  FinishTouched();
}

void Coordinator::SweepLoop() {
  auto next = Clock::now();
  for (;;) {
    bool notify = false;
    {
      std::unique_lock lock(mutex_);
      sweep_wake_.wait_until(lock, next, [&] {
        return stopping_ || !touched_.empty() || (notify_ && Clock::now() >= last_notify_ + kNotifyEvery);
      });
      if (stopping_) return;
      if (notify_ && Clock::now() >= last_notify_ + kNotifyEvery) {
        notify = true;
        notify_ = false;
        last_notify_ = Clock::now();
      }
    }
    if (notify) {
      const absl::Status status = database_.Run([](Transaction& transaction) {
        transaction.exec(Cat("NOTIFY ", kChannel));
        return absl::OkStatus();
      });
      if (!status.ok())
        spdlog::warn("other coordinators could not be told of a submission: {}", std::string(status.message()));
    }
    FinishTouched();
    if (Clock::now() >= next) {
      Sweep();
      next = Clock::now() + Seconds(options_.sweep_seconds);
    }
  }
}

void Coordinator::ListenLoop() {
  class Receiver : public pqxx::notification_receiver {
   public:
    Receiver(pqxx::connection_base& connection, std::function<void()> action)
        : pqxx::notification_receiver(connection, kChannel), action_(std::move(action)) {}
    void operator()(const std::string&, int) override { action_(); }

   private:
    std::function<void()> action_;
  };
  const auto stopping = [&] {
    const std::lock_guard lock(mutex_);
    return stopping_;
  };
  while (!stopping()) {
    try {
      pqxx::connection connection(database_.conninfo());
      Receiver receiver(connection, [this] {
        {
          const std::lock_guard lock(mutex_);
          look_ = true;
        }
        wake_.notify_one();
      });
      while (!stopping()) connection.await_notification(0, 200000);
    } catch (...) {
      // Polling goes on; only the head start is lost until the database is back.
      spdlog::warn("listening for submissions: {}", std::string(StatusOfException().message()));
      std::unique_lock lock(mutex_);
      sweep_wake_.wait_for(lock, std::chrono::seconds(1), [&] { return stopping_; });
    }
  }
}

}  // namespace assay::server
