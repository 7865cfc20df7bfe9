// assay up, assay down.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "client/command.h"
#include "client/local_worker.h"
#include "client/text.h"
#include "client/up.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

struct UpFlags {
  std::vector<std::string> environments;
  int port = 0, grpc_port = 0, threads = 0;
  bool detach = false;
};

std::string ReadyText(const Command& command, const LocalService& service, const std::filesystem::path& state,
                      bool detached) {
  if (command.json) {
    return boost::json::serialize(boost::json::object{{"http", fmt::format("http://127.0.0.1:{}", service.http_port)},
                                                      {"grpc", fmt::format("127.0.0.1:{}", service.grpc_port)},
                                                      {"pid", service.pid},
                                                      {"state", state.string()}}) +
           "\n";
  }
  return fmt::format(
      "Assay is up: http://127.0.0.1:{} (HTTP/JSON), 127.0.0.1:{} (gRPC)\n"
      "  data and logs  {}\n"
      "  other commands of this user find it by themselves:\n"
      "    assay import samples --suite bundled\n"
      "    assay targets\n"
      "    assay evaluate --suite bundled --target inductor --wait\n"
      "  {}\n",
      service.http_port, service.grpc_port, state.string(), detached ? "'assay down' ends it" : "Ctrl-C ends it");
}

absl::StatusOr<UpOptions> MakeOptions(const UpFlags& flags) {
  UpOptions options;
  absl::StatusOr<std::filesystem::path> state = StateFolder();
  if (!state.ok()) return state.status();
  options.state = *std::move(state);
  options.http_port = flags.port;
  options.grpc_port = flags.grpc_port;
  options.threads = flags.threads;
  for (const std::string& text : flags.environments) {
    absl::StatusOr<std::pair<std::string, std::filesystem::path>> environment = ParseEnvironment(text);
    if (!environment.ok()) return environment.status();
    options.environments.push_back(*std::move(environment));
  }
  options.say = [](const std::string& text) { fmt::print(stderr, "assay up: {}\n", text); };
  return options;
}

int RunHere(const Command& command, UpOptions& options) {
  options.ready = [&](const LocalService& service) { Print(ReadyText(command, service, options.state, false)); };
  const absl::Status status = RunUp(options, Installation::OfThisProgram());
  if (absl::IsCancelled(status)) return kInterrupted;
  return status.ok() ? kOk : Fail(status);
}

// Runs it in a session of its own, and comes back when it is ready or has failed. Its first byte on the pipe is 'R'
// (ready) or 'E' and the exit code as one character; what follows is for people.
int RunDetached(const Command& command, UpOptions& options) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Fail(absl::ErrnoToStatus(errno, "cannot make a pipe"));
  if (absl::Status status = MakePrivateFolder(options.state); !status.ok()) return Fail(status);
  if (absl::Status status = MakePrivateFolder(options.state / "log"); !status.ok()) return Fail(status);
  const pid_t pid = ::fork();
  if (pid < 0) return Fail(absl::ErrnoToStatus(errno, "cannot start a process"));
  if (pid > 0) {
    ::close(ends[1]);
    std::string answer;
    char buffer[4096];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;) answer.append(buffer, n);
    if (answer.starts_with('R')) {
      const size_t end = answer.find('\0');
      if (end != std::string::npos) fmt::print(stderr, "{}", answer.substr(end + 1));
      return Print(answer.substr(1, end - 1));
    }
    if (answer.size() > 2) {
      fmt::print(stderr, "assay: {}\n", answer.substr(2));
      return answer[1];
    }
    return Fail(absl::InternalError("it ended before it was ready: see " + (options.state / "log/up.log").string()));
  }
  ::close(ends[0]);
  ::setsid();
  const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd log(::open((options.state / "log/up.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  ::dup2(null.get(), 0);
  ::dup2(log.get(), 1);
  ::dup2(log.get(), 2);
  Fd pipe(ends[1]);
  const auto tell = [&](const std::string& text) {
    [[maybe_unused]] const ssize_t n = ::write(pipe.get(), text.data(), text.size());
    pipe = Fd();
  };
  std::string said;
  options.say = [&said, say = options.say](const std::string& text) {
    say(text);
    said += "assay up: " + text + "\n";
  };
  options.ready = [&](const LocalService& service) {
    tell("R" + ReadyText(command, service, options.state, true) + '\0' + said);
  };
  const absl::Status status = RunUp(options, Installation::OfThisProgram());
  const int code = ExitCodeOf(status);
  if (!status.ok()) {
    Fail(status);
    if (pipe.valid()) tell(fmt::format("E{}{}", static_cast<char>(code), MessageOf(status)));
  }
  return code;
}

int Down() {
  const absl::StatusOr<std::filesystem::path> state = StateFolder();
  if (!state.ok()) return Fail(state.status());
  const absl::StatusOr<bool> ended = RunDown(*state);
  if (!ended.ok()) return Fail(ended.status());
  return Print(*ended ? fmt::format("Assay in {} is down\n", state->string())
                      : fmt::format("no 'assay up' runs in {}\n", state->string()));
}

}  // namespace

void AddUp(CLI::App& app, Command& command) {
  auto flags = std::make_shared<UpFlags>();
  CLI::App* up =
      AddSubcommand(app, "up", "Run Assay on this machine: a private Postgres, the server and one worker",
                    "  assay up                                          Ctrl-C ends all of it\n"
                    "  assay up --detach                                 in the background; 'assay down' ends it\n"
                    "  assay up --env stable=/opt/venv-stable --env nightly=/opt/venv-nightly\n"
                    "  ASSAY_HOME=/tmp/assay assay up --port 8080\n\n"
                    "It listens on the loopback interface only. Data, logs and tokens are kept in $ASSAY_HOME, else\n"
                    "$XDG_STATE_HOME/assay, else ~/.local/state/assay, and are there again the next time.\n");
  up->add_flag("-d,--detach", flags->detach, "Go on in the background once everything is ready");
  up->add_option("--env", flags->environments,
                 "NAME=FOLDER: a further runner environment, a virtual environment with another wheel")
      ->take_all();
  up->add_option("--port", flags->port, "Port of HTTP/JSON (default: the last one, or a free one)")
      ->check(CLI::Range(1, 65535));
  up->add_option("--grpc-port", flags->grpc_port, "Port of gRPC (default: the last one, or a free one)")
      ->check(CLI::Range(1, 65535));
  up->add_option("--threads", flags->threads, "Intra-op threads of compilers where a policy says nothing")
      ->check(CLI::Range(1, 4096));
  up->callback([&command, flags] {
    command.action = [&command, flags] {
      absl::StatusOr<UpOptions> options = MakeOptions(*flags);
      if (!options.ok()) return Fail(options.status());
      return flags->detach ? RunDetached(command, *options) : RunHere(command, *options);
    };
  });

  CLI::App* down = AddSubcommand(app, "down", "End the 'assay up' of this state folder", "  assay down\n");
  down->callback([&command] { command.action = [] { return Down(); }; });
}

}  // namespace assay::client
