# SPDX-License-Identifier: Apache-2.0
"""`assay compare` of measured evaluations: what departs is measured again."""

from __future__ import annotations

import json
import xml.etree.ElementTree

import pytest

GRAPHS = "mlp,batch_norm_training"


@pytest.fixture(scope="module")
def sides(faulty) -> tuple[str, str]:
    """Ids of two evaluations: a good one, and one that is wrong in mlp and slow in batch_norm_training."""
    good = ["evaluate", "--suite", "bundled", "--target", "faulty", "--graphs", GRAPHS, "--policy", "sweep", "--wait"]
    bad = [*good, "--option", "wrong_at=torch._C._nn.gelu", "--option", "slow_at=torch.nn.functional.batch_norm"]
    return faulty.json(*good)["id"], faulty.json(*bad)["id"]


def changes(answer: dict) -> dict[str, str]:
    return {g["graph"]: g["change"] for g in answer["graphs"]}


def count(assay) -> int:
    return len(assay.json("status", "--count", 1000)["evaluations"])


def test_departures_of_both_directions_are_measured_again(faulty, sides):
    good, bad = sides
    outcomes = [faulty.json("results", side)["outcomes"] for side in sides]
    before = count(faulty)
    worse = faulty.json("compare", good, bad)
    assert changes(worse) == {"mlp": "new-failure", "batch_norm_training": "slower"}
    better = faulty.json("compare", bad, good)
    assert changes(better) == {"mlp": "repair", "batch_norm_training": "faster"}
    for answer in (worse, better):
        assert all(g["remeasured"] and g["changeAtFirst"] == g["change"] for g in answer["graphs"])
    assert count(faulty) == before + 4
    assert [faulty.json("results", side)["outcomes"] for side in sides] == outcomes, "the outcomes stay"
    # The fresh measurement is what is told.
    slow = next(g for g in worse["graphs"] if g["graph"] == "batch_norm_training")
    stored = next(o for o in outcomes[1] if o["graph"] == "batch_norm_training")
    assert slow["afterNs"] != stored["candidateNs"] and slow["ratioHigh"] < 1 and slow["pValue"] < 0.05
    # The same question has the same answer, without measuring until it suits.
    assert faulty.json("compare", good, bad) == worse
    assert count(faulty) == before + 4


def test_exit_codes_and_forms(faulty, sides):
    good, bad = sides
    faulty.run("compare", good, bad)
    faulty.run("compare", good, bad, "--fail-on", "faster,repair")
    faulty.run("compare", good, bad, "--fail-on", "slower,new-failure", code=1)
    faulty.run("compare", good, bad, "--fail-on", "worse", code=2)
    text = faulty.run("compare", good, bad).stdout
    assert text.index("mlp") < text.index("batch_norm_training") and "correct → accuracy" in text and "measured twice" in text
    markdown = faulty.run("compare", good, bad, "--format", "markdown").stdout
    assert "| mlp | new-failure | correct → accuracy |" in markdown
    junit = faulty.run("compare", good, bad, "--format", "junit", "--fail-on", "slower", code=1).stdout
    suite = xml.etree.ElementTree.fromstring(junit).find("testsuite")
    assert {c.attrib["name"]: c.find("failure") is not None for c in suite} == {"mlp": False, "batch_norm_training": True}


def test_an_evaluation_is_not_faster_than_itself(faulty, sides):
    before = count(faulty)
    answer = faulty.json("compare", sides[0], sides[0], "--fail-on", "slower,faster,new-failure,repair")
    assert set(changes(answer).values()) <= {"same", "unclear"} and answer["meanRatio"] == 1
    assert count(faulty) == before


def test_a_viewer_may_compare_what_is_stored(faulty, sides):
    good, bad = sides
    token = faulty.json("token", "create", "looker", "--role", "viewer")["secret"]
    as_viewer = {"ASSAY_SERVER": faulty.address["grpc"], "ASSAY_TOKEN": token}
    faulty.run("compare", good, bad, code=4, env=as_viewer)
    answer = json.loads(faulty.run("compare", good, bad, "--stored", "--json", env=as_viewer).stdout)
    assert changes(answer) == {"mlp": "new-failure", "batch_norm_training": "slower"}
    assert not any(g["remeasured"] for g in answer["graphs"])


def test_without_common_ground_it_is_refused(faulty, sides):
    other = faulty.json("evaluate", "--suite", "bundled", "--target", "torchscript", "--graphs", "mlp", "--policy", "sweep", "--wait")
    refused = faulty.run("compare", sides[0], other["id"], code=6).stderr
    assert "baselines" in refused and "--across-cohorts" in refused
    answer = faulty.json("compare", sides[0], other["id"], "--across-cohorts", "--stored")
    assert changes(answer)["batch_norm_training"] == "missing"
