// What a forked child does to cut itself off from the process that it was forked from: namespaces of its own, no
// capabilities, nothing new by exec. Each step says whether the kernel allowed it.
// Thread safety: for single-threaded processes between fork and work.
#pragma once

#include <sys/types.h>

#include "absl/status/status.h"

namespace assay::runner {

// Moves the process into new user, mount, IPC and network namespaces, and its next child into a new PID namespace. The
// user keeps its number. False, with nothing changed, where the kernel does not allow it.
bool UnshareNamespaces();

// In the first process of a new PID namespace: mounts a /proc of that namespace over the old one. False where the
// kernel does not allow it (a /proc that is partly covered may not be mounted again); the old one then still shows
// other processes of the sandbox, none of which is dumpable or in a user namespace that this one has power over.
bool MountProc();

// Drops every capability for good and forbids gaining any by exec.
absl::Status DropCapabilities();

// Has the kernel kill this process when the thread that forked it ends.
void DieWithParent();

// Makes memory and /proc entries of this process unreachable for other processes, even of the same user.
absl::Status MakeUndumpable();

// Number of threads of this process, −1 where /proc does not tell.
int ThreadCount();

}  // namespace assay::runner
