# SPDX-License-Identifier: Apache-2.0
"""Logs of GraphNet's runner in and out, and comparisons."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree

import pytest

PROMPT = "graph-net-test-compiler-log"
EXPONENTS = {"float16": (1, 3 / 5), "bfloat16": (1, 1.796 / 5), "float32": (1, 5.886 / 5), "float64": (7 / 5, 7 / 5)}


def block(graph: str, level: int | None, speedup: float) -> str:
    """A graph of one float32 output that is close from `level` on; None: eager failed."""
    lines = [f"[Processing] /data/samples/{graph}", f"[Config] model: {graph}", "[Config] device: cpu", "[Config] hardware: Some CPU",
             "[Config] compiler: inductor", "[Config] compile_framework_version: 2.0"]
    if level is None:
        lines += ["[Result] status: failed", "[Fail due to eager model execution error.]"]
    else:
        lines += ["[Datatype][eager]: float32", "[Datatype][compiled]: float32", "[DataType] eager:['float32'] compiled:['float32'] match:True",
                  "[Correctness][equal]: 0"]
        for t in range(-10, 6):
            for atol, rtol in EXPONENTS.values():
                lines.append(f"[Correctness][all_close_atol_{10 ** (t * atol):.2E}_rtol_{10 ** (t * rtol):.2E}]: {int(t >= level)}")
        lines += ["[Result] status: success", f"[Speedup][e2e]: {speedup:.5f}"]
    return "".join(f"{PROMPT} {line}\n" for line in lines)


@pytest.fixture(scope="module")
def logs(assay, tmp_path_factory) -> dict[str, str]:
    """Two logs of one suite, imported: ids by name."""
    folder = tmp_path_factory.mktemp("logs")
    (folder / "old.log").write_text(block("a", -6, 2) + block("b", -3, 0.5) + block("c", -3, 1))
    (folder / "new.log").write_text(block("a", -6, 2) + block("b", -3, 0.75) + block("c", None, 1))
    return {name: assay.json("import-log", folder / f"{name}.log", "--suite", "logged")["evaluation"]["id"] for name in ("old", "new")}


def test_an_imported_log_is_marked_scored_and_ranked_apart(assay, logs):
    evaluation = assay.json("status", logs["old"])
    assert evaluation["state"] == "COMPLETED" and evaluation["imported"] == "graphnet-log"
    curve = {p["t"]: p for p in assay.json("curve", logs["old"], "--p", 0)["points"]}
    assert curve[-6]["s"] == pytest.approx((2 * 0.1 * 0.1) ** (1 / 3), rel=1e-12)
    assert curve[0]["s"] == pytest.approx(1, rel=1e-12)
    (section,) = assay.json("leaderboard", "--suite", "logged")["sections"]
    assert section["cohort"].startswith("imported from a log")
    assert "imported" in assay.run("status", logs["old"]).stdout
    assay.run("evaluate", "--suite", "logged", "--target", "torchscript", code=6)
    assay.run("export", logs["old"], "--format", "graphnet-log", code=6)


def test_comparison_of_logs(assay, logs):
    old, new = logs["old"], logs["new"]
    # c departs, and a log cannot be measured again.
    assert "--stored" in assay.run("compare", old, new, code=6).stderr
    arguments = ["compare", old, new, "--stored"]
    answer = json.loads(assay.run(*arguments, "--format", "json", "--fail-on", "new-failure", code=1).stdout)
    assert {g["graph"]: g["change"] for g in answer["graphs"]} == {"a": "unclear", "b": "unclear", "c": "new-failure"}
    assert answer["meanRatio"] == pytest.approx(math.sqrt(1.5))
    assay.run(*arguments, "--fail-on", "slower")
    suite = xml.etree.ElementTree.fromstring(assay.run(*arguments, "--format", "junit", "--fail-on", "new-failure", code=1).stdout).find("testsuite")
    assert suite.attrib["tests"] == "3" and suite.attrib["failures"] == "1"
    assert "imported from a log" in assay.run("bisect-graph", new, "c", code=6).stderr


def test_what_is_measured_is_exported_and_comes_back_with_its_scores(assay, tmp_path):
    measured = assay.json("evaluate", "--suite", "bundled", "--target", "torchscript", "--policy", "sweep", "--graphs", "mlp,integer_outputs",
                          "--wait", timeout=900)
    assay.run("export", measured["id"], "--format", "graphnet-log", "-o", tmp_path / "out.log")
    for reading in ("honest", "peer"):
        back = assay.json("import-log", tmp_path / "out.log", "--suite", "bundled", "--as", reading)
        assert back["notes"] == [] and back["evaluation"]["partial"]
        curves = [assay.json("curve", e, "--interpretation", "default", "--p", 0)["points"] for e in (measured["id"], back["evaluation"]["id"])]
        for before, after in zip(*curves, strict=True):
            assert after["s"] == pytest.approx(before["s"], rel=1e-9) and after["es"] == pytest.approx(before["es"], rel=1e-9)
    assay.run("compare", measured["id"], back["evaluation"]["id"], code=6)
    assay.run("compare", measured["id"], back["evaluation"]["id"], "--across-cohorts", "--stored")
    same = json.loads(assay.run("compare", measured["id"], measured["id"], "--json").stdout)
    assert {g["change"] for g in same["graphs"]} <= {"same", "unclear"} and same["meanRatio"] == 1
