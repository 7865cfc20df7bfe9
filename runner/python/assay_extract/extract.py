# SPDX-License-Identifier: Apache-2.0
"""Captures what TorchDynamo sees of a module and writes it as samples."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch

from assay_extract.describe import DescribeError, describe
from assay_extract.source import SourceError, lift_constants, source


FILES = ("model.py", "weight_meta.py", "input_meta.py", "graph_net.json")  # of a sample


class ExtractError(Exception):
    """Why no sample could be written."""


@dataclass
class _Captured:
    graph_module: torch.fx.GraphModule
    lifted: dict[str, torch.Tensor] = field(default_factory=dict)
    inputs: list[object] | None = None  # of the first call, copied before it
    outputs: list[object] = field(default_factory=list)
    rng: torch.Tensor | None = None


class _Capture:
    """A TorchDynamo backend that runs each graph as it is and remembers what went in."""

    def __init__(self) -> None:
        self.graphs: list[_Captured] = []

    def __call__(self, graph_module: torch.fx.GraphModule, example_inputs: Sequence[object]):
        captured = _Captured(graph_module)
        self.graphs.append(captured)

        def call(*inputs: object) -> object:
            if captured.inputs is not None:
                return graph_module(*inputs)
            captured.inputs = [_copy(value) for value in inputs]
            captured.rng = torch.get_rng_state()
            outputs = graph_module(*inputs)
            captured.outputs = [_copy(value) for value in outputs]
            return outputs

        return call


def _copy(value: object) -> object:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def extract(
    module: torch.nn.Module,
    inputs: Sequence[object] | Mapping[str, object],
    directory: str | os.PathLike[str],
    *,
    name: str | None = None,
    dynamic: bool = False,
    fullgraph: bool = False,
    force: bool = False,
) -> list[str]:
    """Writes the sample, or one for each graph that TorchDynamo made, and returns their folders.

    `directory` must be empty or not be there; with `force` the samples in it go, one of an earlier number of graphs too, and nothing else.

    `inputs` are forward()'s arguments: a sequence, or a mapping of keyword arguments. The module is captured in the mode that it is in
    (call `.eval()` yourself). Raises ExtractError.
    """
    if not force and os.path.isdir(directory) and os.listdir(directory):
        raise ExtractError(f"{os.fspath(directory)} is not empty: name another folder, or replace the samples in it with --force")
    capture = _Capture()
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(module, backend=capture, dynamic=dynamic, fullgraph=fullgraph)
    try:
        # Recurrent layers are one operator each; TorchDynamo breaks the graph there by default.
        with torch.no_grad(), torch._dynamo.config.patch(allow_rnn=True):
            if isinstance(inputs, Mapping):
                compiled(**inputs)
            else:
                compiled(*inputs)
    except torch._dynamo.exc.TorchDynamoException as error:
        raise ExtractError(f"TorchDynamo cannot capture {type(module).__name__}: {_first_lines(error)}") from error
    graphs = [graph for graph in capture.graphs if graph.inputs is not None]
    if not graphs:
        raise ExtractError(f"{type(module).__name__} runs no tensor operation that TorchDynamo captures{_breaks()}")
    name = name or type(module).__name__
    samples = []  # all of them are made before one is written
    for index, graph in enumerate(graphs):
        part = "" if len(graphs) == 1 else f"subgraph_{index}"
        try:
            files = _sample(graph, name if not part else f"{name}.{part}")
        except (SourceError, DescribeError) as error:
            raise ExtractError(f"{name}{'/' + part if part else ''}: {error}") from error
        samples.append((os.path.join(directory, part) if part else os.fspath(directory), files))
    _remove_samples(directory)
    for folder, files in samples:
        os.makedirs(folder, exist_ok=True)
        for file, text in files.items():
            with open(os.path.join(folder, file), "w", encoding="ascii") as out:
                out.write(text)
    return [folder for folder, _ in samples]


def _remove_samples(directory: str | os.PathLike[str]) -> None:
    """Removes the files of the samples that an earlier call has written, and their folders if nothing else is in them."""
    if not os.path.isdir(directory):
        return
    parts = [entry for entry in os.listdir(directory) if re.fullmatch(r"subgraph_\d+", entry)]
    for folder in [os.path.join(directory, part) for part in parts] + [os.fspath(directory)]:
        for file in FILES:
            if os.path.isfile(os.path.join(folder, file)):
                os.remove(os.path.join(folder, file))
        if folder != os.fspath(directory) and not os.listdir(folder):
            os.rmdir(folder)


def _breaks() -> str:
    """Why TorchDynamo gave up, where it did."""
    reasons = [" ".join(reason.split("\n\n")[0].split()) for reason in torch._dynamo.utils.counters["graph_break"]]
    return f": {'; '.join(reasons)}" if reasons else ""


def _sample(graph: _Captured, name: str) -> dict[str, str]:
    placeholders = [node.target for node in graph.graph_module.graph.nodes if node.op == "placeholder"]
    values = dict(zip(placeholders, graph.inputs))
    values |= {key: _copy(value) for key, value in lift_constants(graph.graph_module).items()}
    model, parameters = source(graph.graph_module.graph)
    _check(model, values, graph)
    blocks = []
    for parameter, annotation in parameters:
        value = values[parameter]
        if not isinstance(value, torch.Tensor):
            value = torch.tensor(int(value))
        blocks.append(describe(parameter, value, parameter=annotation.endswith("Parameter")))
    info = {
        "framework": "torch",
        "num_devices_required": 1,
        "num_nodes_required": 1,
        "model_name": name,
        "source": "assay-extract",
        "dynamic": any(annotation == "torch.SymInt" for _, annotation in parameters),
        "torch_version": torch.__version__.split("+")[0],
    }
    return {
        "model.py": model,
        "weight_meta.py": "\n\n".join(blocks),
        "input_meta.py": "",
        "graph_net.json": json.dumps(info, indent=4) + "\n",
    }


def _check(model: str, values: Mapping[str, object], graph: _Captured) -> None:
    """The text must do what the captured graph did."""
    namespace: dict[str, object] = {}
    exec(compile(model, "model.py", "exec"), namespace)  # noqa: S102: it is our own text
    torch.set_rng_state(graph.rng)
    with torch.no_grad():
        outputs = namespace["GraphModule"]().forward(**{key: _copy(value) for key, value in values.items()})
    for index, (got, wanted) in enumerate(zip(outputs, graph.outputs, strict=True)):
        if isinstance(wanted, torch.Tensor) and not torch.allclose(got.double(), wanted.double(), 1e-3, 1e-5, equal_nan=True):
            raise SourceError(f"the written text gives another output {index} than the module")


def _first_lines(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:6]) or type(error).__name__
