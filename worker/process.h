// A started command in a session of its own: its end, its signals and the last of what it wrote.
// Thread safety: none; one thread a process. That thread must live as long as the process: the kernel counts the end of
// the thread that started a process as its parent's end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runner/unique_fd.h"
#include "worker/sandbox.h"

namespace assay::worker {

// How a process ended.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;  // 0: it exited by itself
};

// Keeps the last bytes that were added.
class ByteTail {
 public:
  explicit ByteTail(size_t limit) : limit_(limit) {}
  void Add(std::string_view bytes);
  void Clear() { bytes_.clear(); }
  // What was added last, from the start of a UTF-8 character on, with what is not UTF-8 replaced.
  std::string Text() const;

 private:
  size_t limit_;
  std::string bytes_;
};

inline constexpr size_t kOutputTailBytes = 64 << 10;

// Whether the process of this pidfd has ended.
bool ProcessEnded(int pidfd);

class Process {
 public:
  // Starts it with `fds` (descriptor here, number there), an empty standard input, and standard output and standard
  // error in one pipe. NotFound or PermissionDenied name the program.
  static absl::StatusOr<std::unique_ptr<Process>> Start(const Launch& launch,
                                                        const std::vector<std::pair<int, int>>& fds);
  ~Process();  // kills what is left

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }    // readable when the process has ended
  int output() const { return output_.get(); }  // non-blocking
  bool ended() const { return reaped_; }

  // To every process of its session that has not left the group.
  void Signal(int signal);
  // Kills the group and reaps it. The first call's end counts.
  ProcessEnd Kill();
  // Waits for the end; for a process that is known to have ended or to have been killed.
  ProcessEnd Reap();

  // Takes what the process has written. False at the end of it.
  bool Drain();
  ByteTail& tail() { return tail_; }

 private:
  Process() : tail_(kOutputTailBytes) {}
  pid_t pid_ = -1;
  runner::UniqueFd pidfd_, output_;
  ByteTail tail_;
  bool reaped_ = false;
  ProcessEnd end_;
};

}  // namespace assay::worker
