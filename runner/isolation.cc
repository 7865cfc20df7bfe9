#include "runner/isolation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "graph/text.h"

namespace assay::runner {
namespace {

bool WriteFile(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool ok = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return ok;
}

}  // namespace

bool UnshareNamespaces() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  constexpr int kNamespaces = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET;
  // The maps below are files of this process, which belong to root while it is undumpable.
  const int dumpable = ::prctl(PR_GET_DUMPABLE);
  ::prctl(PR_SET_DUMPABLE, 1);
  const bool unshared = ::unshare(CLONE_NEWUSER | kNamespaces) == 0;
  bool mapped = true;
  if (unshared) {
    WriteFile("/proc/self/setgroups", "deny");
    mapped = WriteFile("/proc/self/uid_map", graph::Cat(uid, " ", uid, " 1\n")) &&
             WriteFile("/proc/self/gid_map", graph::Cat(gid, " ", gid, " 1\n"));
  }
  ::prctl(PR_SET_DUMPABLE, dumpable == 1 ? 1 : 0);
  // Nothing that is mounted from here on may be seen outside.
  if (unshared) ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr);
  return unshared && mapped;
}

bool MountProc() { return ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0; }

absl::Status DropCapabilities() {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    // Fails without CAP_SETPCAP: then there is nothing to be gained either, for no_new_privs is set below.
    ::prctl(PR_CAPBSET_DROP, capability);
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) {
    return absl::InternalError(graph::Cat("dropping capabilities: ", strerror(errno)));
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return absl::InternalError(graph::Cat("setting no_new_privs: ", strerror(errno)));
  }
  return absl::OkStatus();
}

void DieWithParent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

absl::Status MakeUndumpable() {
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) {
    return absl::InternalError(graph::Cat("setting PR_SET_DUMPABLE to 0: ", strerror(errno)));
  }
  return absl::OkStatus();
}

int ThreadCount() {
  DIR* directory = ::opendir("/proc/self/task");
  if (directory == nullptr) return -1;
  int count = 0;
  while (const dirent* entry = ::readdir(directory)) count += entry->d_name[0] != '.';
  ::closedir(directory);
  return count;
}

}  // namespace assay::runner
