# SPDX-License-Identifier: Apache-2.0
"""Forks the process of one trial from the warm parent, and keeps the two apart.

    parent ── supervisor (process 1 of the trial's namespaces) ── trial

The trial has a session, user, PID, mount, network and IPC namespaces of its own and no capability; it cannot name, signal or read the parent.
Its supervisor reaps it, and with it (the first process of a PID namespace) everything that it forked. A pipe ties the supervisor to
the parent: it ends when the parent does, however the parent ended. Where the kernel forbids namespaces, the same processes run
without them and the reply says `isolated: false`.
"""

from __future__ import annotations

import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay_runner import kernel

_NAMESPACES = kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC


class ForkError(Exception):
    """The trial's process could not be started."""


@dataclass
class Trial:
    """What the parent holds of a trial."""

    number: int
    pidfd: int  # of the process that runs the trial
    isolated: bool
    control: socket.socket  # to the supervisor; readable when the trial has ended
    supervisor: int
    lifeline: int
    directory: str

    def finish(self) -> int:
        """Waits for the supervisor, and with it for every process of the trial. Returns the trial's wait status."""
        status = signal.SIGKILL
        if data := self.control.recv(64):
            status = json.loads(data)["status"]
        os.close(self.lifeline)
        os.waitpid(self.supervisor, 0)
        self.control.close()
        os.close(self.pidfd)
        shutil.rmtree(self.directory, ignore_errors=True)
        return status

    def kill(self) -> None:
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def become_parent() -> None:
    """Puts this process out of its children's reach."""
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def start(
    number: int, fds: Sequence[int], serve: Callable[[str], int], keep_readable: Sequence[str], isolate: bool = True
) -> Trial:
    """Forks a trial in which `fds` are descriptors 3, 4, … and no other is open; `serve`, given the trial's own empty folder, is its main
    function. `keep_readable` are folders that the trial must still see, read-only. `isolate` is False in tests."""
    if threads() != 1:
        raise ForkError(f"the runner has {threads()} threads and cannot fork safely")
    directory = tempfile.mkdtemp(prefix="assay-trial-")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pulse, lifeline = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 125
        try:
            status = _intermediate(list(fds), theirs, pulse, directory, serve, keep_readable, isolate)
        except BaseException as error:  # noqa: BLE001: the parent is told, whatever it was
            _send(theirs, {"error": f"{type(error).__name__}: {error}"[:2000]})
        finally:
            os._exit(status)
    theirs.close()
    os.close(pulse)
    supervisor = 0
    try:
        passed: list[int] = []
        said: dict[str, object] = {}
        while "supervisor" not in said or "isolated" not in said:  # two processes speak, in any order
            reply, received = _receive(ours)
            said |= reply
            passed += received
            supervisor = said.get("supervisor", supervisor)
        return Trial(number, passed[0], said["isolated"], ours, supervisor, lifeline, directory)
    except ForkError:
        os.close(lifeline)
        if supervisor:
            os.waitpid(supervisor, 0)
        ours.close()
        shutil.rmtree(directory, ignore_errors=True)
        raise
    finally:
        os.waitpid(pid, 0)


def _receive(control: socket.socket) -> tuple[dict, list[int]]:
    data, fds, _, _ = socket.recv_fds(control, 4096, 1)
    reply = json.loads(data) if data else {"error": "the process ended at once"}
    if "error" in reply:
        raise ForkError(f"the trial's process could not be started: {reply['error']}")
    return reply, fds


def _send(control: socket.socket, value: dict, fds: Sequence[int] = ()) -> None:
    data = json.dumps(value).encode()
    try:
        if fds:
            socket.send_fds(control, [data], list(fds), socket.MSG_NOSIGNAL)
        else:
            control.send(data, socket.MSG_NOSIGNAL)
    except BrokenPipeError:
        pass  # the parent is gone: the lifeline ends us


def _intermediate(fds, control, pulse, directory, serve, keep_readable, isolate) -> int:
    """Enters the namespaces; only its child is process 1 of them."""
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # else /proc/self belongs to root
    _close_all_but({0, 1, 2, control.fileno(), pulse, *fds})
    isolated = isolate and _enter_namespaces()
    pid = os.fork()
    if pid == 0:
        status = 125
        try:
            status = _supervise(fds, control, pulse, directory, serve, keep_readable, isolated)
        except BaseException as error:  # noqa: BLE001
            _send(control, {"error": f"{type(error).__name__}: {error}"[:2000]})
        finally:
            os._exit(status)
    _send(control, {"supervisor": pid})
    return 0


def _enter_namespaces() -> bool:
    uid, gid = os.getuid(), os.getgid()
    try:
        kernel.unshare(_NAMESPACES)
    except OSError as error:
        print(f"assay_runner: trials are not isolated: {error}", file=sys.stderr, flush=True)
        return False
    for file, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{file}", "w", encoding="ascii") as out:
            out.write(text)
    return True


def _supervise(fds, control, pulse, directory, serve, keep_readable, isolated) -> int:
    os.setsid()
    if isolated:
        _mounts(directory, keep_readable)
    else:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    trial = os.fork()
    if trial == 0:
        status = 125
        try:
            status = _trial(fds, control, directory, serve, isolated)
        except BaseException:  # noqa: BLE001: it goes to the runner's standard error
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    for fd in fds:
        os.close(fd)
    poll = select.poll()
    poll.register(pulse, select.POLLIN)
    poll.register(wake, select.POLLIN)
    status = None
    while status is None:
        events = dict(poll.poll())
        if pulse in events:
            break
        os.read(wake, 4096)
        status = _reap(trial)
    if not isolated:
        _kill_descendants()
    if status is not None:
        _send(control, {"status": status})
    return 0


def _reap(trial: int) -> int | None:
    """Reaps what has ended; the trial's status if it has."""
    status = None
    while True:
        try:
            pid, result = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == trial:
            status = result


def _kill_descendants() -> None:
    """Without a PID namespace: what lost its parent became ours, so killing our children again and again ends all of them."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            children = [int(pid) for pid in file.read().split()]
        if not children:
            return
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)


def _mounts(directory: str, keep_readable: Sequence[str]) -> None:
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    for what, mount in (
        ("/proc of its own", lambda: kernel.mount("proc", "/proc", "proc", flags | kernel.MS_NOEXEC)),
        ("a file system of its own", lambda: kernel.mount("tmpfs", directory, "tmpfs", flags, "mode=0700")),
    ):
        try:
            mount()
        except OSError as error:  # container run times mask parts of /proc, which forbids a new one
            print(f"assay_runner: the trial has no {what}: {error}", file=sys.stderr, flush=True)
    for folder in keep_readable:
        kernel.mount(folder, folder, "", kernel.MS_BIND)
        kept = os.statvfs(folder).f_flag & (kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
        kernel.mount("none", folder, "", kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kept)


def _trial(fds, control, directory, serve, isolated) -> int:
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    kernel.drop_privileges()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("500")  # short of memory, the trial goes before the parent
    except OSError:
        pass  # its own limit forbids it; the parent may be hit, which the worker sees
    pidfd = os.pidfd_open(os.getpid())
    _send(control, {"isolated": isolated}, [pidfd])
    # First out of the way of 3, 4, …, then to their places.
    high = [os.dup2(fd, 200 + index) for index, fd in enumerate(fds)]
    for index, fd in enumerate(high):
        os.dup2(fd, 3 + index, inheritable=False)
    _close_all_but({0, 1, 2, *range(3, 3 + len(fds))})
    return serve(directory)


def _close_all_but(keep: set[int]) -> None:
    start = 0
    for fd in sorted(keep):
        if start < fd:  # closerange(0, 0) closes everything in Python 3.11
            os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
