# SPDX-License-Identifier: Apache-2.0
"""The part of Inductor's C++ work that is the same for every graph: which vector instructions the compiler and the processor offer, and the
precompiled header of its kernels. It costs half a minute, so it is done once for a folder and found there again:

    DIR/IDENTITY/toolchain.json    the answers: {"isa": {key: true}, "headers": {key: "file"}}
    DIR/IDENTITY/headers/…         the precompiled headers

IDENTITY covers the versions of PyTorch, Python and the compiler, the processor's features and where they are installed. Compiled graphs are
never kept: each compilation of a trial has a cache of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile

import torch
import torch._dynamo
import torch._inductor.codecache as codecache
import torch._inductor.cpp_builder as cpp_builder
import torch._inductor.cpu_vec_isa as cpu_vec_isa
import torch._inductor.utils


class ToolchainError(Exception):
    """The tool chain's folder cannot be made."""


def _hash(*parts: object) -> str:
    return hashlib.sha256("\0".join(str(part) for part in parts).encode()).hexdigest()[:32]


def identity() -> str:
    """Equal where the folder's content may be shared."""
    compiler = cpp_builder.get_cpp_compiler()
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    features = ""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith(("flags", "Features", "model name")):
                features += line
            elif features and not line.strip():
                break
    return _hash(torch.__version__, torch.version.git_version, sys.version, torch.__file__, compiler, version, features, platform.machine())


class Toolchain:
    """One folder's answers, and where they are asked: Inductor's own two questions are answered from them."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder  # of this identity; None: nothing is known and nothing is kept
        self.answers: dict[str, dict[str, object]] = {"isa": {}, "headers": {}}
        self._learning = False
        self._check_build = cpu_vec_isa.VecISA.check_build
        self._precompile_header = codecache._precompile_header
        if folder is not None:
            with open(os.path.join(folder, "toolchain.json"), encoding="utf-8") as file:
                self.answers = json.load(file)

    def install(self) -> None:
        """Answers Inductor's questions in this process and in those forked from it."""
        cpu_vec_isa.VecISA.check_build = lambda isa, code: self._isa(isa, code)
        codecache._precompile_header = self._header

    def learn(self, folder: str) -> str:
        """Compiles a small graph and notes the answers. `folder` is not yet anybody's, and is returned."""
        self.folder, self._learning = folder, True
        self.install()
        os.makedirs(os.path.join(folder, "headers"))
        use_folder(os.path.join(folder, "headers"), header=True)
        warm_process()
        self._learning = False
        with open(os.path.join(folder, "toolchain.json"), "w", encoding="utf-8") as file:
            json.dump(self.answers, file, indent=1)
        return folder

    def _isa(self, isa: cpu_vec_isa.VecISA, code: str) -> bool:
        key = _hash(isa, isa.build_arch_flags(), isa.build_macro(), code)
        if key not in self.answers["isa"] or self._learning:
            self.answers["isa"][key] = self._check_build(isa, code)
        return bool(self.answers["isa"][key])

    def _header(self, header: str, hashable_cmd_line: str, **compile_command: object) -> str:
        key = _hash(header, hashable_cmd_line, sorted((name, str(value)) for name, value in compile_command.items()))
        if (name := self.answers["headers"].get(key)) is not None:
            return os.path.join(self.folder, "headers", name)
        path = self._precompile_header(header, hashable_cmd_line, **compile_command)
        if self._learning:
            self.answers["headers"][key] = os.path.relpath(path, os.path.join(self.folder, "headers"))
        return path


def use_folder(folder: str, *, header: bool = False) -> None:
    """What is compiled from here on goes to `folder`, and headers too where the tool chain has none."""
    if header:
        codecache._HEADER_DIR = folder
        codecache._HEADER_LOCK_DIR = os.path.join(folder, "locks")
    else:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
        torch._inductor.utils.clear_caches()


def _small_graph(x: torch.Tensor) -> torch.Tensor:
    return (x * 2 + 1).relu().sum()


def warm_process() -> None:
    """One small compilation, so that what Dynamo and Inductor load and build when first used is there before the first fork. Starts no thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="assay-warm-") as folder, torch.no_grad():
        use_folder(folder)
        torch.compile(_small_graph)(torch.ones(64, 64))
        torch._inductor.utils.clear_caches()
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch.set_num_threads(threads)
    del os.environ["TORCHINDUCTOR_CACHE_DIR"], os.environ["TRITON_CACHE_DIR"]


def warm(directory: str) -> str:
    """Makes sure that `directory` has the parts for this machine; their folder."""
    folder = os.path.join(os.path.abspath(directory), identity())
    if os.path.isfile(os.path.join(folder, "toolchain.json")):
        return folder
    try:
        os.makedirs(directory, exist_ok=True)
        making = tempfile.mkdtemp(prefix=".making-", dir=directory)
    except OSError as error:
        raise ToolchainError(f"cannot write to the tool chain's folder: {error}") from error
    try:
        # The name of a header is part of nothing that is kept, so the finished folder may be moved.
        Toolchain(None).learn(os.path.join(making, "parts"))
        os.chmod(os.path.join(making, "parts"), 0o755)
        try:
            os.rename(os.path.join(making, "parts"), folder)
        except OSError:
            if not os.path.isfile(os.path.join(folder, "toolchain.json")):  # else somebody was faster
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return folder


def find(directory: str) -> str | None:
    """The folder of this machine's parts; None where they were never made."""
    folder = os.path.join(os.path.abspath(directory), identity())
    return folder if os.path.isfile(os.path.join(folder, "toolchain.json")) else None
