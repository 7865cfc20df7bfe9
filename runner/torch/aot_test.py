# SPDX-License-Identifier: Apache-2.0
"""inductor-aot: what the Python runner lowers is what assay-runner-torch loads and runs."""

from __future__ import annotations

import json
import os
import pathlib

import pytest
import torch

import harness
from assay_runner import aot
from assay_runner.graph import Graph

# Names that Python or torch.export would like to change; a parameter that is written; a size that becomes a constant; outputs that are
# new, written, views of inputs, inputs, numbers, the same twice, and of several types.
MODEL = """import torch


class GraphModule(torch.nn.Module):
    def forward(self, input: torch.Tensor, W: torch.nn.parameter.Parameter, count: torch.Tensor, s0: torch.SymInt, list: torch.Tensor, self_x: torch.Tensor):
        v0 = torch._C._nn.linear(input, W, None)
        v1 = torch.nn.functional.relu(v0, inplace=True)
        count += 1
        v2 = v1.reshape(s0, -1)
        v3 = input[slice(0, 2, None)]
        v4 = v1 > list
        v5 = self_x.to(torch.bfloat16)
        v6 = v1.size(1)
        v7 = list - self_x
        v8 = v7.t()
        return (v1, count, v2, v3, v4, v5, v6, list, v8, v2)
"""
DIFFERENCE = """import torch


class GraphModule(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor):
        v0 = a - b
        return (v0,)
"""
RANDOM = """import torch


class GraphModule(torch.nn.Module):
    def forward(self, a: torch.Tensor):
        v0 = torch.nn.functional.dropout(a, 0.5, True, False)
        v1 = torch.randn(4, 6)
        v2 = v0 + v1
        return (v2,)
"""
DATA_DEPENDENT = """import torch


class GraphModule(torch.nn.Module):
    def forward(self, a: torch.Tensor):
        v0 = a.sum()
        v1 = v0.item()
        return (v1,)
"""


def values(seed: int = 0) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    drawn = {"input": (4, 8), "W": (6, 8), "list": (4, 6), "self_x": (4, 6)}
    tensors = {name: torch.randn(*shape, generator=generator) for name, shape in drawn.items()}
    return tensors | {"count": torch.tensor(3), "s0": torch.tensor(2)}


def lower(model: str, tensors: dict[str, torch.Tensor], folder: pathlib.Path, **options: object) -> bytes:
    variables = dict(os.environ)
    pristine = {name: value.clone() for name, value in tensors.items()}
    working = {name: value.clone() for name, value in tensors.items()}
    try:
        folder.mkdir()
        with torch.no_grad():
            graph = Graph(model, torch.device("cpu"), working, pristine)
            data = aot.lower(graph, "inductor-aot", options, str(folder)).data
    finally:
        os.environ.clear()
        os.environ.update(variables)
    assert all(harness.same_bits(working[name], pristine[name]) for name in tensors), "lowering leaves the inputs as they were"
    return data


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> bytes:
    return lower(MODEL, values(), tmp_path_factory.mktemp("aot") / "made")


def compile_package(trial, data: bytes) -> int:
    fd = harness.sealed(data)
    try:
        return trial.call("compile", {"compiler": "inductor-aot", "options": {}}, {"lowered": fd})[0]["handle"]
    finally:
        os.close(fd)


def close(got: list[torch.Tensor], wanted: list[torch.Tensor]) -> None:
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        torch.testing.assert_close(one, other)


def test_the_manifest_binds_by_name(package) -> None:
    manifest = json.loads(package[: package.index(b"\n")])
    assert sorted(manifest["inputs"]) == ["W", "count", "input", "list", "self_x"]
    assert manifest["constants"] == {"s0": 2}
    assert manifest["outputs"][6] == {"int": 6} and sum("tensor" in output for output in manifest["outputs"]) == 9


def test_outputs_of_every_kind_on_both_sets_and_again(trial, package) -> None:
    assert trial.load(MODEL, values())["mutated"] == ["count"]
    other = values(1)
    trial.inputs("s1", {"input": other["input"], "list": other["list"]})
    handle = compile_package(trial, package)
    eager = trial.compile("eager")
    mixed = values() | {"input": other["input"], "list": other["list"]}
    for name, tensors in (("public", values()), ("s1", mixed), ("public", values())):
        close(trial.run(handle, name), harness.reference(MODEL, tensors))
        assert trial.run(handle, name)[1].item() == 4, "what the graph writes is restored"
        close(trial.run(eager, name), harness.reference(MODEL, tensors))

    fd = harness.memory_file()
    params = {"handles": [eager, handle], "set": "s1", "order": [0, 1, 1, 0] * 3, "batch": [1, 1], "budget_ns": 0, "keep": 6}
    result, _ = trial.call("pair", params, {"outputs": fd})
    kept = harness.tensor_files.map_tensors(fd)
    os.close(fd)
    assert len(result["samples_ns"]) == 12 and result["recompiles"] == 0
    close([kept[str(i)] for i in range(len(kept))], harness.reference(MODEL, mixed))

    fd = harness.memory_file()
    size = trial.call("artifact", {"handle": handle, "name": "graph.txt"}, {"file": fd})[0]["bytes"]
    assert b"AOTInductorModel" in os.pread(fd, size, 0)
    os.close(fd)
    trial.call("release", {"handle": handle})
    close(trial.run(eager), harness.reference(MODEL, values()))


def test_a_set_with_another_size_is_refused(trial, package) -> None:
    trial.load(MODEL, values())
    trial.inputs("s1", {"s0": torch.tensor(4)})
    handle = compile_package(trial, package)
    with pytest.raises(harness.RunnerError, match="runtime_fail: .*is 4, and the package was made for 2"):
        trial.run(handle, "s1")
    close(trial.run(handle), harness.reference(MODEL, values()))


def test_the_names_decide_and_not_the_order(trial, tmp_path) -> None:
    tensors = {"a": torch.randn(3, 4), "b": torch.randn(3, 4)}
    data = lower(DIFFERENCE, tensors, tmp_path / "made", mode="max-autotune", **{"epilogue_fusion": False})
    trial.load(DIFFERENCE, tensors)
    close(trial.run(compile_package(trial, data)), [tensors["a"] - tensors["b"]])
    line, package = data.split(b"\n", 1)
    manifest = json.loads(line)
    manifest["inputs"] = [{"a": "b", "b": "a"}[name] for name in manifest["inputs"]]
    swapped = json.dumps(manifest).encode() + b"\n" + package
    close(trial.run(compile_package(trial, swapped)), [tensors["b"] - tensors["a"]])
    for bad, wanted in (
        ({"inputs": ["a", "c"]}, "has no parameter .c."),
        ({"inputs": None}, "no JSON object with inputs"),
        ({"constants": {"n": 3}}, "has no integer .n."),
        ({"outputs": [{"tensor": -1}]}, "an output is"),
    ):
        with pytest.raises(harness.RunnerError, match=f"bad_request: .*{wanted}"):
            compile_package(trial, json.dumps(json.loads(line) | bad).encode() + b"\n" + package)
    with pytest.raises(harness.RunnerError, match="compile_fail"):
        compile_package(trial, line + b"\nno package")
    with pytest.raises(harness.RunnerError, match="bad_request: inductor-aot needs the descriptor .lowered."):
        trial.call("compile", {"compiler": "inductor-aot"})


def test_random_numbers_are_eager_s(trial, tmp_path) -> None:
    tensors = {"a": torch.randn(4, 6)}
    data = lower(RANDOM, tensors, tmp_path / "made")
    trial.load(RANDOM, tensors)
    handle = compile_package(trial, data)
    for _ in range(2):
        close(trial.run(handle), harness.reference(RANDOM, tensors))


def test_what_export_cannot_take_is_said(tmp_path) -> None:
    with pytest.raises(Exception, match="AOTInductor returns tensors"):
        lower(DATA_DEPENDENT, {"a": torch.ones(3)}, tmp_path / "made")
