# SPDX-License-Identifier: Apache-2.0
"""Drives assay-runner-torch as the worker does, and runs the same model text in Python for comparison.

Used by differential_test.py and tools/equality.py.
"""

from __future__ import annotations

import ast
import fcntl
import json
import math
import os
import pathlib
import re
import select
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD_DIR", ROOT / "build" / "release"))
RUNNER = BUILD / "runner" / "torch" / "assay-runner-torch"
sys.path.insert(0, str(ROOT / "runner" / "python"))

from assay_runner import tensors as tensor_files  # noqa: E402
from assay_runner.channel import Channel  # noqa: E402

SEED = 0  # what the runner seeds its generator with before a run


class RunnerError(Exception):
    """An error reply, or the end of the runner."""

    def __init__(self, error_class: str, message: str) -> None:
        super().__init__(f"{error_class}: {message}")
        self.error_class = error_class
        self.message = message


class Peer:
    """The worker's end of one channel."""

    def __init__(self) -> None:
        pairs = [socket.socketpair() for _ in range(2)]
        self.theirs = [pairs[0][1], pairs[1][1]]
        self._channel = Channel(os.dup(pairs[1][0].fileno()), os.dup(pairs[0][0].fileno()))
        pairs[0][0].close()
        pairs[1][0].close()
        self._id = 0

    def handed_over(self) -> None:
        for end in self.theirs:
            end.close()

    def call(self, method: str, params: Mapping | None = None, fds: Mapping[str, int] | None = None, timeout: float = 600):
        """(result, message); error replies are raised."""
        self._id += 1
        request = {"id": self._id, "method": method, "params": params or {}}
        if fds:
            request["fds"] = list(fds)
        try:
            self._channel.write(request, list((fds or {}).values()))
            while True:
                while (message := self._channel.pending()) is None:
                    if not select.select([self._channel], [], [], timeout)[0]:
                        raise RunnerError("timeout", f"no answer to {method} in {timeout} s")
                    if not self._channel.receive():
                        raise RunnerError("crash", f"the runner ended while it served {method}")
                if "event" not in message.json:
                    break
        except (BrokenPipeError, ConnectionResetError) as error:
            raise RunnerError("crash", f"the runner ended before {method}: {error}") from None
        if "error" in message.json:
            raise RunnerError(message.json["error"]["class"], message.json["error"]["message"])
        return message.json["result"], message

    def close(self) -> None:
        self._channel.close()


def memory_file() -> int:
    return os.memfd_create("assay", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def tensor_file(values: Mapping[str, torch.Tensor]) -> int:
    """A sealed memory file of named tensors, each at a multiple of 64 bytes."""
    header: dict[str, object] = {}
    position = 0
    placed = []
    for name, tensor in values.items():
        if hole := -position % tensor_files.ALIGNMENT:
            header[f"{tensor_files.PADDING}{len(header)}"] = {"dtype": "U8", "shape": [hole], "data_offsets": [position, position + hole]}
            position += hole
        size = tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": tensor_files._NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [position, position + size],
        }
        placed.append((position, tensor.contiguous()))
        position += size
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % tensor_files.ALIGNMENT)
    fd = memory_file()
    os.ftruncate(fd, 8 + len(text) + position)
    tensor_files._write(fd, len(text).to_bytes(8, "little") + text, 0)
    for offset, tensor in placed:
        if tensor.numel():
            raw = tensor.reshape(-1).view(torch.uint8).numpy()
            tensor_files._write(fd, memoryview(raw), 8 + len(text) + offset)
    _seal(fd)
    return fd


def _seal(fd: int) -> None:
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)


def sealed(data: bytes) -> int:
    """A sealed memory file of these bytes."""
    fd = memory_file()
    tensor_files.write_bytes(fd, data)
    _seal(fd)
    return fd


class Trial(Peer):
    """A forked child of the runner."""

    def load(self, model: str, values: Mapping[str, torch.Tensor], threads: int = 1) -> dict:
        fd = tensor_file(values)
        try:
            return self.load_file(model, fd, threads)
        finally:
            os.close(fd)

    def load_file(self, model: str, fd: int, threads: int = 1) -> dict:
        """`fd` stays the caller's."""
        graph = {"hash": "", "model": model}
        return self.call("load", {"graph": graph, "device": "cpu", "threads": threads}, {"tensors": fd})[0]

    def inputs(self, name: str, values: Mapping[str, torch.Tensor]) -> None:
        fd = tensor_file(values)
        try:
            self.call("inputs", {"set": name}, {"tensors": fd})
        finally:
            os.close(fd)

    def compile(self, compiler: str, options: Mapping | None = None) -> int:
        return self.call("compile", {"compiler": compiler, "options": options or {}})[0]["handle"]

    def run(self, handle: int, name: str = "public") -> list[torch.Tensor]:
        fd = memory_file()
        try:
            result, _ = self.call("run", {"handle": handle, "set": name}, {"outputs": fd})
            if result["outputs"] == 0:
                return []
            mapped = tensor_files.map_tensors(fd)
            return [mapped[str(i)] for i in range(result["outputs"])]
        finally:
            os.close(fd)


class Runner(Peer):
    """The runner's process."""

    def __init__(self, executable: str | os.PathLike[str]) -> None:
        super().__init__()
        # Copies above 4, so that neither is overwritten before it is used.
        high = [fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, 64) for end in self.theirs]

        def place() -> None:
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen([os.fspath(executable)], close_fds=False, preexec_fn=place)
        for fd in high:
            os.close(fd)
        self.handed_over()

    def trial(self) -> Trial:
        trial, pidfd = self.killable_trial()
        os.close(pidfd)
        return trial

    def killable_trial(self) -> tuple[Trial, int]:
        """With the pidfd of its process, which the caller closes."""
        trial = Trial()
        _, message = self.call("fork", fds={"requests": trial.theirs[0].fileno(), "replies": trial.theirs[1].fileno()})
        pidfd = message.take_fd("pidfd")
        message.close()
        trial.handed_over()
        return trial, pidfd

    def end(self) -> int:
        self.call("close")
        return self.process.wait(timeout=60)


def parameters_of(model: str) -> list[str]:
    """The names of forward()'s parameters, in order. (Assay's print has them on lines of their own or on one.)"""
    header = model[model.index("def forward(") : model.index("):", model.index("def forward("))]
    return re.findall(r"(\w+)\s*:\s*torch\.", header)


def reference(model: str, values: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
    """What Python gives for the same text. `values` are left as they are."""
    return consuming_reference(model, {name: value.clone() for name, value in values.items()})


def consuming_reference(model: str, values: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
    """The same, where `values` may change."""
    namespace: dict[str, object] = {"__name__": "assay_model"}
    exec(compile(model, "model.py", "exec"), namespace)  # noqa: S102: text that Assay printed
    arguments = [values[name] for name in parameters_of(model)]
    torch.manual_seed(SEED)
    with torch.no_grad():
        outputs = namespace["GraphModule"]().forward(*arguments)
    return [tensor_files.as_tensor(value, i).detach().clone() for i, value in enumerate(outputs)]


def same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Equal dtype, shape and bytes; any NaN equals any other."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if not left.numel():
        return True
    a, b = left.resolve_conj().contiguous(), right.resolve_conj().contiguous()
    raw = [t.reshape(-1).view(torch.uint8) for t in (a, b)]
    if torch.equal(*raw):
        return True
    if not (left.is_floating_point() or left.is_complex()):
        return False
    a, b = a.reshape(-1), b.reshape(-1)
    if a.is_complex():
        a, b = torch.view_as_real(a).reshape(-1), torch.view_as_real(b).reshape(-1)
    both = torch.isnan(a) & torch.isnan(b)
    size = a.element_size()
    return bool((both | (a.view(torch.uint8).reshape(-1, size) == b.view(torch.uint8).reshape(-1, size)).all(1)).all())


def difference(got: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> str | None:
    """None where all are equal bit for bit, else what differs."""
    if len(got) != len(wanted):
        return f"{len(got)} outputs instead of {len(wanted)}"
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if same_bits(a, b):
            continue
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"output {i} is {a.dtype}{list(a.shape)} instead of {b.dtype}{list(b.shape)}"
        wide = torch.complex128 if a.is_complex() else torch.float64
        worst = (a.to(wide) - b.to(wide)).abs().nan_to_num(float("inf")).max().item()
        return f"output {i} differs by up to {worst:.3g} (largest value {b.to(wide).abs().nan_to_num(0).max().item():.3g})"
    return None


def metas(text: str) -> list[dict[str, object]]:
    """The classes of weight_meta.py as dictionaries; nothing is executed."""
    result = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            fields = {}
            for statement in node.body:
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    fields[statement.targets[0].id] = _literal(statement.value)
            result.append(fields)
    return result


def _literal(node: ast.expr) -> object:
    if isinstance(node, ast.Call):  # float("nan")
        return float(ast.literal_eval(node.args[0]))
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, (ast.Name, ast.Call)):
        return -float(_literal(node.operand))
    if isinstance(node, ast.Name):
        return float(node.id)
    if isinstance(node, ast.List):
        return [_literal(item) for item in node.elts]
    return ast.literal_eval(node)


def tensor(meta: dict[str, object], seed: int) -> torch.Tensor:
    """A tensor that fits its description; the same one for the same seed."""
    dtype = getattr(torch, str(meta["dtype"]).removeprefix("torch."))
    shape = tuple(meta.get("shape") or ())
    low, high, data = meta.get("min_val"), meta.get("max_val"), meta.get("data")
    generator = torch.Generator().manual_seed(seed)
    integral = not (dtype.is_floating_point or dtype.is_complex or dtype == torch.bool)
    if integral and low is not None and high is not None:
        return torch.randint(int(low), int(high) + 1, shape, generator=generator, dtype=torch.int64).to(dtype)
    if data is not None:
        return torch.tensor(data, dtype=dtype).reshape(shape)
    std, mean = meta.get("std"), meta.get("mean")
    std, mean = 0.1 if std is None else float(std), 0.0 if mean is None else float(mean)
    normal = torch.randn(shape, generator=generator)
    if dtype == torch.bool:
        return normal > 0.5
    values = normal * (std * 0.2) + mean if std and math.isfinite(std) else torch.full(shape, mean)
    if low is not None or high is not None:
        values = values.clamp(low, high)
    return torch.where(torch.isfinite(values), values, normal * 0.01).clamp(-100, 100).to(dtype)


def inputs(folder: pathlib.Path, names: list[str]) -> dict[str, torch.Tensor]:
    found = {}
    for meta in metas((folder / "weight_meta.py").read_text()):
        for key in {meta.get("name"), meta.get("original_name")}:
            if key in names:
                found.setdefault(key, meta)
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"weight_meta.py does not describe {missing[0]}")
    return {name: tensor(found[name], i) for i, name in enumerate(names)}
