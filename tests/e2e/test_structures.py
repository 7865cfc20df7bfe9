# SPDX-License-Identifier: Apache-2.0
"""Structures, degenerate graphs, modes of replay and representative suites, through the whole service."""

from __future__ import annotations

import json
import math
import re
import shutil
import urllib.error
import urllib.request

import pytest

from assay_command import SAMPLES

ZEROS = '''import torch


class GraphModule(torch.nn.Module):
    def forward(self, L_x_: torch.Tensor):
        l_x = L_x_
        y = l_x * 0.0
        return (y,)
'''
ZEROS_META = '''class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [64, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.5
    std = 0.25
    data = None
'''


def http(assay, path: str, body: dict | None = None):
    token = json.loads((assay.home / "up.json").read_text())["token"]
    request = urllib.request.Request(
        assay.address["http"] + path, headers={"Authorization": f"Bearer {token}"}, data=json.dumps(body).encode() if body else None)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


@pytest.fixture(scope="module")
def suite(assay, tmp_path_factory) -> str:
    """Five graphs of three structures: one three times, one other, and one whose output is zero."""
    folder = tmp_path_factory.mktemp("structures")
    for name, std in (("mlp_a", "0.1"), ("mlp_b", "0.2"), ("mlp_c", "0.3")):
        shutil.copytree(SAMPLES / "mlp", folder / "models" / name)
        meta = folder / "models" / name / "weight_meta.py"
        meta.write_text(re.sub(r"std = \S+", f"std = {std}", meta.read_text()))
    shutil.copytree(SAMPLES / "in_place", folder / "others" / "in_place")
    shutil.copytree(SAMPLES / "mlp", folder / "others" / "zeros")
    (folder / "others" / "zeros" / "model.py").write_text(ZEROS)
    (folder / "others" / "zeros" / "weight_meta.py").write_text(ZEROS_META)
    assay.run("import", folder, "--suite", "structures")
    return "structures"


@pytest.fixture(scope="module")
def evaluation(assay, suite) -> dict:
    return assay.json("evaluate", "--suite", suite, "--target", "torchscript", "--policy", "sweep", "--wait")


@pytest.fixture(scope="module")
def outcomes(assay, evaluation) -> dict[str, dict]:
    return {o["graph"]: o for o in assay.json("results", evaluation["id"])["outcomes"]}


def entry_of(board: dict, evaluation: dict) -> dict:
    return next(e for s in board["sections"] for e in s["entries"] if e["evaluation"]["id"] == evaluation["id"])


def score(outcomes) -> float:
    """S(0) with weights, from (outcome, weight), all correct."""
    outcomes = list(outcomes)
    total = sum(weight for _, weight in outcomes)
    log = 0.0
    for outcome, weight in outcomes:
        x = math.log(outcome["speedup"])
        log += weight * (x if x >= 0 else 1.1 * x)
    return math.exp(log / total)


def test_a_suite_tells_its_structures(assay, suite):
    shown = assay.json("suite", "show", suite)
    assert (shown["graphCount"], shown["structureCount"]) == (5, 3)
    assert len({g["structure"] for g in shown["graphs"]}) == 3
    assert "5 graphs, 3 structures" in assay.run("suite", "show", suite).stdout
    lines = assay.run("suite", "show", suite, "--structures").stdout.splitlines()[3:]
    assert len(lines) == 3 and re.search(r"\b3\b.*models/mlp_a", lines[0])


def test_every_score_with_each_structure_weighing_one(assay, suite, evaluation, outcomes):
    board = assay.json("leaderboard", "--suite", suite, "--structures")
    entry = entry_of(board, evaluation)
    assert board["structures"] and (entry["graphs"], entry["structures"], entry["degenerate"]) == (5, 3, 1)
    weights = {"models/mlp_a": 1 / 3, "models/mlp_b": 1 / 3, "models/mlp_c": 1 / 3, "others/in_place": 1, "others/zeros": 1}
    assert math.isclose(entry["s0"], score((outcomes[g], w) for g, w in weights.items()), rel_tol=1e-9)
    plain = entry_of(assay.json("leaderboard", "--suite", suite), evaluation)
    assert math.isclose(plain["s0"], score((o, 1) for o in outcomes.values()), rel_tol=1e-9)
    assert entry["s0Low"] <= entry["s0"] <= entry["s0High"]

    curve = assay.json("curve", evaluation["id"], "--structures", "--intervals")
    assert curve["byStructure"] and curve["structures"] == 3
    assert math.isclose(next(p["s"] for p in curve["points"] if p["t"] == 0), entry["s0"], rel_tol=1e-9)
    assert http(assay, f"/v1/leaderboard?suite={suite}&structures=true") == board
    assert http(assay, f"/v1/evaluations/{evaluation['id']}/curve?structures=true&intervals=true") == curve
    assert "each structure weighs one" in assay.run("leaderboard", "--suite", suite, "--structures").stdout


def test_degenerate_graphs_are_told_and_can_be_left_out(assay, suite, evaluation, outcomes):
    assert {g: o["degeneracy"] for g, o in outcomes.items() if o["degenerate"]} == {"others/zeros": "ALL_ZERO"}
    assert "degenerate: all_zero" in assay.run("results", evaluation["id"]).stdout
    assert "all zero" in assay.run("show", evaluation["id"], "others/zeros").stdout

    board = assay.json("leaderboard", "--suite", suite, "--without-degenerate")
    entry = entry_of(board, evaluation)
    assert board["withoutDegenerate"] and (entry["graphs"], entry["structures"], entry["degenerate"]) == (4, 2, 1)
    left = [(o, 1) for g, o in outcomes.items() if g != "others/zeros"]
    assert math.isclose(entry["s0"], score(left), rel_tol=1e-9)
    assert http(assay, f"/v1/leaderboard?suite={suite}&without_degenerate=true") == board
    curve = assay.json("curve", evaluation["id"], "--without-degenerate")
    assert curve["graphs"] == 4 and curve["withoutDegenerate"]
    named = {o["graph"] for o in assay.json("results", evaluation["id"], "--without-degenerate")["outcomes"]}
    assert named == outcomes.keys() - {"others/zeros"}
    assert assay.run("results", evaluation["id"], "--without-degenerate", "--csv").stdout.count("\n") == 5


def test_modes_of_replay_share_nothing(assay, suite, evaluation, outcomes):
    assert evaluation["policy"]["replay"] == "assay" and {o["replay"] for o in outcomes.values()} == {"assay"}
    again = assay.json("evaluate", "--suite", suite, "--target", "torchscript", "--policy", "sweep", "--replay", "graphnet", "--wait")
    assert again["policy"]["replay"] == "graphnet"
    others = {o["graph"]: o for o in assay.json("results", again["id"])["outcomes"]}
    assert {o["replay"] for o in others.values()} == {"graphnet"}
    assert not {o["measurementId"] for o in others.values()} & {o["measurementId"] for o in outcomes.values()}
    assert {g: o["graphHash"] for g, o in others.items()} == {g: o["graphHash"] for g, o in outcomes.items()}
    for run, version in ((evaluation, "assay-1"), (again, "graphnet-1")):
        (measurement,) = assay.json("show", run["id"], "models/mlp_a")["measurements"]
        assert measurement["replay"] == version and measurement["policy"]["replay"] == version.split("-")[0]
    sections = {s["replay"]: s for s in assay.json("leaderboard", "--suite", suite)["sections"]}
    assert sections.keys() == {"assay", "graphnet"}

    assay.run("evaluate", "--suite", suite, "--target", "torchscript", "--replay", "peer", code=2)
    with pytest.raises(urllib.error.HTTPError) as refused:
        http(assay, "/v1/evaluations", {"suite": suite, "candidate": {"compiler": "torchscript"}, "policy": {"replay": "peer"}})
    assert refused.value.code == 400 and "accepted: assay" in refused.value.read().decode()


def test_a_representative_suite(assay, suite, evaluation):
    answer = assay.json("suite", "subset", suite, "--structures", "--budget", "10m", "--name", "representative")
    assert (answer["suite"]["graphCount"], answer["suite"]["structureCount"]) == (3, 3)
    assert {g["graphs"] for g in answer["chosen"]} == {3, 1} and answer["leftOut"] == []
    assert all(g["measured"] and 2 <= g["expectedSeconds"] < 60 for g in answer["chosen"])
    coverage = {c["kind"]: (c["covered"], c["all"]) for c in answer["coverage"]}
    assert coverage["graphs"] == (5, 5) and coverage["structures"] == (3, 3) and coverage["sources"] == (2, 2)
    assert coverage["callees"][0] == coverage["callees"][1] > 3

    # The same again makes no version; a budget for one takes what stands for most.
    assert assay.json("suite", "subset", suite, "--structures", "--budget", "600s", "--name", "representative")["suite"]["version"] == 1
    one = max(g["expectedSeconds"] for g in answer["chosen"]) + 0.1
    few = assay.run("suite", "subset", suite, "--structures", "--budget", f"{one}s", "--name", "few-structures").stdout
    assert "left out: 2" in few and "did not fit" in few and "suite few-structures version 1: 1 graphs" in few
    assert [g["name"].split("/")[0] for g in assay.json("suite", "show", "few-structures")["graphs"]] == ["models"]
    # Without --structures every graph is a candidate; the name comes from the budget.
    assert assay.json("suite", "subset", suite, "--budget", "1h")["suite"]["name"] == "structures-1h"
    assert assay.json("suite", "show", "structures-1h")["graphCount"] == 5

    suites = assay.json("suite", "list")
    dry = assay.json("suite", "subset", "bundled", "--structures", "--budget", "30m", "--dry-run")
    assert "suite" not in dry and dry["expectedSeconds"] <= 1800
    by_http = http(assay, "/v1/suites/bundled:subset", {"structures": True, "budgetSeconds": 1800, "subset": "x", "dryRun": True})
    assert [g["hash"] for g in by_http["chosen"]] == [g["hash"] for g in dry["chosen"]]
    assert assay.json("suite", "list") == suites
    for wrong, code in ((["--budget", "0s"], 2), (["--budget", "soon"], 2), (["--budget", "1s"], 6), (["--budget", "1h", "--name", suite], 2),
                        (["--budget", "1h", "--name", "Not a name"], 2)):
        assay.run("suite", "subset", suite, *wrong, code=code)
    assert assay.json("suite", "list") == suites

    # Last, for its measurements may change which graph of a structure has the median time.
    done = assay.json("evaluate", "--suite", "representative", "--target", "torchscript", "--policy", "sweep", "--wait")
    assert done["state"] == "COMPLETED" and done["trials"] == 3


def test_metadata_can_be_synthesised(assay, tmp_path):
    folder = tmp_path / "samples" / "bare"
    shutil.copytree(SAMPLES / "mlp", folder)
    shapes = re.findall(r'name = "(\S+)"\n    shape = (\[.*?\])', (folder / "weight_meta.py").read_text())
    (folder / "weight_meta.py").unlink()
    (folder / "input_tensor_constraints.py").write_text(
        "from sympy import Symbol\n\ndynamic_dim_constraint_symbols = []\n\ndynamic_dim_constraint_input_shapes = [\n"
        + "".join(f'    ({shape}, "{name}"),\n' for name, shape in shapes) + "]\n")
    refused = assay.run("import", folder.parent, "--suite", "synthesised", code=1)
    assert "--synthesize-metadata" in refused.stdout
    answer = assay.json("import", folder.parent, "--suite", "synthesised", "--synthesize-metadata")
    assert (answer["accepted"], answer["synthesized"]) == (1, 1)
    assert json.loads(assay.run("graph", "check", folder, "--synthesize-metadata", "--json").stdout)["synthesized"] is True
    assay.run("evaluate", "--suite", "synthesised", "--target", "torchscript", "--policy", "sweep", "--wait", "--strict")


def test_what_needs_too_much_memory_is_skipped_with_its_need(assay, suite):
    done = assay.json("evaluate", "--suite", suite, "--target", "torchscript", "--graphs", "models/mlp_a", "--policy", "sweep",
                      "--memory-limit", "1KB", "--wait")
    (outcome,) = assay.json("results", done["id"])["outcomes"]
    assert (outcome["outcomeClass"], outcome["detail"]) == ("SKIPPED", "OUT_OF_MEMORY")
    assert re.search(r"need \d+ bytes.*may use 10(00|24)", outcome["message"])
    assert assay.json("curve", done["id"])["graphs"] == 0, "skipped graphs do not count"
