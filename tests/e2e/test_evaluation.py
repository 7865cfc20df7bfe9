# SPDX-License-Identifier: Apache-2.0
"""The main job: graphs in, a leaderboard out, by both runners."""

from __future__ import annotations

import csv
import io
import json
import math
import pathlib
import shutil
import subprocess

import pytest

from assay_command import FEW, SAMPLES, XLA

needs_xla = pytest.mark.skipif(not XLA, reason="XLA is not set up: scripts/setup-xla, then scripts/build")
TARGETS = ["torchscript", "inductor", pytest.param("xla", marks=needs_xla)]


@pytest.fixture(scope="module")
def few(assay, tmp_path_factory) -> str:
    """A suite of a few graphs."""
    folder = tmp_path_factory.mktemp("few")
    for name in FEW:
        shutil.copytree(SAMPLES / name, folder / name)
    answer = assay.json("import", folder, "--suite", "few")
    assert answer["sent"] == 0, "the bundled suite has them already"
    return "few"


@pytest.fixture(scope="module")
def evaluations(assay, few) -> dict[str, dict]:
    return {
        target: assay.json("evaluate", "--suite", few, "--target", target, "--policy", "sweep", "--wait", timeout=900)
        for target in ("torchscript", "inductor", *(["xla"] if XLA else []))
    }


def test_targets_of_both_runners(assay):
    offered = {t["target"]["compiler"]: t for t in assay.json("targets")["targets"]}
    assert {"eager", "torchscript", "eager-python", "inductor", "inductor-aot"} <= offered.keys()
    assert offered["inductor"]["baseline"] == "eager-python"
    assert offered["torchscript"]["baseline"] == offered["inductor-aot"]["baseline"] == "eager"
    assert offered["inductor-aot"]["target"]["runner"] == "torch" and "mode" in offered["inductor-aot"]["optionsSchema"]["properties"]
    assert offered["inductor"]["optionsSchema"]["additionalProperties"] is False
    assert "inductor" in assay.run("targets").stdout
    (worker,) = assay.json("workers")["workers"]
    assert worker["live"] and worker["sandbox"] == "full"


def test_a_second_import_sends_nothing_and_makes_no_version(assay):
    first = assay.json("suite", "show", "bundled")
    assert len(first["graphs"]) >= 16
    again = assay.json("import", SAMPLES, "--suite", "bundled")
    assert again["sent"] == 0 and again["refused"] == []
    assert again["suite"]["version"] == first["version"] == 1


def test_graph_check_and_print_agree_with_the_server(assay, tmp_path):
    lines = [json.loads(line) for line in assay.run("graph", "check", SAMPLES, "--json").stdout.splitlines()]
    assert all(line["accepted"] for line in lines)
    hashes = {pathlib.Path(line["path"]).name: line["hash"] for line in lines}
    assert hashes == {g["name"]: g["hash"] for g in assay.json("suite", "show", "bundled")["graphs"]}
    # The canonical form is a sample again, with the same hash; the server's is the same text.
    assay.run("graph", "print", SAMPLES / "mlp", "-o", tmp_path / "mlp")
    assert json.loads(assay.run("graph", "check", tmp_path / "mlp", "--json").stdout)["hash"] == hashes["mlp"]
    assert assay.run("graph", "print", hashes["mlp"][:16]).stdout == (tmp_path / "mlp" / "model.py").read_text()


@pytest.mark.parametrize("target", TARGETS)
def test_every_graph_ends_in_an_outcome(assay, evaluations, target):
    evaluation = evaluations[target]
    assert evaluation["state"] == "COMPLETED" and evaluation["finished"] == len(FEW)
    outcomes = assay.json("results", evaluation["id"])["outcomes"]
    assert [o["graph"] for o in outcomes] == sorted(FEW)
    for outcome in outcomes:
        assert outcome["outcomeClass"] == "CORRECT", outcome
        assert outcome["speedup"] > 0 and outcome["candidateNs"] > 0 and outcome["baselineNs"] > 0
    rows = list(csv.DictReader(io.StringIO(assay.run("results", evaluation["id"], "--csv").stdout)))
    assert [row["graph"] for row in rows] == sorted(FEW)
    assert [float(row["speedup"]) for row in rows] == [o["speedup"] for o in outcomes]
    assert "mlp" in assay.run("results", evaluation["id"]).stdout


@pytest.mark.parametrize("target", TARGETS)
def test_show_has_the_phases_and_what_is_the_harness(assay, evaluations, target):
    (measurement,) = assay.json("show", evaluations[target]["id"], "mlp")["measurements"]
    assert measurement["sandbox"] == "full" and measurement["secretSeed"] and measurement["environment"]
    assert {p["name"].split(".")[0] for p in measurement["phases"]} >= {"load", "compile", "timing"}
    assert 0 < int(measurement["harnessNs"]) < int(measurement["wallNs"])
    assert int(measurement["replayedBytes"]) > 0
    assert {c["inputSet"] for c in measurement["comparisons"]} >= {"public", "secret"}
    timing = measurement["timing"]
    assert timing["pairs"] >= 3 and timing["hasInterval"] and timing["low"] <= timing["logSpeedup"] <= timing["high"]
    assert timing["candidateQuantilesNs"] == sorted(timing["candidateQuantilesNs"])
    text = assay.run("show", evaluations[target]["id"], "mlp").stdout
    for word in ("speed-up", "phases", "outputs", "environment", "Assay's own"):
        assert word in text


def test_inductor_aot_is_timed_without_python_beside_the_c_plus_plus_eager(assay, few):
    graphs = ["in_place", "mlp"]
    evaluation = assay.json(
        "evaluate", "--suite", few, "--target", "inductor-aot", "--graphs", ",".join(graphs), "--policy", "sweep", "--wait", timeout=1200)
    outcomes = assay.json("results", evaluation["id"])["outcomes"]
    assert [(o["graph"], o["outcomeClass"]) for o in outcomes] == [(name, "CORRECT") for name in graphs], outcomes
    for name in graphs:
        (measurement,) = assay.json("show", evaluation["id"], name)["measurements"]
        assert measurement["candidate"]["target"]["runner"] == measurement["baseline"]["target"]["runner"] == "torch"
        assert measurement["timing"]["oneProcess"]
        phases = {p["name"]: int(p["durationNs"]) for p in measurement["phases"] if not p.get("harness")}
        # The compilation is the Python runner's; the rest is loading.
        assert phases["lower.candidate"] > phases["compile.candidate"]
        assert int(measurement["candidate"]["compileNs"]) > phases["compile.candidate"]


@needs_xla
def test_xla_is_measured_against_the_other_runners_eager_and_lowered_once(assay, evaluations, few):
    offered = {t["target"]["compiler"]: t for t in assay.json("targets")["targets"]}
    assert offered["xla"]["baseline"] == "torch/eager"
    lowered = []
    for evaluation in evaluations["xla"], assay.json("evaluate", "--suite", few, "--target", "xla", "--graphs", "mlp", "--fresh", "--policy", "sweep", "--wait"):
        (measurement,) = assay.json("show", evaluation["id"], "mlp")["measurements"]
        assert measurement["baseline"]["target"]["runner"] == "torch" and not measurement["timing"].get("oneProcess")
        phases = [p for p in measurement["phases"] if p["name"] == "lower.candidate"]
        assert not any(p.get("harness") for p in phases) and "compile.candidate" in {p["name"] for p in measurement["phases"]}
        # A trial may start several processes.
        lowered.append(int(phases[0]["durationNs"]))
    # The second time it only reads what was kept.
    assert lowered[1] < lowered[0] / 2


def test_the_leaderboard_ranks_what_has_one_baseline(assay, evaluations):
    board = assay.json("leaderboard", "--suite", "few")
    entries = {e["evaluation"]["candidate"]["compiler"]: e for s in board["sections"] for e in s["entries"]}
    assert entries.keys() == {"torchscript", "inductor", *(["xla"] if XLA else [])}
    for entry in entries.values():
        assert entry["graphs"] == len(FEW) and entry["correct"] == len(FEW) and entry["failed"] == 0
        assert 0 < entry["s0Low"] <= entry["s0"] <= entry["s0High"]
        assert entry["es1"] > 0
    # One section a baseline: the C++ runner's eager has torchscript and xla, the Python runner's has inductor.
    ranks = [sorted((e["rank"], e["evaluation"]["candidate"]["compiler"]) for e in s["entries"]) for s in board["sections"]]
    assert sorted(len(section) for section in ranks) == ([1, 2] if XLA else [1, 1]), ranks
    assert all([rank for rank, _ in section] == list(range(1, len(section) + 1)) for section in ranks)
    text = assay.run("leaderboard", "--suite", "few").stdout
    assert "S(0)" in text and "torchscript" in text and "inductor" in text


def test_cold_caches_and_a_float64_reference(assay, few, evaluations):
    cold = assay.json("evaluate", "--suite", few, "--target", "torchscript", "--policy", "sweep", "--cache", "cold", "--reference-float64", "--wait")
    assert cold["policy"]["cache"] == "cold" and cold["policy"]["referenceFloat64"]
    assert evaluations["torchscript"]["policy"]["cache"] == "warm"
    for outcome in assay.json("results", cold["id"])["outcomes"]:
        assert outcome["outcomeClass"] == "CORRECT", outcome
        (measurement,) = assay.json("show", cold["id"], outcome["graph"])["measurements"]
        timing, reference = measurement["timing"], measurement["reference"]
        assert timing["callsPerSampleBaseline"] == timing["callsPerSampleCandidate"] == 1
        assert not reference.get("failure"), reference
        for side in ("baseline", "candidate"):
            assert outcome[f"reference{side.title()}T"] == reference[side]["criticalT"]
            assert reference[side]["outcomeClass"] == "CORRECT"
    text = assay.run("show", cold["id"], "mlp").stdout
    assert ", cold caches" in text and "in float64, by runner torch" in text
    cohorts = {e["evaluation"]["id"]: s["cohort"] for s in assay.json("leaderboard", "--suite", "few")["sections"] for e in s["entries"]}
    assert cohorts[cold["id"]] == cohorts[evaluations["torchscript"]["id"]] + ", cold caches"


def test_the_curve_agrees_with_the_leaderboard(assay, evaluations):
    evaluation = evaluations["torchscript"]
    curve = assay.json("curve", evaluation["id"])
    board = assay.json("leaderboard", "--suite", "few")
    entry = next(e for s in board["sections"] for e in s["entries"] if e["evaluation"]["id"] == evaluation["id"])
    at_zero = next(p for p in curve["points"] if p["t"] == 0)
    assert math.isclose(at_zero["s"], entry["s0"], rel_tol=1e-9)
    rows = list(csv.DictReader(io.StringIO(assay.run("curve", evaluation["id"], "--csv").stdout)))
    assert [float(r["s"]) for r in rows] == [p["s"] for p in curve["points"]]
    between = assay.json("curve", evaluation["id"], "--t", "-2:1:0.5")["points"]
    assert [p["t"] for p in between] == [-2, -1.5, -1, -0.5, 0, 0.5, 1]
    assert [p["s"] for p in between if p["t"] == int(p["t"])] == [p["s"] for p in curve["points"] if -2 <= p["t"] <= 1]
    assert [p["t"] for p in assay.json("curve", evaluation["id"], "--t", "-2.5")["points"]] == [-2.5]
    assert "the step between two levels" in assay.run("curve", evaluation["id"], "--t", "1:2:0", code=2).stderr


def test_an_equal_measurement_is_used_again(assay, few, evaluations):
    again = assay.json("evaluate", "--suite", few, "--target", "torchscript", "--policy", "sweep", "--wait")
    assert again["id"] != evaluations["torchscript"]["id"]
    first = {o["graph"]: o for o in assay.json("results", evaluations["torchscript"]["id"])["outcomes"]}
    for outcome in assay.json("results", again["id"])["outcomes"]:
        if not first[outcome["graph"]]["unstable"]:
            assert outcome["measurementId"] == first[outcome["graph"]]["measurementId"]


def test_the_same_key_gives_the_same_evaluation(assay, few):
    arguments = ["evaluate", "--suite", few, "--target", "torchscript", "--graphs", "mlp", "--policy", "sweep", "--key", "k1", "--wait"]
    first = assay.json(*arguments)
    assert first["partial"] and first["trials"] == 1
    assert assay.json(*arguments)["id"] == first["id"]


def test_cancel_works_while_it_runs_and_afterwards(assay):
    evaluation = assay.json("evaluate", "--suite", "bundled", "--target", "eager-python", "--policy", "precise", "--fresh")
    with assay.popen("watch", evaluation["id"], "--json") as watch:
        # The first line is the state now; from then on it is followed.
        assert json.loads(watch.stdout.readline())["state"] in ("QUEUED", "RUNNING")
        assay.run("cancel", evaluation["id"])
        out, _ = watch.communicate(timeout=120)
    assert watch.returncode == 1
    assert json.loads(out.splitlines()[-1])["state"] == "CANCELLED"
    assert assay.json("cancel", evaluation["id"])["state"] == "CANCELLED"
    # The worker is free again for others.
    done = assay.json("evaluate", "--suite", "bundled", "--target", "torchscript", "--graphs", "mlp", "--policy", "sweep", "--fresh", "--wait")
    assert done["state"] == "COMPLETED"


def test_progress_is_plain_lines_in_a_pipe(assay, few):
    answer = assay.run("evaluate", "--suite", few, "--target", "torchscript", "--policy", "sweep", "--fresh", "--wait", "--strict")
    assert "\x1b" not in answer.stderr and "\r" not in answer.stderr
    assert f"{len(FEW)}/{len(FEW)} graphs" in answer.stderr
    assert f"completed, {len(FEW)} correct" in answer.stdout


def test_repro_gives_the_same_outcome_without_a_server(assay, evaluations, tmp_path):
    folder = tmp_path / "repro"
    assay.run("repro", evaluations["torchscript"]["id"], "mlp", "-o", folder)
    assay.run("repro", evaluations["torchscript"]["id"], "mlp", "-o", folder, code=6)
    done = subprocess.run([folder / "run.sh"], capture_output=True, text=True, timeout=600, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    expected, measured = json.loads((folder / "expected.json").read_text()), json.loads(done.stdout)
    assert measured["outcome_class"] == "CORRECT" and measured["secret_seed"] == expected["secretSeed"]
    # The same inputs, bit for bit: the same differences.
    assert [c["critical_t"] for c in measured["comparisons"] if c["input_set"] == "secret"] == [
        c["criticalT"] for c in expected["comparisons"] if c["inputSet"] == "secret"]


def test_the_http_front_answers_the_same(assay):
    import urllib.request

    token = json.loads((assay.home / "up.json").read_text())["token"]
    request = urllib.request.Request(assay.address["http"] + "/v1/suites", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=30) as response:
        by_http = json.load(response)
    assert {s["name"] for s in by_http["suites"]} == {s["name"] for s in assay.json("suite", "list")["suites"]}
