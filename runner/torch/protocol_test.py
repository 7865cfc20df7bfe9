# SPDX-License-Identifier: Apache-2.0
"""assay-runner-torch over its real channel: every request, its errors, and what the graph changes."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
import torch

import harness
from harness import RUNNER

MODEL = """import torch


class GraphModule(torch.nn.Module):
    def forward(self, x: torch.Tensor, w: torch.nn.parameter.Parameter, count: torch.Tensor):
        v0 = torch._C._nn.linear(x, w, None)
        v1 = torch.nn.functional.relu(v0, inplace=True)
        count += 1
        return (v1, count)
"""
PURE = MODEL.replace("        count += 1\n", "")
RANDOM = PURE.replace("relu(v0, inplace=True)", "dropout(v0, 0.5, True, False)")


def values(seed: int = 0) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {"x": torch.randn(4, 8, generator=generator), "w": torch.randn(6, 8, generator=generator), "count": torch.tensor(3)}


def test_describe(runner, trial) -> None:
    for peer in (runner, trial):
        answer, _ = peer.call("describe")
        assert (answer["protocol"], answer["name"], answer["version"], answer["fork"]) == (1, "torch", torch.__version__.split("+")[0], True)
        assert answer["build"] and answer["devices"][0]["id"] == "cpu" and answer["devices"][0]["memory_bytes"] > 0
        assert [compiler["name"] for compiler in answer["compilers"]] == ["eager", "torchscript", "inductor-aot"]
        assert answer["compilers"][2]["lowered_by"] == "python"
        for compiler in answer["compilers"]:
            assert compiler["baseline"] == "eager" and compiler["options"]["additionalProperties"] is False
            assert all(option["type"] == "boolean" for option in compiler["options"]["properties"].values())
    assert [device["kind"] for device in answer["devices"]].count("cuda") == (torch.cuda.device_count() if torch.cuda.is_available() else 0)


def test_a_changed_parameter_is_restored_before_every_run(trial) -> None:
    assert trial.load(MODEL, values())["mutated"] == ["count"]
    for compiler in ("eager", "torchscript"):
        handle = trial.compile(compiler)
        for _ in range(3):
            assert trial.run(handle)[1].item() == 4


def test_input_sets(trial) -> None:
    trial.load(MODEL, values())
    other = values(1)
    trial.inputs("s1", {"x": other["x"]})
    handle = trial.compile("eager")
    mixed = values() | {"x": other["x"]}
    assert harness.difference(trial.run(handle, "s1"), harness.reference(MODEL, mixed)) is None
    assert harness.difference(trial.run(handle), harness.reference(MODEL, values())) is None
    trial.inputs("s1", {"x": values()["x"]})
    assert harness.difference(trial.run(handle, "s1"), harness.reference(MODEL, values())) is None


def pair(trial, params: dict, keep: bool = True) -> tuple[dict, list[torch.Tensor]]:
    fd = harness.memory_file()
    try:
        result, _ = trial.call("pair", params, {"outputs": fd} if keep else None)
        kept = harness.tensor_files.map_tensors(fd) if keep else {}
        return result, [kept[str(i)] for i in range(len(kept))]
    finally:
        os.close(fd)


@pytest.mark.parametrize("model", [MODEL, PURE, RANDOM])
def test_pair(trial, model: str) -> None:
    trial.load(model, values())
    handles = [trial.compile("eager"), trial.compile("torchscript")]
    order = [0, 1, 1, 0] * 3
    result, kept = pair(trial, {"handles": handles, "set": "public", "order": order, "batch": [1, 1], "budget_ns": 0, "keep": 5})
    assert len(result["samples_ns"]) == len(order) and all(ns > 0 for ns in result["samples_ns"])
    assert sum(result["samples_ns"]) <= result["wall_ns"] and result["recompiles"] == 0
    assert harness.difference(kept, harness.reference(model, values())) is None


def test_cold_caches(trial) -> None:
    trial.load(PURE, values())
    handles = [trial.compile("eager"), trial.compile("torchscript")]
    params = {"handles": handles, "set": "public", "order": [0, 1] * 3, "batch": [1, 1], "budget_ns": 0, "keep": 1}
    result, kept = pair(trial, params | {"cold": True})
    assert len(result["samples_ns"]) == 6 and harness.difference(kept, harness.reference(PURE, values())) is None
    # Reading megabytes takes longer than this graph, and is in no sample.
    assert result["wall_ns"] > 2 * sum(result["samples_ns"])
    with pytest.raises(harness.RunnerError, match="bad_request: `cold`"):
        pair(trial, params | {"cold": 1})


def test_the_budget_ends_at_an_even_number_of_samples(trial) -> None:
    trial.load(PURE, values())
    handle = trial.compile("eager")
    result, kept = pair(trial, {"handles": [handle], "set": "public", "order": [0] * 100, "batch": [3], "budget_ns": 1, "keep": 99})
    assert len(result["samples_ns"]) == 2
    assert kept == []
    result, _ = pair(trial, {"handles": [handle], "set": "public", "order": [0] * 4, "batch": [3], "budget_ns": 0}, keep=False)
    assert len(result["samples_ns"]) == 4


def test_artifact_profile_and_release(trial) -> None:
    trial.load(PURE, values())
    for compiler in ("eager", "torchscript"):
        result, _ = trial.call("compile", {"compiler": compiler, "options": {}})
        assert result["compile_ns"] > 0 and result["peak_memory_bytes"] > 0
        fd = harness.memory_file()
        size = trial.call("artifact", {"handle": result["handle"], "name": "graph.txt"}, {"file": fd})[0]["bytes"]
        text = os.pread(fd, size + 1, 0).decode()
        os.close(fd)
        assert len(text) == size == result["artifacts"][0]["bytes"] and "aten::linear" in text
    events = trial.call("profile", {"handle": 1, "set": "public"})[0]["events"]
    assert {event["name"]: event["calls"] for event in events} == {"aten::linear": 1, "aten::relu_": 1}
    trial.call("release", {"handle": 1})
    with pytest.raises(harness.RunnerError, match="bad_request: there is no handle 1"):
        trial.run(1)


@pytest.mark.parametrize(
    ("method", "params", "wanted"),
    [
        ("nonsense", {}, "bad_request: there is no method"),
        ("compile", {"compiler": "tvm"}, "bad_request: this runner has no compiler"),
        ("compile", {"compiler": "torchscript", "options": {"cpp.cxx": "sh"}}, "bad_request: torchscript has no option"),
        ("compile", {"compiler": "torchscript", "options": {"freeze": "yes"}}, "bad_request: option .freeze. is true or false"),
        ("compile", {"compiler": "eager", "options": {"freeze": True}}, "bad_request: eager has no options"),
        ("run", {"handle": 1, "set": "public"}, "bad_request: the request needs the descriptor"),
        ("run", {"handle": 1, "set": "s9"}, "bad_request: there is no input set"),
        ("run", {"handle": 7, "set": "public"}, "bad_request: there is no handle 7"),
        ("pair", {"handles": [1], "set": "public", "order": [1]}, "bad_request: `order`"),
        ("pair", {"handles": [1], "set": "public", "order": [0], "batch": [2]}, "bad_request: the graph changes its parameters"),
        ("profile", {"handle": 2, "set": "public"}, "unsupported: only eager"),
        ("load", {"graph": {"model": MODEL}, "device": "cpu"}, "bad_request: the request needs the descriptor"),
    ],
)
def test_bad_requests_change_nothing(trial, method: str, params: dict, wanted: str) -> None:
    trial.load(MODEL, values())
    handle = trial.compile("eager")
    trial.compile("torchscript")
    with pytest.raises(harness.RunnerError, match=wanted):
        trial.call(method, params)
    assert harness.difference(trial.run(handle), harness.reference(MODEL, values())) is None


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda m, v: (m, {k: t for k, t in v.items() if k != "w"}), 'bad_request: the tensors have no "w"'),
        (lambda m, v: (m, v | {"z": v["x"]}), 'bad_request: the graph takes no tensor "z"'),
        (lambda m, v: (m.replace("relu", "no_such_function"), v), "load_fail: .*no_such_function"),
        (lambda m, v: (m, v | {"w": torch.randn(6, 9)}), "load_fail: .*torch._C._nn.linear in line 6"),
        (lambda m, v: ("import os", v), "load_fail"),
    ],
)
def test_what_cannot_be_loaded(trial, change, wanted: str) -> None:
    model, tensors = change(MODEL, values())
    with pytest.raises(harness.RunnerError, match=wanted):
        trial.load(model, tensors)
    with pytest.raises(harness.RunnerError, match="bad_request: no graph is loaded"):
        trial.compile("eager")
    trial.load(MODEL, values())
    trial.compile("eager")


def test_a_device_that_is_not_there(trial) -> None:
    fd = harness.tensor_file(values())
    with pytest.raises(harness.RunnerError, match="unsupported: this runner has no device"):
        trial.call("load", {"graph": {"model": MODEL}, "device": "tpu", "threads": 1}, {"tensors": fd})
    os.close(fd)


def test_tensors_that_are_not_sealed_are_refused(trial) -> None:
    fd = harness.memory_file()
    os.write(fd, b"\x02\0\0\0\0\0\0\0{}" + bytes(118))
    with pytest.raises(harness.RunnerError, match="bad_request: .*seal"):
        trial.call("load", {"graph": {"model": MODEL}, "device": "cpu"}, {"tensors": fd})
    os.close(fd)


def test_out_of_memory_has_a_class_of_its_own(trial) -> None:
    model = PURE.replace("v0 = torch._C._nn.linear(x, w, None)", "v0 = x.repeat(1000000, 1000000)")
    with pytest.raises(harness.RunnerError, match="out_of_memory"):
        trial.load(model, values())


def test_the_worker_s_tensors_are_never_written(trial) -> None:
    tensors = values()
    fd = harness.tensor_file(tensors)
    before = os.pread(fd, 1 << 20, 0)
    trial.call("load", {"graph": {"model": MODEL}, "device": "cpu", "threads": 1}, {"tensors": fd})
    trial.run(trial.compile("eager"))
    assert os.pread(fd, 1 << 20, 0) == before
    os.close(fd)


def test_a_trial_s_end_leaves_the_others_alone(runner) -> None:
    first, second = runner.trial(), runner.trial()
    for trial in (first, second):
        trial.load(MODEL, values())
    first.call("close")
    first.close()
    assert trial.run(second.compile("eager"))[1].item() == 4
    second.close()
    third = runner.trial()
    third.load(PURE, values())
    third.close()


def test_started_by_hand_it_says_what_it_is() -> None:
    if not RUNNER.exists():
        pytest.skip(f"{RUNNER} is not built")
    done = subprocess.run([RUNNER], capture_output=True, text=True, stdin=subprocess.DEVNULL, close_fds=True, check=False)
    assert done.returncode == 2 and "runner protocol" in done.stderr


def test_it_ends_when_its_channel_does() -> None:
    if not RUNNER.exists():
        pytest.skip(f"{RUNNER} is not built")
    process = harness.Runner(RUNNER)
    process.call("describe")
    process.close()
    assert process.process.wait(timeout=60) == 0
    assert process.process.returncode != -signal.SIGKILL
