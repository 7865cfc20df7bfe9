# SPDX-License-Identifier: Apache-2.0
"""Runs the real runner as the worker does: a process with sockets as descriptors 3 and 4."""

from __future__ import annotations

import json
import os
import pathlib
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
import torch

from assay_runner import tensors
from assay_runner.channel import Channel

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEADLINE_S = 120


class Peer:
    """The worker's end of a channel."""

    def __init__(self) -> None:
        self.ours = [socket.socketpair() for _ in range(2)]  # requests, replies
        self.channel = Channel(os.dup(self.ours[1][0].fileno()), os.dup(self.ours[0][0].fileno()))
        self.theirs = [self.ours[0][1], self.ours[1][1]]
        self.events: list[dict] = []
        self._id = 0

    def handed_over(self) -> None:
        for ours, theirs in self.ours:
            ours.close()
            theirs.close()

    def read(self):
        while (message := self.channel.pending()) is None:
            assert select.select([self.channel], [], [], DEADLINE_S)[0], "the runner does not answer"
            if not self.channel.receive():
                return None
        return message

    def call(self, method: str, params: Mapping | None = None, fds: Mapping[str, int] | None = None):
        """The reply to a request: its message. Events on the way are kept."""
        self._id += 1
        fds = fds or {}
        request = {"id": self._id, "method": method, "params": params or {}}
        if fds:
            request["fds"] = list(fds)
        self.channel.write(request, list(fds.values()))
        while True:
            message = self.read()
            assert message is not None, f"the runner ended while it served {method}"
            if "event" in message.json:
                self.events.append(message.json)
                continue
            assert message.json["id"] == self._id
            return message

    def result(self, method: str, params: Mapping | None = None, fds: Mapping[str, int] | None = None) -> dict:
        reply = self.call(method, params, fds).json
        assert "result" in reply, reply
        return reply["result"]

    def error(self, method: str, params: Mapping | None = None, fds: Mapping[str, int] | None = None) -> dict:
        reply = self.call(method, params, fds).json
        assert "error" in reply, reply
        return reply["error"]

    def event(self) -> dict:
        if self.events:
            return self.events.pop(0)
        message = self.read()
        assert message is not None and "event" in message.json
        return message.json

    # Shorthands of the protocol.

    def load(self, model: str, values: Mapping[str, torch.Tensor], threads: int = 1, device: str = "cpu") -> dict:
        with memory_file(values) as file:
            return self.result("load", load_params(model, threads, device), {"tensors": file.fileno()})

    def compile(self, compiler: str, **options: object) -> int:
        return self.result("compile", {"compiler": compiler, "options": options})["handle"]

    def run(self, handle: int, name: str = "public") -> list[torch.Tensor]:
        with empty_file() as file:
            reply = self.result("run", {"handle": handle, "set": name}, {"outputs": file.fileno()})
            outputs = read_outputs(file.fileno())
            assert reply["outputs"] == len(outputs) and reply["duration_ns"] > 0
            return outputs


def load_params(model: str, threads: int = 1, device: str = "cpu") -> dict:
    return {"graph": {"hash": "0" * 64, "model": model}, "device": device, "threads": threads}


def empty_file():
    return open(os.memfd_create("outputs", os.MFD_CLOEXEC), "rb+", buffering=0)


def memory_file(values: Mapping[str, torch.Tensor]):
    """A file of named tensors, as the worker makes it."""
    file = empty_file()
    names = list(values)
    tensors.write_tensors(file.fileno(), [values[name] for name in names])
    length = int.from_bytes(os.pread(file.fileno(), 8, 0), "little")
    header = json.loads(os.pread(file.fileno(), length, 8))
    named = {names[int(key)] if key.isdigit() else key: entry for key, entry in header.items()}
    text = json.dumps(named).encode()
    text += b" " * (-(8 + len(text)) % tensors.ALIGNMENT)
    data = os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 8 + length)
    os.ftruncate(file.fileno(), 0)
    os.pwrite(file.fileno(), len(text).to_bytes(8, "little") + text + data, 0)
    return file


def read_outputs(fd: int) -> list[torch.Tensor]:
    mapped = tensors.map_tensors(fd)
    return [mapped[str(index)].clone() for index in range(len(mapped))]


class Runner(Peer):
    """A runner's process and the channel to it."""

    def __init__(self, *arguments: str, env: Mapping[str, str] | None = None, prefix: Sequence[str] = ()) -> None:
        super().__init__()
        requests, replies = (end.fileno() for end in self.theirs)
        high = [os.dup2(requests, 100), os.dup2(replies, 101)]
        script = 'exec 3<&100 4>&101 100<&- 101<&-; exec "$@"'
        command = ["/bin/bash", "-c", script, "bash", *prefix, sys.executable, "-m", "assay_runner", *arguments]
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **(env or {})}
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment, pass_fds=high, cwd="/")
        for fd in high:
            os.close(fd)
        self.handed_over()

    def fork(self) -> tuple[Peer, dict, int]:
        """A trial: its channel, what the parent said, and the pidfd."""
        peer = Peer()
        fds = {"requests": peer.theirs[0].fileno(), "replies": peer.theirs[1].fileno()}
        message = self.call("fork", {}, fds)
        assert "result" in message.json, message.json
        peer.handed_over()
        return peer, message.json["result"], message.take_fd("pidfd")

    def stop(self) -> None:
        self.channel.close()
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="session")
def toolchain_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tool chain's folder; ASSAY_TOOLCHAIN names one to use again."""
    folder = os.environ.get("ASSAY_TOOLCHAIN") or str(tmp_path_factory.mktemp("toolchain"))
    command = [sys.executable, "-m", "assay_runner", "--warm", folder]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=DEADLINE_S)
    return folder


@pytest.fixture(scope="session")
def start_runner() -> Iterator[Callable[..., Runner]]:
    runners: list[Runner] = []

    def start(*arguments: str, **how: object) -> Runner:
        runners.append(Runner(*arguments, **how))
        return runners[-1]

    yield start
    for runner in runners:
        runner.stop()


@pytest.fixture(scope="session")
def runner(start_runner: Callable[..., Runner], toolchain_folder: str) -> Runner:
    """A warm parent that many tests share."""
    return start_runner("--toolchain", toolchain_folder)


@pytest.fixture
def trial(runner: Runner) -> Iterator[Peer]:
    peer, reply, pidfd = runner.fork()
    yield peer
    peer.channel.close()
    event = runner.event()
    assert event == {"event": "exit", "child": reply["child"], "code": 0}
    os.close(pidfd)


def model(body: Sequence[str], **parameters: str) -> str:
    """The text of a model: statements, and its parameters' annotations."""
    arguments = "".join(f", {name}: {annotation}" for name, annotation in parameters.items())
    lines = ["import torch", "from torch import device", "class GraphModule(torch.nn.Module):", f"    def forward(self{arguments}):"]
    return "\n".join(lines + [f"        {line}" for line in body]) + "\n"
