#include "runner/pjrt/filter_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/text.h"
#include "runner/pjrt/status.h"
#include "runner/unique_fd.h"

extern char** environ;

namespace assay::pjrt {
namespace {

using graph::Cat;
using runner::UniqueFd;

absl::Status Pipe(UniqueFd& read_end, UniqueFd& write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::InternalError(Cat("pipe: ", strerror(errno)));
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
  return absl::OkStatus();
}

// Moves bytes both ways until the child closes its output. Sets `input_open` false when all was written.
absl::Status Exchange(UniqueFd& to_child, const UniqueFd& from_child, std::string_view input, std::string& output,
                      size_t max_bytes) {
  fcntl(to_child.get(), F_SETFL, O_NONBLOCK);
  if (input.empty()) to_child.reset();
  std::string block(64 << 10, '\0');
  for (;;) {
    pollfd polls[2] = {{from_child.get(), POLLIN, 0}, {to_child.get(), POLLOUT, 0}};
    if (poll(polls, to_child.valid() ? 2 : 1, -1) < 0) {
      if (errno == EINTR) continue;
      return absl::InternalError(Cat("poll: ", strerror(errno)));
    }
    if (to_child.valid() && polls[1].revents != 0) {
      const ssize_t sent = write(to_child.get(), input.data(), input.size());
      if (sent > 0) input.remove_prefix(static_cast<size_t>(sent));
      // A child that does not want all of its input says by its end whether that is an error.
      if (input.empty() || (sent < 0 && errno != EAGAIN && errno != EINTR)) to_child.reset();
    }
    if (polls[0].revents != 0) {
      const ssize_t got = read(from_child.get(), block.data(), block.size());
      if (got == 0) return absl::OkStatus();
      if (got < 0) {
        if (errno == EINTR) continue;
        return absl::InternalError(Cat("read: ", strerror(errno)));
      }
      if (output.size() + static_cast<size_t>(got) > max_bytes) {
        return absl::ResourceExhaustedError(Cat("it wrote more than ", max_bytes, " bytes"));
      }
      output.append(block.data(), static_cast<size_t>(got));
    }
  }
}

}  // namespace

absl::StatusOr<std::string> RunFilter(const std::vector<std::string>& command, std::string_view input,
                                      size_t max_bytes) {
  UniqueFd child_input, to_child, from_child, child_output;
  absl::Status status = Pipe(child_input, to_child);
  if (status.ok()) status = Pipe(from_child, child_output);
  if (!status.ok()) return status;

  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, child_input.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, child_output.get(), 1);
  // A child that goes away early must not kill this process; it itself gets the usual behaviour back.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  signal(SIGPIPE, SIG_IGN);
  pid_t child = -1;
  const int error = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return absl::FailedPreconditionError(Cat("cannot start ", command[0], ": ", strerror(error)));
  child_input.reset();
  child_output.reset();

  std::string output;
  status = Exchange(to_child, from_child, input, output, max_bytes);
  if (!status.ok()) kill(child, SIGKILL);
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (!status.ok()) return Annotated(status, command[0]);
  if (WIFSIGNALED(ended)) {
    const std::string message = Cat(command[0], " ended by the signal ", strsignal(WTERMSIG(ended)));
    return WTERMSIG(ended) == SIGKILL ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
  }
  if (WEXITSTATUS(ended) != 0) {
    return absl::InternalError(
        Cat(command[0], " ended with the code ", WEXITSTATUS(ended), "; standard error says why"));
  }
  return output;
}

}  // namespace assay::pjrt
