# SPDX-License-Identifier: Apache-2.0
"""Lowers graphs for another runner: torch.export, then a package of AOTInductor that is called without Python.

What `lower` writes is one line of JSON and, behind it, the package:

    {"inputs": ["x", "w"], "constants": {"n": 4}, "outputs": [{"tensor": 0}, {"int": 4}]}

`inputs` are the graph's parameters in the order in which the package takes its tensors. `constants` are the parameters that became part
of the code, with the value that they must have. `outputs` are the graph's: a tensor of the package's results by its index, or a number or
boolean that does not depend on the inputs (a float as Python's float.hex() writes it).
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass

import torch
import torch._inductor
import torch.export

from assay_runner import compilers, toolchain
from assay_runner import options as schemas
from assay_runner.errors import COMPILE_FAIL, INTERNAL, UNSUPPORTED, RunnerError
from assay_runner.graph import SYMINT, Graph

INDUCTOR_AOT = "inductor-aot"

# The package's tensors are keyword arguments of forward() with this name and a number: torch.export makes names of its own where a graph's
# names collide with Python's or with each other, and of these it has no reason to.
_TENSOR = "tensor"


def describe(cuda: bool, source: str) -> list[dict[str, object]]:
    """`source` identifies this package's own text, which decides what is made as much as PyTorch's version does."""
    version = f"{torch.__version__}{'.' if '+' in torch.__version__ else '+'}{source[:8]}"
    return [{"name": INDUCTOR_AOT, "version": version, "options": schemas.inductor_aot(cuda)}]


@dataclass
class Lowered:
    data: bytes
    lower_ns: int
    peak_memory_bytes: int


class _Outputs:
    """What the newest call returned. Not an attribute of the module itself: torch.export puts those back."""

    def __init__(self) -> None:
        self.told: list[dict[str, object]] = []


class _Exported(torch.nn.Module):
    """The graph as torch.export is to see it: tensors in, its numbers constants, tensors out."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        values = graph.values("public")
        self.inner = graph.module()
        self.names = [name for name, _ in graph.parameters]
        # A size, as TorchDynamo saw it: a number. As a tensor it would give the package sizes that are known when it runs only.
        self.constants = {name: int(values[name]) for name, annotation in graph.parameters if annotation == SYMINT}
        self.keys = {name: f"{_TENSOR}_{index}" for index, name in enumerate(self.names) if name not in self.constants}
        self.outputs = _Outputs()

    def forward(self, **tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = self.inner(*(self.constants[name] if name in self.constants else tensors[self.keys[name]] for name in self.names))
        values = result if isinstance(result, (tuple, list)) else (result,)
        told: list[dict[str, object]] = []
        kept: list[torch.Tensor] = []
        for index, value in enumerate(values):
            if isinstance(value, torch.Tensor):
                told.append({"tensor": len(kept)})
                kept.append(value)
            elif isinstance(value, bool):
                told.append({"bool": value})
            elif isinstance(value, int):
                told.append({"int": value})
            elif isinstance(value, float):
                told.append({"float": value.hex()})
            else:
                raise RunnerError(COMPILE_FAIL, f"output {index} is a {type(value).__name__}: AOTInductor returns tensors, and numbers only where no input decides them")
        self.outputs.told = told
        return tuple(kept)


def lower(graph: Graph, compiler: str, options: object, folder: str) -> Lowered:
    """The graph's package. `folder` is empty and this compilation's own."""
    if compiler != INDUCTOR_AOT:
        raise RunnerError(UNSUPPORTED, f"this runner does not lower for {compiler!r}, only for {INDUCTOR_AOT}")
    settings = _settings(schemas.check(schemas.inductor_aot(graph.device.type == "cuda"), options), graph.random)
    toolchain.use_folder(folder)
    toolchain.use_folder(os.path.join(folder, "headers"), header=True)
    compilers.reset_peak_memory(graph.device)
    graph.restore("public")
    module = _Exported(graph).eval()
    values = graph.values("public")
    file = os.path.join(folder, "model.pt2")
    try:
        with compilers.compile_threads():
            start = time.perf_counter_ns()
            program = torch.export.export(module, (), {key: values[name] for name, key in module.keys.items()}, strict=False)
            inputs = _inputs(program, module)
            torch._inductor.aoti_compile_and_package(program, package_path=file, inductor_configs=settings)
            lower_ns = time.perf_counter_ns() - start
    finally:
        graph.restore("public")
    manifest = {"inputs": inputs, "constants": module.constants, "outputs": module.outputs.told}
    with open(file, "rb") as package:
        data = json.dumps(manifest, separators=(",", ":")).encode() + b"\n" + package.read()
    return Lowered(data, lower_ns, compilers.peak_memory(graph.device))


def _settings(options: dict[str, object], random: bool) -> dict[str, object]:
    # There are no CUDA graphs in a package.
    mode = options.pop("mode", "default")
    settings = torch._inductor.list_mode_options("max-autotune-no-cudagraphs" if mode == "max-autotune" else mode) | options
    if random:
        settings.setdefault("fallback_random", True)  # as for `inductor`
    settings["compile_threads"] = compilers.thread_count()
    # The process that loads the package has LibTorch already, and its own idea of where that is.
    settings["aot_inductor.link_libtorch"] = False
    # One file is compiled: a precompiled header costs more than it saves.
    settings["aot_inductor.precompile_headers"] = False
    return settings


def _inputs(program: torch.export.ExportedProgram, module: _Exported) -> list[str]:
    """The parameters in the order of the package's tensors, which is that of the signature and not that of the call."""
    parameters = {key: name for name, key in module.keys.items()}
    taken = program.graph_signature.user_inputs
    if sorted(taken) != sorted(parameters):
        raise RunnerError(INTERNAL, f"torch.export names the inputs {taken}, and {sorted(parameters)} were expected")
    return [parameters[name] for name in taken]
