# SPDX-License-Identifier: Apache-2.0
"""A user's own models: extracted, imported and measured at the first try."""

from __future__ import annotations

import json
import pathlib

import pytest

import extracted_models
from assay_extract.__main__ import main as extract_command

FILE = pathlib.Path(extracted_models.__file__)
NAMES = [model.__name__ for model in extracted_models.MODELS]


@pytest.fixture(scope="module")
def extracted(tmp_path_factory) -> pathlib.Path:
    """What `assay extract` runs, once a model and without a process for each."""
    folder = tmp_path_factory.mktemp("extracted")
    for name in NAMES:
        assert extract_command([f"{FILE}:{name}", "--fullgraph", "-o", str(folder / name)]) == 0, name
    return folder


def test_the_command_writes_the_same(assay, extracted, tmp_path):
    assay.run("extract", f"{FILE}:mixer", "-o", tmp_path / "mixer")
    for file in ("model.py", "weight_meta.py", "graph_net.json"):
        assert (tmp_path / "mixer" / file).read_text() == (extracted / "mixer" / file).read_text()


def test_all_are_accepted(assay, extracted):
    lines = [json.loads(line) for line in assay.run("graph", "check", extracted, "--json").stdout.splitlines()]
    assert [line.get("error") for line in lines] == [None] * len(NAMES)
    assert len({line["structure"] for line in lines}) == len(NAMES)


def test_all_are_measured(assay, extracted):
    answer = assay.json("import", extracted, "--suite", "extracted")
    assert answer["refused"] == []
    evaluation = assay.json("evaluate", "--suite", "extracted", "--target", "torchscript", "--policy", "sweep", "--wait", timeout=900)
    outcomes = {outcome["graph"]: outcome for outcome in assay.json("results", evaluation["id"])["outcomes"]}
    assert outcomes.keys() == set(NAMES)
    assert {name: outcome.get("message") for name, outcome in outcomes.items() if outcome["outcomeClass"] != "CORRECT"} == {}
