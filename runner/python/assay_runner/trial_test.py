# SPDX-License-Identifier: Apache-2.0
"""Trials that mean harm: the text of a model here is Python that attacks. (No such text passes Assay's parser; this is the line behind it.)"""

import os
import select
import shutil
import signal
import subprocess
import sys

import pytest
import torch

from assay_runner import trial as trials
from assay_runner.conftest import DEADLINE_S, ROOT, empty_file, model

X = {"x": torch.zeros(1)}
TENSOR = "torch.Tensor"


def attack(peer, *lines: str) -> int:
    """Runs the lines in the trial; what they leave in `n`."""
    peer.load(model([*lines, "return (n,)"], x=TENSOR), X)
    return peer.run(peer.compile("eager-python"))[0].item()


def run_without_answer(peer, *lines: str) -> None:
    """Starts lines that never return."""
    peer.load(model([*lines, "return (x,)"], x=TENSOR), X)
    handle = peer.compile("eager-python")
    with empty_file() as file:
        peer.channel.write({"id": 99, "method": "run", "params": {"handle": handle, "set": "public"}, "fds": ["outputs"]}, [file.fileno()])


def ended(fd: int) -> bool:
    return bool(select.select([fd], [], [], DEADLINE_S)[0])


def works(runner) -> None:
    peer, _, pidfd = runner.fork()
    assert attack(peer, "n = 5") == 5
    assert peer.result("close") == {}
    assert runner.event()["code"] == 0
    os.close(pidfd)


@pytest.fixture(scope="session")
def bare_runner(start_runner, toolchain_folder):
    """As it is where the kernel forbids namespaces."""
    return start_runner("--no-isolation", "--toolchain", toolchain_folder)


@pytest.fixture(scope="session")
def isolated_runner(runner):
    peer, reply, pidfd = runner.fork()
    peer.result("close")
    assert runner.event()["code"] == 0
    os.close(pidfd)
    if not reply["isolated"]:
        pytest.skip("the kernel allows no user namespaces here")
    return runner


@pytest.fixture(params=["isolated", "not isolated"])
def any_runner(request):
    return request.getfixturevalue("isolated_runner" if request.param == "isolated" else "bare_runner")


OPEN_MEMORY = (
    "import os",
    "n = 0",
    "for pid in [PARENT, 1, os.getppid()]:",
    "    try:",
    "        fd = os.open(f'/proc/{pid}/mem', os.O_RDWR)",
    "        n += 1",
    "    except OSError:",
    "        pass",
)
ATTACH = (
    "import ctypes, os",
    "libc = ctypes.CDLL(None)",
    "n = sum(libc.ptrace(16, pid, None, None) == 0 for pid in [PARENT, os.getppid()])",
)
READ_MEMORY = (
    "import ctypes",
    "buffer = ctypes.create_string_buffer(8)",
    "local = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)",
    "n = int(ctypes.CDLL(None).process_vm_readv(PARENT, local, 1, local, 1, 0) > 0)",
)


def aimed(lines, runner):
    return [line.replace("PARENT", str(runner.process.pid)) for line in lines]


@pytest.mark.parametrize("lines", [OPEN_MEMORY, ATTACH, READ_MEMORY], ids=["open", "ptrace", "process_vm"])
def test_the_parents_memory_is_out_of_reach(any_runner, lines):
    peer, _, pidfd = any_runner.fork()
    assert attack(peer, *aimed(lines, any_runner)) == 0
    peer.result("close")
    assert any_runner.event()["code"] == 0
    os.close(pidfd)
    works(any_runner)


def test_the_parent_and_the_supervisor_cannot_be_signalled(isolated_runner):
    runner = isolated_runner
    peer, _, pidfd = runner.fork()
    lines = aimed(
        (
            "import os, signal",
            "n = 0",
            "for pid in [PARENT, -PARENT]:",
            "    try:",
            "        os.kill(pid, signal.SIGKILL)",
            "        n += 1",
            "    except OSError:",
            "        pass",
            "for pid in [1, -1]:",
            "    try:",
            "        os.kill(pid, signal.SIGKILL)",
            "    except OSError:",
            "        pass",
        ),
        runner,
    )
    assert attack(peer, *lines) == 0
    peer.result("close")
    assert runner.event()["code"] == 0
    os.close(pidfd)
    works(runner)


def test_the_trial_sees_only_itself(isolated_runner):
    runner = isolated_runner
    peer, _, pidfd = runner.fork()
    if subprocess.run(["unshare", "-Ur", "--pid", "--mount-proc", "--fork", "true"], capture_output=True).returncode == 0:
        names = ("import os", "n = sum(name.isdigit() for name in os.listdir('/proc'))")
        assert attack(peer, *names) == 2  # its supervisor and itself
    descriptors = (
        "import os",
        "links = [os.readlink(f'/proc/self/fd/{fd}') for fd in range(5, 256) if os.path.islink(f'/proc/self/fd/{fd}')]",
        "n = len([link for link in links if not link.startswith('/memfd:')])",
    )
    assert attack(peer, *descriptors) == 0  # nothing but its tensors
    network = ("import socket", "n = len(socket.if_nameindex())")
    assert attack(peer, *network) == 1  # loopback, and that is down
    capabilities = ("n = sum(int(l.split()[1], 16) for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapPrm', 'CapBnd')))",)
    assert attack(peer, *capabilities) == 0
    peer.result("close")
    assert runner.event()["code"] == 0
    os.close(pidfd)


GRANDCHILD = (
    "import os, signal, time",
    "ready, go = os.pipe()",
    "if os.fork() == 0:",
    "    os.setsid()",
    "    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)",
    "    os.write(go, b'x')",
    "    while True: time.sleep(1000)",  # keeps the trial's sockets open
    "n = len(os.read(ready, 1))",
)


@pytest.mark.parametrize("how", ["close", "kill"])
def test_a_grandchild_ends_with_the_trial(any_runner, how):
    peer, reply, pidfd = any_runner.fork()
    assert attack(peer, *GRANDCHILD) == 1
    if how == "close":
        peer.result("close")
        wanted = {"code": 0}
    else:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        wanted = {"signal": 9}
    assert any_runner.event() == {"event": "exit", "child": reply["child"], **wanted}
    # The grandchild held the other end too: that it has closed shows that nobody is left.
    assert ended(peer.channel.fileno()) and not peer.channel.receive()
    os.close(pidfd)
    works(any_runner)


def test_the_pidfd_stops_and_kills_the_trial(runner):
    peer, reply, pidfd = runner.fork()
    run_without_answer(peer, "while True: pass")
    signal.pidfd_send_signal(pidfd, signal.SIGSTOP)
    signal.pidfd_send_signal(pidfd, signal.SIGCONT)
    assert not select.select([pidfd], [], [], 0)[0]
    signal.pidfd_send_signal(pidfd, signal.SIGSTOP)
    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    assert ended(pidfd)
    assert runner.event() == {"event": "exit", "child": reply["child"], "signal": 9}
    os.close(pidfd)
    works(runner)


@pytest.mark.parametrize(
    "line, wanted",
    [
        ("import os; os._exit(3)", {"code": 3}),
        ("import os; os.abort()", {"signal": signal.SIGABRT}),
        ("import ctypes; ctypes.string_at(0)", {"signal": signal.SIGSEGV}),
    ],
)
def test_how_a_trial_ended_is_said(any_runner, line, wanted):
    peer, reply, pidfd = any_runner.fork()
    run_without_answer(peer, line)
    assert any_runner.event() == {"event": "exit", "child": reply["child"], **{key: int(value) for key, value in wanted.items()}}
    os.close(pidfd)


@pytest.mark.parametrize("how", [(), ("--no-isolation",)], ids=["isolated", "not isolated"])
def test_trials_end_with_the_parent(start_runner, toolchain_folder, how):
    runner = start_runner("--toolchain", toolchain_folder, *how)
    running, stopped = runner.fork(), runner.fork()
    run_without_answer(running[0], "while True: pass")
    signal.pidfd_send_signal(stopped[2], signal.SIGSTOP)
    runner.process.kill()
    for peer, _, pidfd in (running, stopped):
        assert ended(pidfd)
        os.close(pidfd)


def test_nothing_of_a_trial_is_left_in_the_folder(tmp_path, start_runner, toolchain_folder):
    mine = start_runner("--toolchain", toolchain_folder, env={"TMPDIR": str(tmp_path)})
    mine.result("describe")
    before = os.listdir(tmp_path)  # PyTorch makes an empty folder when it is imported
    peer, _, pidfd = mine.fork()
    assert attack(peer, "import os, tempfile", "n = int(os.write(tempfile.mkstemp()[0], b'left') == 4)") == 1
    peer.result("close")
    assert mine.event()["code"] == 0
    assert os.listdir(tmp_path) == before
    os.close(pidfd)


def test_a_parent_with_threads_refuses_to_fork(monkeypatch):
    monkeypatch.setattr(trials, "threads", lambda: 2)
    with pytest.raises(trials.ForkError, match="has 2 threads"):
        trials.start(1, [], lambda folder: 0, [])


def sandbox(folder: str) -> list[str]:
    """What the worker puts around a runner: an unprivileged user, a read-only file system, no network."""
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    command = ["bwrap", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "--dev", "/dev", "--proc", "/proc"]
    command += ["--ro-bind", folder, folder, "--ro-bind", str(ROOT), str(ROOT), "--ro-bind", sys.prefix, sys.prefix]
    command += ["--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "PYTHONPATH", str(ROOT)]
    if os.getuid() == 0:
        command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *command]
    tried = subprocess.run([*command, sys.executable, "-c", "import torch"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"the sandbox does not work here: {tried.stderr.strip()[-300:]}")
    return command


def test_inductor_compiles_in_the_sandbox(start_runner, toolchain_folder):
    for folder in os.listdir(toolchain_folder):
        os.chmod(os.path.join(toolchain_folder, folder), 0o755)
    runner = start_runner("--toolchain", toolchain_folder, prefix=sandbox(toolchain_folder))
    peer, reply, pidfd = runner.fork()
    assert reply["isolated"] is True
    peer.load(model(["y = torch.softmax(x, dim = 0) + torch.sin(x)", "return (y,)"], x=TENSOR), {"x": torch.randn(64)})
    torch.testing.assert_close(*(peer.run(peer.compile(name))[0] for name in ("eager-python", "inductor")))
    assert attack(peer, "import os", "n = os.getuid()") == (65534 if os.getuid() == 0 else os.getuid())
    peer.result("close")
    assert runner.event()["code"] == 0
    os.close(pidfd)
