# SPDX-License-Identifier: Apache-2.0
"""XLA beyond torch graphs on this machine: compiling for devices that are not there, and StableHLO modules as graphs."""

from __future__ import annotations

import pytest

from assay_command import ROOT, XLA

pytestmark = pytest.mark.skipif(not XLA, reason="XLA is not set up: scripts/setup-xla, then scripts/build")
TPU = (ROOT / ".venv-xla/plugins/tpu/libtpu/libtpu.so").exists()
CUDA = any(ROOT.glob(".venv-xla/plugins/gpus/*.txtpb"))

# As JAX prints it: an argument that is a weight, a private function, a loop.
MODULE = """\
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4xf32>, %arg1: tensor<3x8xf32>) -> (tensor<3x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
    %1 = call @relu(%0) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %2:2 = stablehlo.while(%iterArg = %c, %iterArg_1 = %1) : tensor<i32>, tensor<3x4xf32>
     cond {
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.compare  LT, %iterArg, %c_2,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.add %iterArg_1, %iterArg_1 : tensor<3x4xf32>
      %4 = stablehlo.add %iterArg, %c_0 : tensor<i32>
      stablehlo.return %4, %3 : tensor<i32>, tensor<3x4xf32>
    }
    return %2#1 : tensor<3x4xf32>
  }
  func.func private @relu(%arg0: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<3x4xf32>
    return %1 : tensor<3x4xf32>
  }
}
"""
WEIGHT = """\
class weight:
    name = "arg0"
    shape = [8, 4]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 2.0
    data = None
"""


def outcomes(assay, evaluation):
    return assay.json("results", evaluation["id"])["outcomes"]


@pytest.fixture(scope="module")
def modules(assay, tmp_path_factory) -> str:
    """A suite of two StableHLO modules: one by itself, and one in a folder, with a weight that is described."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "alone.stablehlo.mlir").write_text(MODULE.replace("stablehlo.maximum", "stablehlo.minimum"))
    (folder / "described").mkdir()
    (folder / "described/model.stablehlo.mlir").write_text(MODULE)
    (folder / "described/weight_meta.py").write_text(WEIGHT)
    told = assay.json("import", folder, "--suite", "modules")
    assert told["accepted"] == 2 and told["refused"] == []
    suite = assay.json("suite", "show", "modules")
    assert [graph["name"] for graph in suite["graphs"]] == ["alone", "described"]
    assert assay.json("import", folder / "alone.stablehlo.mlir", "--suite", "one-module")["suite"]["graphCount"] == 1
    return "modules"


def test_a_stablehlo_module_is_measured(assay, modules):
    evaluation = assay.json(
        "evaluate", "--suite", modules, "--target", "xla", "--option", "xla_backend_optimization_level=1",
        "--baseline", "xla", "--policy", "sweep", "--wait")
    assert evaluation["counts"] == {"correct": 2}, outcomes(assay, evaluation)
    (measurement,) = assay.json("show", evaluation["id"], "described")["measurements"]
    (public,) = [c for c in measurement["comparisons"] if c["inputSet"] == "public"]
    assert public["shape"] == ["3", "4"] and not public["degenerate"]
    assert measurement["timing"]["pairs"] > 0
    text = assay.run("graph", "print", measurement["graphHash"]).stdout
    assert text.startswith("module {\n  func.func public @main(%arg0: tensor<8x4xf32>, ")


@pytest.mark.parametrize(("target", "baseline"), [("torchscript", "eager"), ("inductor", "eager-python"), ("xla", "eager")])
def test_compilers_of_torch_graphs_skip_it_and_say_so(assay, modules, target, baseline):
    evaluation = assay.json("evaluate", "--suite", modules, "--target", target, "--policy", "sweep", "--wait")
    assert evaluation["counts"] == {"skipped": 2}
    for outcome in outcomes(assay, evaluation):
        assert outcome["detail"] == "UNSUPPORTED" and f"kind stablehlo; the baseline {baseline} of the runner" in outcome["message"]
        assert outcome["message"].endswith("takes torch")


def test_what_a_module_may_not_have_is_refused_with_its_place(assay, tmp_path):
    bad = tmp_path / "bad.stablehlo.mlir"
    bad.write_text(MODULE.replace("stablehlo.maximum %arg0, %0", "stablehlo.custom_call @f(%arg0)"))
    reason = "the operation 'stablehlo.custom_call' is not among those that a graph may have"
    assert reason in assay.run("import", bad, "--suite", "bad-module", code=1).stdout
    assert "model.stablehlo.mlir:22:10: " + reason in assay.run("graph", "check", bad, code=1).stdout


def test_only_compiling_has_no_baseline_and_no_scores(assay, modules):
    for suite, graphs in (("bundled", ["mlp"]), (modules, ["described"])):
        evaluation = assay.json("evaluate", "--suite", suite, "--graphs", *graphs, "--target", "xla", "--policy", "aot", "--wait", "--strict")
        assert evaluation["counts"] == {"compiled": 1} and "baseline" not in evaluation or evaluation["baseline"] is None
        (outcome,) = outcomes(assay, evaluation)
        assert int(outcome["compileNs"]) > 0 and not outcome.get("speedup")
        (measurement,) = assay.json("show", evaluation["id"], graphs[0])["measurements"]
        candidate = measurement["candidate"]
        assert int(candidate["executableBytes"]) > 0 and candidate["costEstimate"]["flops"] > 0
        assert int(candidate["memory"]["argument_bytes"]) > 0 and not measurement.get("comparisons")
        text = assay.run("show", evaluation["id"], graphs[0]).stdout
        assert "only compiled: nothing was run or timed" in text
        assert "the compiler's own estimate, not a measurement: " in text
        assert "only compiled on" in assay.run("status", evaluation["id"]).stdout
    told = assay.run("evaluate", "--suite", "bundled", "--target", "xla", "--baseline", "xla", "--policy", "aot", code=2)
    assert "it has no baseline" in told.stderr
    whole = assay.json("evaluate", "--suite", modules, "--target", "xla", "--policy", "aot", "--wait")
    board = assay.json("leaderboard", "--suite", modules)
    assert whole["id"] not in [e["evaluation"]["id"] for s in board["sections"] for e in s["entries"]]


@pytest.mark.parametrize(("kind", "here"), [("tpu:v5e", TPU), ("cuda:h100", CUDA)])
def test_a_device_that_is_not_there(assay, modules, kind, here):
    target = f"xla@{kind}"
    if not here:
        told = assay.run("evaluate", "--suite", "bundled", "--target", target, code=6)
        assert "no worker offers xla on " + kind in told.stderr and "scripts/setup-xla --" + kind.split(":")[0] in told.stderr
        return
    evaluation = assay.json("evaluate", "--suite", "bundled", "--graphs", "mlp", "--target", target, "--wait")
    assert evaluation["policy"]["name"] == "aot" and evaluation["counts"] == {"compiled": 1}, outcomes(assay, evaluation)
    (measurement,) = assay.json("show", evaluation["id"], "mlp")["measurements"]
    assert measurement["device"] == kind and int(measurement["candidate"]["executableBytes"]) > 0
    told = assay.run("evaluate", "--suite", "bundled", "--target", target, "--policy", "sweep", code=2)
    assert "is only compiled, so its policy is aot" in told.stderr


def test_what_cannot_be_lowered_is_found_out_once(assay, tmp_path):
    folder = tmp_path / "samples/masked"
    folder.mkdir(parents=True)
    (folder / "model.py").write_text(
        "import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, L_x_: torch.Tensor, L_mask_: torch.Tensor):\n"
        "        y = L_x_[L_mask_]\n        return (y,)\n")
    meta = "class Program_weight_tensor_meta_{0}:\n    name = \"{0}\"\n    shape = [8]\n    dtype = \"torch.{1}\"\n    device = \"cpu\"\n    mean = 0.0\n    std = 1.0\n    data = {2}\n\n"
    (folder / "weight_meta.py").write_text(meta.format("L_x_", "float32", "None") + meta.format("L_mask_", "bool", "[" + "True, False, " * 4 + "]"))
    (folder / "graph_net.json").write_text('{"framework": "torch", "num_devices_required": 1, "num_nodes_required": 1}')
    assay.run("import", tmp_path / "samples", "--suite", "masked")
    times = []
    for _ in range(2):
        evaluation = assay.json("evaluate", "--suite", "masked", "--target", "xla", "--policy", "sweep", "--fresh", "--wait")
        (outcome,) = outcomes(assay, evaluation)
        assert outcome["outcomeClass"] == "COMPILE_FAIL" and "aten.index.Tensor" in outcome["message"], outcome
        (measurement,) = assay.json("show", evaluation["id"], "masked")["measurements"]
        assert measurement["failedPhase"] == "lower.candidate"
        times.append(sum(int(p["durationNs"]) for p in measurement["phases"] if p["name"] == "lower.candidate"))
    assert times[1] < times[0] / 2
