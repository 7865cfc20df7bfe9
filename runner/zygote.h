// Keeps a costly runner warm: the parent has loaded its framework and serves `describe` and `fork`; every trial runs in
// a child forked from it (runner/protocol.md, `fork`). The parent is undumpable, so that a child cannot reach its
// memory; the child has its own session, and PID, mount, IPC and network namespaces where the kernel allows it, and
// cannot signal its parent. The parent must be single-threaded when it forks: Serve() refuses otherwise. Thread safety:
// none.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "runner/channel.h"

namespace assay::runner {

struct Zygote {
  // The result of `describe`.
  std::function<boost::json::object()> describe;
  // Runs in the child with the trial's channel until it closes; its value is the child's exit code.
  std::function<int(Channel)> serve_child;
};

// Serves descriptors 3 and 4 until `close` or end of file. Children are killed when the parent ends.
absl::Status Serve(Zygote zygote, Channel channel);

}  // namespace assay::runner
