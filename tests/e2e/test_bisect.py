# SPDX-License-Identifier: Apache-2.0
"""`assay bisect-graph` with a compiler that is wrong where it is told to be."""

from __future__ import annotations

import pytest

from assay_command import Assay

GELU = "torch._C._nn.gelu"


def narrow(assay: Assay, graph: str, *options: str, t: float = 1) -> dict:
    arguments = [text for option in options for text in ("--option", option)]
    evaluation = assay.json("evaluate", "--suite", "bundled", "--target", "faulty", *arguments, "--graphs", graph, "--policy", "sweep", "--wait")
    return assay.json("bisect-graph", evaluation["id"], graph, "--t", t)


def test_the_first_wrong_operation_is_found(faulty):
    answer = narrow(faulty, "mlp", f"wrong_at={GELU}")
    assert answer["finding"] == "operation" and answer["confirmed"]
    (statement,) = answer["statements"]
    assert statement["callee"] == GELU and GELU in statement["text"]
    # Of several gelu the first: all that stands before it agrees.
    model = faulty.run("graph", "print", answer["graphHash"]).stdout.splitlines()
    assert statement["line"] == 1 + next(i for i, line in enumerate(model) if GELU in line)
    assert answer["worst"]["maxAbsDiff"] == pytest.approx(1e6, rel=1e-6) and answer["worst"]["dtype"] == "float32"
    steps = answer["steps"]
    assert steps[0]["operations"] == answer["operations"] and steps[0]["departs"]
    assert steps[-1]["operands"] and len(steps) <= 2 + answer["operations"].bit_length()


def test_an_element_of_a_tuple(faulty):
    answer = narrow(faulty, "lstm_cell", "wrong_at=.chunk", t=-3)
    assert answer["finding"] == "operation"
    (statement,) = answer["statements"]
    assert statement["callee"] == ".chunk"
    # The first of twelve.
    model = faulty.run("graph", "print", answer["graphHash"]).stdout.splitlines()
    assert statement["line"] == 1 + next(i for i, line in enumerate(model) if ".chunk(" in line)


def test_a_write_in_place(faulty):
    answer = narrow(faulty, "in_place", "wrong_at=.masked_fill_")
    assert answer["finding"] == "operation"
    assert [s["callee"] for s in answer["statements"]] == [".masked_fill_"]


def test_a_fault_of_fusing_is_told_from_one_of_the_operation(faulty):
    answer = narrow(faulty, "mlp", f"wrong_at={GELU}", "unless_returned=true")
    assert answer["finding"] == "together"
    assert [s["callee"] for s in answer["statements"]] == [GELU]
    assert answer["steps"][-1]["operands"] and not answer["steps"][-1]["departs"]


def test_a_fault_of_the_whole_graph_alone(faulty):
    operations = narrow(faulty, "mlp", f"wrong_at={GELU}")["operations"]
    answer = narrow(faulty, "mlp", f"wrong_at={GELU}", f"from_statements={operations}")
    assert answer["finding"] == "whole_graph"
    assert not any(s["departs"] for s in answer["steps"][1:-1])
    evaluation = answer["evaluation"]
    text = faulty.run("bisect-graph", evaluation, "mlp").stdout
    assert "the fault appears only in the whole graph" in text


def test_what_does_not_compile(faulty):
    answer = narrow(faulty, "batch_norm_training", "fails_at=torch.nn.functional.batch_norm")
    assert answer["finding"] == "operation" and answer["steps"][0]["outcomeClass"] == "COMPILE_FAIL"
    assert [s["callee"] for s in answer["statements"]] == ["torch.nn.functional.batch_norm"]


def test_what_is_right_is_not_narrowed(faulty):
    evaluation = faulty.json("evaluate", "--suite", "bundled", "--target", "faulty", "--graphs", "mlp", "--policy", "sweep", "--wait")
    assert "nothing to narrow" in faulty.run("bisect-graph", evaluation["id"], "mlp", code=6).stderr
    assert "no outcome of a graph 'mlpp'" in faulty.run("bisect-graph", evaluation["id"], "mlpp", code=5).stderr
