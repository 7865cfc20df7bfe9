# SPDX-License-Identifier: Apache-2.0
"""The protocol against the real runner: a parent, and a forked trial for each test."""

import json
import os

import jsonschema
import pytest
import torch

from assay_runner.conftest import empty_file, load_params, memory_file, model, read_outputs

P, T = "torch.nn.parameter.Parameter", "torch.Tensor"
LINEAR = model(
    ["y = torch._C._nn.linear(x, w, b)", "z = torch.nn.functional.relu(y)", "n = z.sum(dim = 1)", "return (z, n)"], x=T, w=P, b=P
)
IN_PLACE = model(["x += 1", "y = x * w", "return (y,)"], x=T, w=P)


@pytest.fixture
def values():
    generator = torch.Generator().manual_seed(1)
    return {name: torch.randn(*shape, generator=generator) for name, shape in (("x", (4, 8)), ("w", (16, 8)), ("b", (16,)))}


def expected(values):
    y = torch.relu(torch.nn.functional.linear(values["x"], values["w"], values["b"]))
    return [y, y.sum(1)]


def close(got, wanted):
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted):
        torch.testing.assert_close(one, other)


def test_describe(runner):
    said = runner.result("describe")
    assert said["protocol"] == 1 and said["fork"] is True and said["name"] == "python"
    assert [compiler["name"] for compiler in said["compilers"]] == ["eager-python", "inductor"]
    for compiler in said["compilers"]:
        assert compiler["baseline"] == "eager-python"
        jsonschema.Draft202012Validator.check_schema(compiler["options"])
        assert compiler["options"]["additionalProperties"] is False
    assert said["devices"][0]["kind"] == "cpu" and said["devices"][0]["memory_bytes"] > 0
    assert {"load", "inputs", "compile", "run", "pair", "artifact", "release", "close", "fork"} <= set(said["methods"])
    assert torch.__version__ in said["build"]
    # Another runner's compiler: `lower` is nothing that this runner's own compilers need.
    (lowers,) = said["lowers"]
    assert lowers["name"] == "inductor-aot" and lowers["version"].startswith(torch.__version__) and "lower" not in said["methods"]
    jsonschema.Draft202012Validator.check_schema(lowers["options"])
    assert {"mode", "epilogue_fusion"} <= lowers["options"]["properties"].keys()
    assert not {"dynamic", "fullgraph", "freezing"} & lowers["options"]["properties"].keys()


def test_the_parent_serves_no_graph(runner):
    assert runner.error("load", load_params(LINEAR))["class"] == "bad_request"
    assert runner.error("fork")["class"] == "bad_request"


def test_one_trial_from_load_to_close(trial, values):
    assert trial.result("describe")["version"] == torch.__version__
    loaded = trial.load(LINEAR, values)
    assert loaded["mutated"] == [] and loaded["load_ns"] > 0
    eager = trial.compile("eager-python")
    compiled = trial.result("compile", {"compiler": "inductor", "options": {}})
    inductor = compiled["handle"]
    assert compiled["compile_ns"] > 1_000_000 and compiled["peak_memory_bytes"] > 0
    close(trial.run(eager), expected(values))
    close(trial.run(inductor), expected(values))

    other = {"x": torch.randn(4, 8)}
    with memory_file(other) as file:
        assert trial.result("inputs", {"set": "s1"}, {"tensors": file.fileno()}) == {}
    for handle in (eager, inductor):
        close(trial.run(handle, "s1"), expected(values | other))
        close(trial.run(handle), expected(values))

    order = [0, 1, 1, 0] * 5
    request = {"handles": [eager, inductor], "set": "s1", "order": order, "batch": [3, 2], "budget_ns": 0, "keep": 6}
    with empty_file() as file:
        pair = trial.result("pair", request, {"outputs": file.fileno()})
        close(read_outputs(file.fileno()), expected(values | other))
    assert len(pair["samples_ns"]) == 20 and min(pair["samples_ns"]) > 0 and pair["recompiles"] == 0
    assert pair["wall_ns"] >= sum(pair["samples_ns"]) and "device_ns" not in pair

    artifacts = {artifact["name"]: artifact["bytes"] for artifact in compiled["artifacts"]}
    with empty_file() as file:
        reply = trial.result("artifact", {"handle": inductor, "name": "output_code.py"}, {"file": file.fileno()})
        text = os.pread(file.fileno(), 1 << 20, 0).decode()
    assert reply["bytes"] == len(text.encode()) == artifacts["output_code.py"] and "async_compile" in text
    with empty_file() as file:
        trial.result("artifact", {"handle": inductor, "name": "dynamo.json"}, {"file": file.fileno()})
        assert json.loads(os.pread(file.fileno(), 1 << 20, 0))["stats"]["unique_graphs"] == 1

    events = trial.result("profile", {"handle": eager, "set": "public"})["events"]
    assert "aten::addmm" in [event["name"] for event in events]
    assert [event["total_ns"] for event in events] == sorted((event["total_ns"] for event in events), reverse=True)

    assert trial.result("release", {"handle": inductor}) == {}
    assert trial.error("run", {"handle": inductor, "set": "public"})["class"] == "bad_request"
    close(trial.run(eager), expected(values))
    assert trial.result("close") == {}


def test_cold_caches(trial, values):
    trial.load(LINEAR, values)
    handle = trial.compile("eager-python")
    request = {"handles": [handle], "set": "public", "order": [0] * 4, "batch": [1]}
    cold = trial.result("pair", request | {"cold": True})
    assert len(cold["samples_ns"]) == 4
    # Reading megabytes takes longer than this graph, and is in no sample.
    assert cold["wall_ns"] > 2 * sum(cold["samples_ns"])
    assert "cold" in trial.error("pair", request | {"cold": "yes"})["message"]


def test_a_spent_budget_keeps_nothing_of_a_sample_that_was_not_taken(trial, values):
    trial.load(LINEAR, values)
    handle = trial.compile("eager-python")
    request = {"handles": [handle], "set": "public", "order": [0] * 100, "batch": [1], "budget_ns": 1, "keep": 99}
    with empty_file() as file:
        assert len(trial.result("pair", request, {"outputs": file.fileno()})["samples_ns"]) == 2
        assert read_outputs(file.fileno()) == []


def test_every_sample_of_a_mutating_graph_starts_fresh(trial):
    values = {"x": torch.zeros(3), "w": torch.full((3,), 2.0)}
    assert trial.load(IN_PLACE, values)["mutated"] == ["x"]
    handles = [trial.compile("eager-python"), trial.compile("inductor")]
    for handle in handles + handles:
        assert trial.run(handle)[0].tolist() == [2, 2, 2]
    request = {"handles": handles, "set": "public", "order": [0, 1, 1, 0], "batch": [1, 1], "budget_ns": 0, "keep": 3}
    with empty_file() as file:
        trial.result("pair", request, {"outputs": file.fileno()})
        assert read_outputs(file.fileno())[0].tolist() == [2, 2, 2]
    refused = trial.error("pair", request | {"batch": [1, 4]}, None)
    assert refused["class"] == "bad_request" and "batch must be 1" in refused["message"]


def test_the_input_file_is_never_changed(trial):
    with memory_file({"x": torch.zeros(3), "w": torch.ones(3)}) as file:
        before = os.pread(file.fileno(), 1 << 16, 0)
        trial.result("load", load_params(IN_PLACE), {"tensors": file.fileno()})
        trial.run(trial.compile("eager-python"))
        assert os.pread(file.fileno(), 1 << 16, 0) == before


def test_numbers_as_outputs(trial):
    trial.load(model(["n = x.size(0)", "f = x.sum().item()", "return (n, f, True)"], x=T), {"x": torch.ones(3)})
    outputs = trial.run(trial.compile("eager-python"))
    assert [output.dtype for output in outputs] == [torch.int64, torch.float64, torch.bool]
    assert [output.item() for output in outputs] == [3, 3.0, True]


def test_options_reach_inductor(trial, values):
    trial.load(LINEAR, values)
    every = {
        "mode": "max-autotune", "dynamic": False, "fullgraph": True, "freezing": True, "epilogue_fusion": False, "aggressive_fusion": True,
        "pattern_matcher": False, "coordinate_descent_tuning": False, "layout_optimization": False, "loop_ordering_after_fusion": False,
        "shape_padding": False, "split_reductions": False, "emulate_precision_casts": True, "fallback_random": True, "max_fusion_size": 2,
        "cpp.min_chunk_size": 1, "cpp.max_horizontal_fusion_size": 1, "cpp.weight_prepack": False, "cpp.enable_loop_tail_vec": False,
        "cpp.enable_unsafe_math_opt_flag": False, "cpp.enable_floating_point_contract_flag": "off",
    }  # fmt: skip
    schema = trial.result("describe")["compilers"][1]["options"]["properties"]
    assert schema.keys() - every.keys() == {"cpp.simdlen"}  # that one needs a header of its own: tested where it is compiled
    close(trial.run(trial.compile("inductor", **every)), expected(values))


def test_frozen_weights_stay_and_inputs_change(trial, values):
    trial.load(LINEAR, values)
    handle = trial.compile("inductor", freezing=True)
    other = {"x": torch.randn(4, 8)}
    with memory_file(other) as file:
        trial.result("inputs", {"set": "s1"}, {"tensors": file.fileno()})
    close(trial.run(handle, "s1"), expected(values | other))
    with memory_file({"w": torch.randn(16, 8)}) as file:
        trial.result("inputs", {"set": "s2"}, {"tensors": file.fileno()})
    with empty_file() as file:
        assert trial.error("run", {"handle": handle, "set": "s2"}, {"outputs": file.fileno()})["class"] == "unsupported"


@pytest.mark.parametrize(
    "request_, error_class, words",
    [
        ({"compiler": "gcc"}, "unsupported", "there is no compiler 'gcc'"),
        ({"compiler": "inductor", "options": {"cpp.cxx": "/bin/sh"}}, "unsupported", "no option 'cpp.cxx'"),
        ({"compiler": "inductor", "options": {"mode": "fastest"}}, "unsupported", "must be one of 'default'"),
        ({"compiler": "eager-python", "options": {"mode": "default"}}, "unsupported", "no option 'mode'"),
        ({"compiler": "inductor", "options": []}, "bad_request", "`options` is not of type dict"),
        ({}, "bad_request", "`compiler` is missing"),
    ],
)
def test_bad_compile_requests(trial, values, request_, error_class, words):
    trial.load(LINEAR, values)
    error = trial.error("compile", request_)
    assert error["class"] == error_class and words in error["message"]


def test_bad_requests_leave_the_trial_serving(trial, values):
    assert trial.error("run", {"handle": 1, "set": "public"})["class"] == "bad_request"
    assert trial.error("load", load_params(LINEAR))["message"] == "the descriptor `tensors` is missing"
    assert trial.error("nonsense")["class"] == "bad_request"
    assert trial.error("load", {"graph": 3})["class"] == "bad_request"
    trial.load(LINEAR, values)
    handle = trial.compile("eager-python")
    for bad in (
        {"handles": [], "order": []},
        {"handles": [handle], "order": [1]},
        {"handles": [handle], "order": [0], "batch": [0]},
        {"handles": [handle], "order": [0], "keep": 1},
        {"handles": [99], "order": [0]},
        {"handles": [handle], "order": [0], "set": "nowhere"},
    ):
        assert trial.error("pair", bad)["class"] == "bad_request"
    close(trial.run(handle), expected(values))


def test_failures_have_their_classes(trial, values):
    with memory_file(values) as file:
        error = trial.error("load", load_params("this is no model"), {"tensors": file.fileno()})
        assert error["class"] == "load_fail" and "not Python" in error["message"]
    with empty_file() as file:
        os.write(file.fileno(), b"no tensors")
        assert trial.error("load", load_params(LINEAR), {"tensors": file.fileno()})["class"] == "load_fail"

    trial.load(model(["y = x @ w", "return (y,)"], x=T, w=P), {"x": torch.zeros(2, 3), "w": torch.zeros(4, 5)})
    handle = trial.compile("eager-python")
    with empty_file() as file:
        error = trial.error("run", {"handle": handle, "set": "public"}, {"outputs": file.fileno()})
    assert error["class"] == "runtime_fail" and "at model.py line 5: y = x @ w" in error["message"]
    error = trial.error("compile", {"compiler": "inductor", "options": {}})
    assert error["class"] == "compile_fail" and "y = x @ w" in error["message"]

    trial.load(model(["y = x.expand(1, 1 << 50).contiguous()", "return (y,)"], x=T), {"x": torch.zeros(1)})
    handle = trial.compile("eager-python")
    with empty_file() as file:
        assert trial.error("run", {"handle": handle, "set": "public"}, {"outputs": file.fileno()})["class"] == "out_of_memory"


def test_lower(trial, values):
    def lower(**params: object) -> dict:
        with empty_file() as file:
            reply = trial.call("lower", params, {"keep": file.fileno()}).json
            data = os.pread(file.fileno(), 1 << 26, 0)
        return reply.get("error") or reply["result"] | {"data": data}

    assert lower(compiler="inductor-aot")["class"] == "bad_request"
    trial.load(LINEAR, values)
    assert trial.error("lower", {"compiler": "inductor-aot"})["message"] == "the descriptor `keep` is missing"
    assert lower(compiler="inductor")["class"] == "unsupported"
    assert lower(compiler="inductor-aot", options={"freezing": True})["class"] == "unsupported"
    made = lower(compiler="inductor-aot", options={"epilogue_fusion": True})
    assert made["lower_ns"] > 1_000_000 and made["peak_memory_bytes"] > 0 and made["cached"] is False
    line, package = made["data"].split(b"\n", 1)
    assert sorted(json.loads(line)["inputs"]) == ["b", "w", "x"] and package.startswith(b"PK")

    trial.load(model(["y = x @ w", "return (y,)"], x=T, w=P), {"x": torch.zeros(2, 3), "w": torch.zeros(4, 5)})
    failed = lower(compiler="inductor-aot")
    assert failed["class"] == "compile_fail" and "y = x @ w" in failed["message"]


def test_a_compilation_is_never_taken_from_a_cache(trial, values):
    trial.load(LINEAR, values)
    first, second = (trial.result("compile", {"compiler": "inductor", "options": {}}) for _ in range(2))
    assert min(first["compile_ns"], second["compile_ns"]) > 0.1 * max(first["compile_ns"], second["compile_ns"])


def test_a_recompilation_is_counted(trial):
    # The graph reads a number from its input, which TorchDynamo compiles in: the other set needs another compilation.
    text = model(["n = int(s)", "y = x * n", "return (y,)"], x=T, s="torch.SymInt")
    trial.load(text, {"x": torch.ones(3), "s": torch.tensor(2)})
    handle = trial.compile("inductor")
    request = {"handles": [handle], "order": [0, 0], "set": "public", "batch": [1]}
    assert trial.result("pair", request)["recompiles"] == 0
    with memory_file({"s": torch.tensor(3)}) as file:
        trial.result("inputs", {"set": "s1"}, {"tensors": file.fileno()})
    assert trial.result("pair", request | {"set": "s1"})["recompiles"] > 0


def test_a_vector_width_of_its_own(trial, values):
    trial.load(LINEAR, values)
    close(trial.run(trial.compile("inductor", **{"cpp.simdlen": 0})), expected(values))


def test_without_fork_it_serves_a_trial_itself(start_runner, values):
    runner = start_runner("--no-fork")
    assert runner.result("describe")["fork"] is False
    runner.load(LINEAR, values)
    close(runner.run(runner.compile("eager-python")), expected(values))
    assert runner.result("close") == {}
    assert runner.process.wait(60) == 0


def test_a_line_that_is_no_message_ends_it_with_an_error(start_runner):
    runner = start_runner("--no-fork")
    runner.channel._out.sendall(b"hello\n")
    assert runner.read().json["error"]["class"] == "bad_request"
    assert runner.process.wait(60) == 1


def test_without_a_toolchain_folder_the_parts_are_made_at_the_start(start_runner, values):
    runner = start_runner("--toolchain", "/nowhere")
    peer, _, pidfd = runner.fork()
    peer.load(LINEAR, values)
    close(peer.run(peer.compile("inductor")), expected(values))
    made = model(["import os, tempfile", "n = len(os.listdir(tempfile.gettempdir() + '/compile-1/headers'))", "return (n,)"], x=T)
    peer.load(made, {"x": torch.zeros(1)})
    handle = peer.compile("eager-python")
    with empty_file() as file:
        error = peer.error("run", {"handle": handle, "set": "public"}, {"outputs": file.fileno()})
    assert "FileNotFoundError" in error["message"]  # the trial needed no header of its own
    peer.result("close")
    assert runner.event()["code"] == 0
    os.close(pidfd)
