# SPDX-License-Identifier: Apache-2.0
"""assay-runner-torch against Python: every callee (callee_cases.py, common_callee_cases.py) and every bundled sample, bit for bit.

The programs are taken from ASSAY_BUILD_DIR (default build/release); a test skips, saying so, where they are not built.
"""

from __future__ import annotations

import ast
import pathlib
import re
import subprocess
import zlib

import pytest
import torch

import harness
import callee_cases
from common_callee_cases import COMMON_CASES, REFUSALS

ASSAY = harness.BUILD / "client" / "assay"
SAMPLES = sorted(path.parent for path in (harness.ROOT / "samples").rglob("model.py"))
TABLE = harness.ROOT / "graph" / "callees.inc"
CASES = callee_cases.CASES + COMMON_CASES

DTYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i64": torch.int64, "i32": torch.int32,
    "bool": torch.bool,
}  # fmt: skip
ANNOTATIONS = {"": "torch.Tensor", "p": "torch.nn.parameter.Parameter", "=": "torch.SymInt"}
# What TorchScript has nothing for, with the words of the refusal.
REFUSED = {"_vmap_increment_nesting": "vmap levels", "_enter_autocast": "_enter_autocast"}


def make_inputs(spec: str, seed: int) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Values and annotations by name."""
    generator = torch.Generator().manual_seed(seed)
    values, annotations = {}, {}
    for item in spec.split():
        name, rest = item.split(":")
        if rest.startswith("="):
            values[name], annotations[name] = torch.tensor(int(rest[1:])), ANNOTATIONS["="]
            continue
        kind, dtype, dims, suffix = re.fullmatch(r"(p?)(\w+)\[([\d,]*)\](.*)", rest).groups()
        shape = [int(d) for d in dims.split(",") if d]
        annotations[name] = ANNOTATIONS[kind]
        if suffix.startswith("<"):
            values[name] = torch.randint(0, int(suffix[1:]), shape, generator=generator, dtype=DTYPES[dtype])
        elif dtype == "bool":
            values[name] = torch.rand(shape, generator=generator) > 0.5
        else:
            value = torch.randn(shape, generator=generator)
            values[name] = (value.abs() + 0.1 if suffix == "+" else value).to(DTYPES[dtype])
    return values, annotations


def make_model(statements: str, annotations: dict[str, str]) -> str:
    if "\n" not in statements:
        statements = f"y = {statements}\nreturn y"
    lines = statements.split("\n")
    returned = lines[-1].removeprefix("return ").split(", ")
    lines[-1] = f"return ({', '.join(returned)}{',' if len(returned) == 1 else ''})"
    head = ", ".join(f"{name}: {annotation}" for name, annotation in annotations.items())
    body = "\n".join("        " + line for line in lines)
    return f"import torch\nfrom torch import device\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, {head}):\n{body}\n"


@pytest.fixture(scope="module")
def runner(runner):
    torch.set_num_threads(1)
    return runner


def check(runner: harness.Runner, model: str, values: dict[str, torch.Tensor]) -> None:
    """eager twice, for what the first run may leave behind, and TorchScript as it stands; optimised TorchScript may differ in rounding."""
    before = {name: value.clone() for name, value in values.items()}
    wanted = harness.reference(model, values)
    trial = runner.trial()
    try:
        trial.load(model, values)
        eager = trial.compile("eager")
        for _ in range(2):
            assert harness.difference(trial.run(eager), wanted) is None
        try:
            exact = trial.compile("torchscript", {"freeze": False, "optimize": False})
            optimised = trial.compile("torchscript")
        except harness.RunnerError as error:
            assert error.error_class == "unsupported", error
            assert any(callee in model and words in error.message for callee, words in REFUSED.items()), error
            return
        for _ in range(2):
            assert harness.difference(trial.run(exact), wanted) is None
            for got, value in zip(trial.run(optimised), wanted, strict=True):
                torch.testing.assert_close(got, value, equal_nan=True)
        assert all(harness.same_bits(values[name], before[name]) for name in values)
    finally:
        trial.close()


@pytest.mark.parametrize(("callee", "statements", "spec"), CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_callee(runner, callee: str, statements: str, spec: str) -> None:
    values, annotations = make_inputs(spec, seed=zlib.crc32(statements.encode()))
    check(runner, make_model(statements, annotations), values)


@pytest.mark.parametrize(("statements", "spec", "words"), REFUSALS, ids=[f"{i}" for i in range(len(REFUSALS))])
def test_both_refuse(runner, statements: str, spec: str, words: str) -> None:
    """What PyTorch's wrappers refuse in Python, eager refuses in the same words."""
    values, annotations = make_inputs(spec, seed=0)
    model = make_model(statements, annotations)
    with pytest.raises(ValueError, match=re.escape(words)):
        harness.reference(model, values)
    trial = runner.trial()
    try:
        with pytest.raises(harness.RunnerError, match=re.escape(words)):
            trial.load(model, values)
    finally:
        trial.close()


def test_every_callee_has_a_case() -> None:
    rows = set(re.findall(r'^CALLEE\("([^"]+)"', TABLE.read_text(), re.MULTILINE))
    assert rows - {case[0] for case in CASES} == set()


def gives(callee: str, line: str, values: dict[str, object]) -> object:
    """What the line's call of the callee gives; None where it is no call of it. The line is carried out."""
    (node,) = ast.parse(line).body
    exec(line, {"torch": torch, "device": torch.device}, values)  # noqa: S102: a case's own line
    if not isinstance(node, ast.Assign) or not isinstance(node.value, (ast.Call, ast.Attribute)):
        return None
    name = ast.unparse(node.value.func if isinstance(node.value, ast.Call) else node.value)
    name = name if name.startswith("torch.") else "." + name.rpartition(".")[2]
    return values[node.targets[0].id] if callee in (name, f"getattr:{name}") else None


def test_the_table_knows_what_a_callee_gives() -> None:
    flags = dict(re.findall(r'^CALLEE\("([^"]+)".*"(\w*)"\)$', TABLE.read_text(), re.MULTILINE))
    seen = 0
    for callee, statements, spec in CASES:
        values, _ = make_inputs(spec, seed=0)
        lines = (statements if "\n" in statements else f"y = {statements}\n").split("\n")[:-1]
        for line in lines:
            value = gives(callee, line, values)
            if value is None:
                continue
            seen += 1
            is_tuple = isinstance(value, (tuple, list)) and not isinstance(value, torch.Size)
            along = "a" in flags[callee] or "return_indices" in line
            assert is_tuple == ("t" in flags[callee]) or (is_tuple and along), (callee, line, flags[callee])
            is_other = not is_tuple and not isinstance(value, (torch.Tensor, int, float))
            assert is_other == ("o" in flags[callee]) or callee.endswith(".size"), (callee, line, flags[callee])
    assert seen > len(CASES) / 2


@pytest.mark.parametrize("sample", SAMPLES, ids=[path.name for path in SAMPLES])
def test_sample(runner, sample: pathlib.Path) -> None:
    if not ASSAY.exists():
        pytest.skip(f"{ASSAY} is not built")
    printed = subprocess.run([ASSAY, "graph", "print", sample], capture_output=True, text=True, check=True).stdout
    check(runner, printed, harness.inputs(sample, harness.parameters_of(printed)))
