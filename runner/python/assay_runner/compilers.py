# SPDX-License-Identifier: Apache-2.0
"""The compilers that this runner offers, and a graph's compiled forms."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from unittest import mock

import torch
import torch._dynamo
import torch._inductor
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.graph import GraphLowering

from assay_runner import options as schemas
from assay_runner import toolchain
from assay_runner.errors import UNSUPPORTED, RunnerError
from assay_runner.graph import Graph, weights

EAGER = "eager-python"
INDUCTOR = "inductor"

_COMPILE_THREADS = 8  # at most


def describe(cuda: bool) -> list[dict[str, object]]:
    return [
        {"name": EAGER, "version": torch.__version__, "baseline": EAGER, "options": schemas.EAGER},
        {"name": INDUCTOR, "version": torch.__version__, "baseline": EAGER, "options": schemas.inductor(cuda)},
    ]


@dataclass
class Compiled:
    """One compiled form. `call` takes what `arguments(set)` gives."""

    call: Callable[..., object]
    arguments: Callable[[str], list[object]]
    compile_ns: int = 0
    peak_memory_bytes: int = 0
    artifacts: dict[str, bytes] = field(default_factory=dict)


class _Bound(torch.nn.Module):
    """The graph with its weights as parameters of the module: what Inductor's freezing looks for."""

    def __init__(self, graph: Graph, names: list[str]) -> None:
        super().__init__()
        self.inner = graph.module()
        values = graph.values("public")
        self.order = [(names.index(name) if name in names else -1) for name, _ in graph.parameters]
        self.weights = torch.nn.ParameterList(torch.nn.Parameter(values[name], requires_grad=False) for name in names)

    def forward(self, *inputs: object) -> object:
        rest = iter(inputs)
        return self.inner(*(self.weights[index] if index >= 0 else next(rest) for index in self.order))


def compile_graph(graph: Graph, compiler: str, options: object, folder: str) -> Compiled:
    """Compiles the graph, wholly: the first call is part of it. `folder` is empty and this compilation's own."""
    if compiler == EAGER:
        schemas.check(schemas.EAGER, options)
        start = time.perf_counter_ns()
        module = graph.module()
        return Compiled(module, graph.arguments, time.perf_counter_ns() - start, peak_memory(graph.device))
    if compiler == INDUCTOR:
        checked = schemas.check(schemas.inductor(graph.device.type == "cuda"), options)
        return _inductor(graph, checked, folder)
    raise RunnerError(UNSUPPORTED, f"there is no compiler {compiler!r}; compilers are {EAGER} and {INDUCTOR}")


def _inductor(graph: Graph, options: dict[str, object], folder: str) -> Compiled:
    toolchain.use_folder(folder)
    toolchain.use_folder(os.path.join(folder, "headers"), header=True)
    arguments: dict[str, object] = {"dynamic": options.pop("dynamic", None), "fullgraph": options.pop("fullgraph", False)}
    settings = torch._inductor.list_mode_options(options.pop("mode", "default")) | options
    module = graph.module()
    take = graph.arguments
    if settings.get("freezing"):
        frozen = [name for name in weights(graph.parameters) if name not in graph.mutated]
        module = _Bound(graph, frozen).eval()
        take = _without(graph, frozen)
    if graph.random:
        # Another stream of random numbers than eager's would make every comparison fail.
        settings.setdefault("fallback_random", True)
    settings["compile_threads"] = thread_count()
    codes: list[str] = []
    counters = torch._dynamo.utils.counters
    counters.clear()
    reset_peak_memory(graph.device)
    graph.restore("public")
    inputs = take("public")
    with compile_threads(), mock.patch.object(GraphLowering, "save_output_code", staticmethod(codes.append)):
        start = time.perf_counter_ns()
        call = torch.compile(module, backend="inductor", options=settings, **arguments)
        call(*inputs)
        _synchronise(graph.device)
        compile_ns = time.perf_counter_ns() - start
    peak = peak_memory(graph.device)
    graph.restore("public")
    artifacts = {
        "output_code.py": "\n\n".join(codes).encode(),
        "dynamo.json": json.dumps({name: dict(values) for name, values in counters.items()}, indent=1).encode(),
    }
    return Compiled(call, take, compile_ns, peak, artifacts)


def thread_count() -> int:
    """Threads that compile kernels."""
    return min(len(os.sched_getaffinity(0)), _COMPILE_THREADS)


@contextlib.contextmanager
def compile_threads() -> Iterator[None]:
    """Kernels are compiled by threads, each waiting for a C++ compiler, never by Inductor's pool of processes (which would import PyTorch
    again); none of the threads is left for the timed part."""
    with mock.patch.object(AsyncCompile, "use_process_pool", classmethod(lambda cls: False)):
        try:
            yield
        finally:
            if AsyncCompile.pool.cache_info().currsize:
                AsyncCompile.pool().shutdown()
                AsyncCompile.pool.cache_clear()


def _without(graph: Graph, names: list[str]) -> Callable[[str], list[object]]:
    hidden = set(names)
    public = graph.values("public")

    def take(set_name: str) -> list[object]:
        values = graph.values(set_name)
        if any(values[name] is not public[name] for name in hidden):
            raise RunnerError(UNSUPPORTED, f"the set {set_name} replaces weights that `freezing` has made constants")
        pairs = zip(graph.parameters, graph.arguments(set_name), strict=True)
        return [value for (name, _), value in pairs if name not in hidden]

    return take


def recompilations() -> int:
    """How often TorchDynamo has compiled a frame so far."""
    return torch._dynamo.utils.counters["frames"]["total"]


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def reset_peak_memory(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass  # the peak is then that of the process's whole life


def peak_memory(device: torch.device) -> int:
    """Of the device where it has memory of its own, else resident in this process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
