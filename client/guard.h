// A small process beside `assay up` that outlives it: when `assay up` is gone, however it ended (kill -9 as well), it
// ends what `assay up` had started, at first by asking, after a while by force. While it does so it holds the lock of
// the state folder, so that no second `assay up` gets in its way. Thread safety: one thread.
#pragma once

#include <sys/types.h>

#include "absl/status/statusor.h"
#include "client/fd.h"

namespace assay::client {

class Guard {
 public:
  // Forks the process. It keeps `lock_fd` open.
  static absl::StatusOr<Guard> Start(int lock_fd, int patience_ms = 15000);

  // A process, and the signal that asks it to end.
  void Add(pid_t pid, int end_signal);
  void Remove(pid_t pid);

  pid_t pid() const { return pid_; }

 private:
  Guard(pid_t pid, Fd pipe) : pid_(pid), pipe_(std::move(pipe)) {}
  pid_t pid_ = 0;
  Fd pipe_;
};

}  // namespace assay::client
