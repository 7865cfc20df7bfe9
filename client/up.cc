#include "client/up.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <csignal>

#include "client/api.h"
#include "client/local_worker.h"
#include "client/private_postgres.h"
#include "client/supervisor.h"
#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {
namespace fs = std::filesystem;
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Waits until `done`, by asking 20 times a second: false where that takes longer.
bool WaitFor(const std::function<bool()>& done, seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    ::poll(nullptr, 0, 50);
  }
  return true;
}

// On the loopback interface, for a server that sets SO_REUSEADDR.
bool PortIsFree(int port) {
  if (port < 1 || port > 65535) return false;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int yes = 1;
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
                    ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  ::close(fd);
  return free;
}

absl::StatusOr<FileLock> TakeLock(const fs::path& state) {
  const fs::path file = state / "lock";
  absl::StatusOr<FileLock> lock = FileLock::Take(file);
  if (!absl::IsAborted(lock.status())) return lock;
  const pid_t holder = FileLock::Holder(file);
  if (holder > 0 && ::kill(holder, 0) != 0 && errno == ESRCH) {
    // The last one was killed; its guard holds the lock until its processes have ended.
    WaitFor([&] { return !absl::IsAborted((lock = FileLock::Take(file)).status()); }, seconds(30));
    if (!absl::IsAborted(lock.status())) return lock;
  }
  return absl::AbortedError(
      fmt::format("'assay up' runs already in {} (process {}): use it, or end it with 'assay down'; ASSAY_HOME names "
                  "another folder",
                  state.string(), holder));
}

class Up {
 public:
  Up(const UpOptions& options, const Installation& installation, Supervisor& supervisor)
      : options_(options), installation_(installation), supervisor_(supervisor), state_(options.state) {}

  absl::Status Start() {
    for (const auto step : {&Up::FindPrograms, &Up::StartPostgres, &Up::StartServer, &Up::StartWorker}) {
      if (absl::Status status = (this->*step)(); !status.ok()) return status;
    }
    service_.pid = ::getpid();
    return WriteLocalService(state_, service_);
  }

  const LocalService& service() const { return service_; }

 private:
  fs::path Log(const std::string& name) const { return state_ / "log" / (name + ".log"); }

  // Written by the server, which removes it when it ends.
  fs::path Ports() const { return state_ / "ports.json"; }
  fs::path LastPorts() const { return state_ / "last_ports.json"; }

  absl::Status FindPrograms() {
    for (const auto& [room, name, path] : {std::tuple{"server", "assay-server", &server_program_},
                                           {"worker", "assay-worker", &worker_program_},
                                           {"runner/torch", "assay-runner-torch", &worker_.torch_runner}}) {
      absl::StatusOr<fs::path> found = installation_.Program(room, name);
      if (!found.ok()) return found.status();
      *path = *std::move(found);
    }
    absl::StatusOr<fs::path> venv = installation_.Venv();
    if (!venv.ok()) return venv.status();
    worker_.venv = *std::move(venv);
    worker_.python_path = installation_.PythonPath();
    FindXla();
    worker_.environments = options_.environments;
    worker_.threads = options_.threads;
    worker_.state_folder = state_ / "worker";
    worker_.token_file = state_ / "worker.token";
    return absl::OkStatus();
  }

  // Optional: without it there is no target `xla`.
  void FindXla() {
    absl::StatusOr<Installation::Xla> xla = installation_.FindXla();
    absl::StatusOr<fs::path> runner = installation_.Program("runner/pjrt", "assay-runner-pjrt");
    if (!xla.ok() || !runner.ok()) {
      options_.say("without XLA: " + MessageOf(xla.ok() ? runner.status() : xla.status()));
      return;
    }
    options_.say(fmt::format("with XLA: {}", xla->plugin.string()));
    if (!xla->tpu_plugin.empty())
      options_.say(fmt::format("with XLA for TPUs, to compile only: {}", xla->tpu_plugin.string()));
    if (!xla->gpus.empty())
      options_.say(
          fmt::format("with XLA for {} GPUs, to compile only: {}", xla->gpus.size(), xla->cuda_plugin.string()));
    std::error_code error;
    worker_.gpu = fs::exists("/dev/nvidia0", error);
    worker_.tpu = fs::exists("/dev/accel0", error) || fs::exists("/dev/vfio/0", error);
    worker_.xla_runner = *std::move(runner);
    worker_.xla = *std::move(xla);
  }

  absl::Status StartPostgres() {
    absl::StatusOr<PrivatePostgres> postgres = PrivatePostgres::Prepare(state_, Log("postgres"));
    if (!postgres.ok()) return postgres.status();
    if (absl::Status status = supervisor_.Start(postgres->Spec()); !status.ok()) return status;
    database_ = postgres->ConnectionString();
    return supervisor_.WaitUntil([&] { return postgres->Ready(supervisor_.PidOf("postgres")); }, "postgres",
                                 seconds(120));
  }

  std::vector<std::string> ServerCommand(int grpc_port, int http_port) const {
    return {server_program_.string(),
            "--database",
            database_,
            "--listen-grpc",
            fmt::format("127.0.0.1:{}", grpc_port),
            "--listen-http",
            fmt::format("127.0.0.1:{}", http_port),
            "--port-file",
            Ports().string(),
            "--bootstrap-token-file",
            (state_ / "admin.token").string()};
  }

  absl::StatusOr<std::unique_ptr<Api>> ApiWith(const std::string& token) const {
    return Api::Connect(
        {.address = fmt::format("127.0.0.1:{}", service_.grpc_port), .token = token, .origin = "assay up"});
  }

  bool ReadPorts(const fs::path& file) {
    const absl::StatusOr<std::string> text = ReadFile(file, 4096);
    if (!text.ok()) return false;
    boost::json::error_code error;
    const boost::json::value json = boost::json::parse(*text, error);
    if (error || !json.is_object()) return false;
    const boost::json::value* grpc = json.as_object().if_contains("grpc");
    const boost::json::value* http = json.as_object().if_contains("http");
    if (grpc == nullptr || http == nullptr || !grpc->is_int64() || !http->is_int64()) return false;
    service_.grpc_port = static_cast<int>(grpc->as_int64());
    service_.http_port = static_cast<int>(http->as_int64());
    return true;
  }

  // Those of the last time, if they are free: whoever waits for an evaluation then finds the server again.
  void ChoosePorts() {
    if (!ReadPorts(LastPorts()) || !PortIsFree(service_.grpc_port)) service_.grpc_port = 0;
    if (!PortIsFree(service_.http_port)) service_.http_port = 0;
    if (options_.grpc_port != 0) service_.grpc_port = options_.grpc_port;
    if (options_.http_port != 0) service_.http_port = options_.http_port;
  }

  absl::Status StartServer() {
    ChoosePorts();
    ::unlink(Ports().c_str());
    ProcessSpec spec{
        .name = "server", .argv = ServerCommand(service_.grpc_port, service_.http_port), .log = Log("server")};
    // Started again it must be found where it was.
    const auto same_ports = [this](ProcessSpec& again) {
      if (service_.grpc_port != 0) again.argv = ServerCommand(service_.grpc_port, service_.http_port);
    };
    if (absl::Status status = supervisor_.Start(std::move(spec), same_ports); !status.ok()) return status;
    const auto answers = [&] {
      if (!ReadPorts(Ports())) return false;
      const absl::StatusOr<std::string> token = ReadFile(state_ / "admin.token", 4096);
      if (!token.ok()) return false;
      service_.token = std::string(Trim(*token));
      api_ = ApiWith(service_.token);
      if (!api_.ok()) return false;
      last_answer_ = (*api_)->Call(v1::ListTokensRequest()).status();
      // A refusal will not go away by waiting.
      return last_answer_.ok() || absl::IsUnauthenticated(last_answer_) || absl::IsPermissionDenied(last_answer_);
    };
    if (absl::Status status = supervisor_.WaitUntil(answers, "server", seconds(60)); !status.ok()) return status;
    if (last_answer_.ok()) {
      return WriteFile(LastPorts(),
                       fmt::format("{{\"grpc\":{},\"http\":{}}}\n", service_.grpc_port, service_.http_port));
    }
    return Prefixed(fmt::format("the server does not take the token in {}", (state_ / "admin.token").string()),
                    last_answer_);
  }

  // Keeps the worker's token as long as the server takes it.
  absl::Status MakeWorkerToken() {
    if (const absl::StatusOr<std::string> secret = ReadFile(worker_.token_file, 4096); secret.ok()) {
      const absl::StatusOr<std::unique_ptr<Api>> api = ApiWith(std::string(Trim(*secret)));
      if (!api.ok()) return api.status();
      v1::GetGraphRequest request;  // what a worker may do; whether there is such a graph does not matter
      request.set_hash(std::string(64, '0'));
      if (!absl::IsUnauthenticated((*api)->Call(request).status())) return absl::OkStatus();
    }
    v1::CreateTokenRequest request;
    request.set_name("worker of assay up");
    request.set_role(v1::WORKER);
    const absl::StatusOr<v1::CreateTokenResponse> token = (*api_)->Call(request);
    if (!token.ok()) return token.status();
    return WriteFile(worker_.token_file, token->secret() + "\n");
  }

  // Seen by the server since then, with runners.
  bool WorkerSeenSince(std::chrono::system_clock::time_point start) {
    const absl::StatusOr<v1::ListWorkersResponse> list = (*api_)->Call(v1::ListWorkersRequest());
    if (!list.ok()) return false;
    for (const v1::Worker& worker : list->workers()) {
      const auto seen = seconds(worker.last_seen().seconds()) + std::chrono::nanoseconds(worker.last_seen().nanos());
      if (!worker.live() || worker.runners().empty() || seen < start.time_since_epoch()) continue;
      seen_ = worker;
      return true;
    }
    return false;
  }

  // A runner that does not work is left out by the worker: its user is to hear of it here.
  void SayWhichRunnersAreMissing() {
    std::vector<std::pair<std::string, std::string>> wanted = {{"torch", "default"}, {"python", "default"}};
    for (const auto& [name, folder] : worker_.environments) wanted.emplace_back("python", name);
    for (const auto& [name, environment] : wanted) {
      const bool offered = std::any_of(seen_.runners().begin(), seen_.runners().end(), [&](const v1::Runner& runner) {
        return runner.name() == name &&
               (runner.environment().empty() ? "default" : runner.environment()) == environment;
      });
      if (!offered) {
        options_.say(
            fmt::format("the runner {} (environment {}) does not work here and is left out; the end of {}:\n{}", name,
                        environment, Log("worker").string(), LogTail(Log("worker"))));
      }
    }
  }

  absl::Status StartWorker() {
    if (absl::Status status = MakeWorkerToken(); !status.ok()) return status;
    worker_.server = fmt::format("127.0.0.1:{}", service_.grpc_port);
    if (absl::Status status = MakePrivateFolder(worker_.state_folder); !status.ok()) return status;
    const fs::path config = state_ / "worker.toml";
    if (absl::Status status =
            WriteFile(config, "# Written by 'assay up' at every start: changes are lost.\n" + WorkerConfig(worker_));
        !status.ok())
      return status;
    const auto start = std::chrono::system_clock::now();
    ProcessSpec spec{
        .name = "worker", .argv = {worker_program_.string(), "--config", config.string()}, .log = Log("worker")};
    if (absl::Status status = supervisor_.Start(std::move(spec)); !status.ok()) return status;
    const auto seen = [&] { return WorkerSeenSince(start); };
    if (absl::Status status = supervisor_.WaitUntil(seen, "worker", seconds(300)); !status.ok()) return status;
    SayWhichRunnersAreMissing();
    return absl::OkStatus();
  }

  const UpOptions& options_;
  const Installation& installation_;
  Supervisor& supervisor_;
  const fs::path state_;
  fs::path server_program_, worker_program_;
  LocalWorker worker_;
  std::string database_;
  LocalService service_;
  absl::StatusOr<std::unique_ptr<Api>> api_ = absl::UnavailableError("not connected yet");
  absl::Status last_answer_;
  v1::Worker seen_;
};

}  // namespace

absl::Status RunUp(const UpOptions& options, const Installation& installation) {
  for (const fs::path& folder : {options.state, options.state / "log"}) {
    if (absl::Status status = MakePrivateFolder(folder); !status.ok()) return status;
  }
  const absl::StatusOr<FileLock> lock = TakeLock(options.state);
  if (!lock.ok()) return lock.status();
  const fs::path state_file = options.state / "up.json";
  ::unlink(state_file.c_str());  // of one that was killed

  absl::StatusOr<std::unique_ptr<Supervisor>> supervisor = Supervisor::Make(lock->fd(), {.say = options.say});
  if (!supervisor.ok()) return supervisor.status();
  Up up(options, installation, **supervisor);
  if (absl::Status status = up.Start(); !status.ok()) return status;
  options.ready(up.service());
  while ((*supervisor)->stop_signal() == 0) (*supervisor)->Poll(seconds(60));
  options.say("stopping");
  ::unlink(state_file.c_str());
  (*supervisor)->Stop();
  return absl::OkStatus();
}

absl::StatusOr<bool> RunDown(const fs::path& state) {
  const fs::path file = state / "lock";
  if (!FileLock::Held(file)) return false;
  const pid_t holder = FileLock::Holder(file);
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, holder, 0)));
  // The number in the file is the holder's as long as the lock is held; a dead holder's guard may hold it still.
  if (process.valid() && FileLock::Held(file) && FileLock::Holder(file) == holder) {
    if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) != 0 && errno != ESRCH) {
      return absl::ErrnoToStatus(errno, fmt::format("cannot end process {}", holder));
    }
  }
  if (!WaitFor([&] { return !FileLock::Held(file); }, seconds(120))) {
    return absl::InternalError(fmt::format("process {} was asked to end and still runs", holder));
  }
  return true;
}

}  // namespace assay::client
