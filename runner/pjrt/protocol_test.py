"""The PJRT runner as a worker sees it: the program itself, with the CPU plug-in and the lowering in its own process."""

import os
import pathlib

import pytest
from runner_client import Runner, RunnerError, read_tensor_file, sealed_file

torch = pytest.importorskip("torch")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build/release"))
PROGRAM = BUILD / "runner/pjrt/assay-runner-pjrt"
PYTHON = ROOT / ".venv-xla/bin/python"
PLUGIN = next(ROOT.glob(".venv-xla/lib/python3.*/site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"), None)
LIBTPU = pathlib.Path(os.environ.get("ASSAY_LIBTPU", ROOT / ".venv-xla/plugins/tpu/libtpu/libtpu.so"))

pytestmark = [
  pytest.mark.skipif(PLUGIN is None, reason="no CPU plug-in in .venv-xla: scripts/setup-xla installs it"),
  pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built"),
]

MODEL = """\
import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        W: torch.nn.parameter.Parameter,
        unused: torch.nn.parameter.Parameter,
        x: torch.Tensor,
        cache: torch.Tensor,
        n: torch.SymInt,
        eps: torch.Tensor,
    ):
        v6 = torch._C._nn.linear(x, W, None)
        v7 = eps.item()
        v8 = torch.nn.functional.layer_norm(v6, (4,), None, None, v7)
        v6 = v7 = None
        cache += v8
        v9 = cache.t()
        v10 = v8.argmax(dim=1)
        v8 = None
        v11 = v9 * n
        v9 = None
        return (v11, v10)
"""
UNLOWERABLE = """\
import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        x: torch.Tensor,
        mask: torch.Tensor,
    ):
        v2 = x[mask]
        return (v2,)
"""


def tensor(value):
  value = value.contiguous()
  data = bytes(value.reshape(-1).view(torch.uint8).numpy()) if value.dim() else value.numpy().tobytes()
  return str(value.dtype).removeprefix("torch."), list(value.shape), data


def inputs(seed):
  generator = torch.Generator().manual_seed(seed)
  return {
    "W": torch.randn(4, 8, generator=torch.Generator().manual_seed(0)),
    "unused": torch.zeros(3),
    "x": torch.randn(3, 8, generator=generator),
    "cache": torch.randn(3, 4, generator=generator),
    "n": torch.tensor(3),
    "eps": torch.tensor(1e-3, dtype=torch.float64),
  }


def eager(values):
  scope = {}
  exec(MODEL, scope)
  arguments = {name: value.clone() for name, value in values.items()}
  with torch.no_grad():
    return scope["GraphModule"]().forward(**{**arguments, "n": int(values["n"])})


@pytest.fixture(scope="module")
def start():
  def start_runner(lowering=(PYTHON, "-m", "assay_lowering")):
    command = [PROGRAM, "--plugin", PLUGIN]
    return Runner([*command, "--lowering", *lowering] if lowering else command)

  return start_runner


@pytest.fixture(scope="module")
def runner(start):
  """A runner that has the graph, a second input set and one compiled form of it."""
  with start() as one:
    one.load(MODEL, {name: tensor(value) for name, value in inputs(1).items()})
    second = inputs(2)
    one.add_inputs("s1", {name: tensor(second[name]) for name in ("x", "cache")})
    one.lowered, one.kept = one.call_for_file("lower", {}, "keep")
    one.compiled = one.call("compile", {"compiler": "xla", "options": {}})
    yield one


def outputs_of(data):
  tensors = read_tensor_file(data)
  return [
    torch.frombuffer(bytearray(data), dtype=getattr(torch, dtype)).reshape(shape)
    for dtype, shape, data in (tensors[str(i)] for i in range(len(tensors)))
  ]


def check_outputs(data, expected):
  outputs = outputs_of(data)
  assert len(outputs) == len(expected)
  for output, reference in zip(outputs, expected):
    torch.testing.assert_close(output, reference)


def test_describe(start):
  with start() as runner:
    told = runner.call("describe")
  assert told["protocol"] == 1 and told["name"] == "pjrt" and told["fork"] is False
  assert [device["id"] for device in told["devices"]] == ["cpu"]
  (compiler,) = told["compilers"]
  assert compiler["name"] == "xla" and compiler["baseline"] == "torch/eager"
  assert compiler["options"]["additionalProperties"] is False
  assert told["platform"]["stablehlo"]
  assert set(told["methods"]) >= {"describe", "load", "inputs", "lower", "compile", "run", "pair", "artifact", "release", "close"}


def test_compile(runner):
  told = runner.compiled
  assert told["compile_ns"] > 0 and told["peak_memory_bytes"] > 0 and told["executable_bytes"] > 0
  assert told["cost_estimate"]["flops"] > 0
  # W, x and cache: what is not used or became a constant is not on the device.
  assert told["memory"]["argument_bytes"] == (4 * 8 + 3 * 8 + 3 * 4) * 4


@pytest.mark.parametrize(("name", "seed"), [("public", 1), ("s1", 2)])
def test_run_agrees_with_eager_every_time(runner, name, seed):
  for _ in range(3):
    told, data = runner.call_for_file("run", {"handle": 1, "set": name}, "outputs")
    assert told["duration_ns"] > 0 and told["outputs"] == 2 and told["output_bytes"] == 12 * 4 + 3 * 8
    check_outputs(data, eager(inputs(seed)))


def test_pair(runner):
  second = runner.call("compile", {"compiler": "xla", "options": {"xla_backend_optimization_level": 0}})
  order = [0, 1, 1, 0, 1, 0, 0, 1]
  params = {"handles": [1, second["handle"]], "set": "s1", "order": order, "batch": [2, 3], "budget_ns": 0, "keep": 5}
  told, data = runner.call_for_file("pair", params, "outputs")
  assert len(told["samples_ns"]) == len(order) and min(told["samples_ns"]) > 0 and told["recompiles"] == 0
  assert told["wall_ns"] >= sum(told["samples_ns"])
  check_outputs(data, eager(inputs(2)))
  cold = runner.call("pair", {**params, "batch": [1, 1], "cold": True, "keep": None})
  assert len(cold["samples_ns"]) == len(order) and cold["wall_ns"] > 2 * sum(cold["samples_ns"])
  # A budget that is spent at once still gives a whole block, and keeps nothing of a sample that was not taken.
  told, data = runner.call_for_file("pair", {**params, "budget_ns": 1, "keep": 7}, "outputs")
  assert len(told["samples_ns"]) == 2 and outputs_of(data) == []
  with pytest.raises(RunnerError, match="below 8") as caught:
    runner.call_for_file("pair", {**params, "keep": 8}, "outputs")
  assert caught.value.error_class == "bad_request"
  assert runner.call("release", {"handle": second["handle"]}) == {}
  with pytest.raises(RunnerError, match="no handle"):
    runner.call("pair", {**params, "keep": None})


def test_artifacts(runner):
  texts = {}
  for artifact in runner.compiled["artifacts"]:
    told, data = runner.call_for_file("artifact", {"handle": 1, "name": artifact["name"]}, "file")
    assert told["bytes"] == len(data) and artifact.get("bytes", len(data)) == len(data)
    texts[artifact["name"]] = data
  assert b"stablehlo.dot_general" in texts["stablehlo.mlir"]
  assert texts["optimised.hlo.txt"].startswith(b"HloModule")


def test_a_graph_is_lowered_once(start, runner):
  assert runner.lowered["cached"] is False and runner.lowered["lower_ns"] > 0 and runner.kept
  kept = sealed_file(runner.kept)
  with start() as again:
    again.load(MODEL, {name: tensor(value) for name, value in inputs(1).items()})
    told = again.call("lower", kept=kept)
    assert told["cached"] is True and told["lower_ns"] < runner.lowered["lower_ns"]
    assert again.call("compile", {"compiler": "xla"})["lowering_cached"] is True
    # Of another graph it is of no use.
    again.load(MODEL.replace("v9 * n", "v9 * 5"), {name: tensor(value) for name, value in inputs(1).items()})
    assert again.call("lower", kept=kept)["cached"] is False
  os.close(kept)


def test_compile_lowers_where_nobody_asked_before(start):
  with start() as runner:
    runner.load(MODEL, {name: tensor(value) for name, value in inputs(1).items()})
    told = runner.call("compile", {"compiler": "xla"})
  assert told["lowering_cached"] is False and told["lowering_ns"] > 0


def test_a_set_that_changes_a_constant_is_refused(runner):
  runner.add_inputs("other", {"eps": tensor(torch.tensor(2e-3, dtype=torch.float64))})
  with pytest.raises(RunnerError, match="eps") as caught:
    runner.call_for_file("run", {"handle": 1, "set": "other"}, "outputs")
  assert caught.value.error_class == "unsupported"


def test_errors_are_classed_and_the_runner_goes_on(start):
  with start() as runner:
    for method in ("lower", "compile", "run", "inputs", "nonsense"):
      with pytest.raises(RunnerError) as caught:
        runner.call(method)
      assert caught.value.error_class == "bad_request"
    values = {"x": tensor(torch.ones(4)), "mask": tensor(torch.tensor([True, False, True, True]))}
    with pytest.raises(RunnerError) as caught:
      runner.load("import os\n", values)
    assert caught.value.error_class == "load_fail"
    with pytest.raises(RunnerError, match="no parameter mask") as caught:
      runner.load(UNLOWERABLE, {"x": values["x"]})
    assert caught.value.error_class == "load_fail"
    with pytest.raises(RunnerError, match="no device tpu:0") as caught:
      runner.load(UNLOWERABLE, values, device="tpu:0")
    assert caught.value.error_class == "unsupported"
    runner.load(UNLOWERABLE, values)
    for options, error_class in [({"xla_dump_to": "/tmp"}, "unsupported"), ({}, "compile_fail")]:
      with pytest.raises(RunnerError) as caught:
        runner.call("compile", {"compiler": "xla", "options": options})
      assert caught.value.error_class == error_class
    assert "aten.index.Tensor" in str(caught.value)
    with pytest.raises(RunnerError) as caught:
      runner.call_for_file("run", {"handle": 1, "set": "public"}, "outputs")
    assert caught.value.error_class == "bad_request"
    assert runner.call("describe")["name"] == "pjrt"


def test_that_a_graph_cannot_be_lowered_is_kept_too(start):
  values = {"x": tensor(torch.ones(4)), "mask": tensor(torch.tensor([True, False, True, True]))}
  keep = os.memfd_create("keep")
  messages = []
  for kept in (None, keep):
    # The second runner's lowering tells its version, and could not lower anything.
    program = "import sys; from assay_lowering.version import lowering_version as v; print(v()) if '--version' in sys.argv else sys.exit(1)"
    with start(lowering=(PYTHON, "-m", "assay_lowering") if kept is None else (PYTHON, "-c", program)) as runner:
      runner.load(UNLOWERABLE, values)
      files = {"keep": keep} if kept is None else {"kept": sealed_file(os.pread(keep, 1 << 20, 0))}
      with pytest.raises(RunnerError, match="aten.index.Tensor") as caught:
        runner.call("lower", **files)
      assert caught.value.error_class == "compile_fail"
      messages.append(str(caught.value))
      for fd in files.values():
        if fd != keep:
          os.close(fd)
  assert messages[0] == messages[1]
  os.close(keep)


@pytest.mark.parametrize("lowering", [None, ("/nowhere/python",)])
def test_a_lowering_that_is_not_there_is_not_the_compilers_fault(start, lowering):
  with start(lowering=lowering) as runner:
    runner.load(MODEL.replace("v9 * n", "v9 * 5"), {name: tensor(value) for name, value in inputs(1).items()})
    with pytest.raises(RunnerError, match="lowering|nowhere") as caught:
      runner.call("compile", {"compiler": "xla"})
  assert caught.value.error_class == "internal"


@pytest.mark.skipif(not LIBTPU.exists(), reason="no libtpu: scripts/setup-xla --tpu installs it, or name its file by ASSAY_LIBTPU")
def test_a_topology_compiles_and_does_not_run():
  command = [PROGRAM, "--plugin", LIBTPU, "--topology", "v5e:1x1", "--label", "v5e", "--topology", "v0:1x1", "--label", "none"]
  command += ["--topology", "v6e:1x1", "--label", "v6e"]
  with Runner([*command, "--lowering", PYTHON, "-m", "assay_lowering"]) as runner:
    told = runner.call("describe")
    # A topology that the plug-in does not have is left out.
    assert [device["kind"] for device in told["devices"]] == [device["id"] for device in told["devices"]] == ["tpu:v5e", "tpu:v6e"]
    assert "run" not in told["methods"]
    # The host's own: a worker does not compile while it times something there.
    assert all(device["uuid"] for device in told["devices"])
    runner.load(MODEL, {name: tensor(value) for name, value in inputs(1).items()}, device="tpu:v5e")
    # Every option of the table is one of the plug-in's.
    options = {}
    for name, kind in told["compilers"][0]["options"]["properties"].items():
      options[name] = kind["maximum"] if kind.get("type") == "integer" else False
    for given in ({}, options):
      compiled = runner.call("compile", {"compiler": "xla", "options": given})
      assert compiled["compile_ns"] > 0 and compiled["executable_bytes"] > 0
      assert compiled["cost_estimate"]["flops"] > 0 and min(compiled["cost_estimate"].values()) >= 0
    runner.load(MODEL, {name: tensor(value) for name, value in inputs(1).items()}, device="tpu:v6e")
    compiled = runner.call("compile", {"compiler": "xla"})
    assert compiled["executable_bytes"] > 0
    with pytest.raises(RunnerError, match="compiled, not run"):
      runner.call_for_file("run", {"handle": compiled["handle"], "set": "public"}, "outputs")
    with pytest.raises(RunnerError, match="no topology v0:1x1"):
      runner.load(MODEL, {name: tensor(value) for name, value in inputs(1).items()}, device="tpu:none")


CUDA = next(ROOT.glob(".venv-xla/plugins/cuda/jax_plugins/*/xla_cuda_plugin.so"), None)
DEVICES = {
  "cpu": (PLUGIN, (pathlib.Path("/proc/cpuinfo"),)),
  "cuda": (CUDA, (pathlib.Path("/dev/nvidia0"),)),
  "tpu": (LIBTPU if LIBTPU.exists() else None, (pathlib.Path("/dev/accel0"), pathlib.Path("/dev/vfio/0"))),
}


@pytest.mark.parametrize("kind", DEVICES)
def test_a_device_compiles_runs_and_times(kind):
  plugin, signs = DEVICES[kind]
  if not any(sign.exists() for sign in signs):
    pytest.skip(f"no device of the kind {kind} here: no {' or '.join(map(str, signs))}")
  if plugin is None:
    pytest.skip(f"no plug-in for {kind} in .venv-xla: scripts/setup-xla --{kind} installs it")
  with Runner([PROGRAM, "--plugin", plugin, "--lowering", PYTHON, "-m", "assay_lowering"]) as runner:
    device = runner.call("describe")["devices"][0]
    assert device["kind"].split(":")[0] == kind and device["model"]
    runner.load(MODEL, {name: tensor(value) for name, value in inputs(1).items()}, device=device["id"])
    compiled = runner.call("compile", {"compiler": "xla", "options": {}})
    _, data = runner.call_for_file("run", {"handle": compiled["handle"], "set": "public"}, "outputs")
    outputs, expected = outputs_of(data), eager(inputs(1))
    # An accelerator may multiply in a shorter format, as it does by default.
    tolerance = {} if kind == "cpu" else {"rtol": 2e-2, "atol": 2e-2}
    torch.testing.assert_close(outputs[0], expected[0], **tolerance)
    torch.testing.assert_close(outputs[1], expected[1])
    handles = [compiled["handle"], compiled["handle"]]
    told = runner.call("pair", {"handles": handles, "set": "public", "order": [0, 1, 1, 0], "batch": [2, 2], "budget_ns": 0})
    assert len(told["samples_ns"]) == 4 and min(told["samples_ns"]) > 0


def test_close_ends_it(start):
  with start() as runner:
    assert runner.call("close") == {}
    assert runner.process.wait(timeout=30) == 0
  with start() as runner:
    runner.call("describe")
    runner._requests.close()
    assert runner.process.wait(timeout=30) == 0
