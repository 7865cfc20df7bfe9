# SPDX-License-Identifier: Apache-2.0
"""What is wrong is refused with a clear message and the right exit code, and nothing is left half done."""

from __future__ import annotations

import json
import re
import shutil
import socket

import pytest

from assay_command import BUILD


def edit(path, change):
    path.write_text(change(path.read_text()))


def before_return(folder, statement: str):
    edit(folder / "model.py", lambda text: re.sub(r"\n( +)return ", lambda m: f"\n{m[1]}{statement}{m[0]}", text, count=1))


def truncated(folder):
    edit(folder / "model.py", lambda text: text[: len(text) * 2 // 3])


def unknown_callee(folder):
    before_return(folder, "x = torch.no_such_function()")


def dunder_import(folder):
    before_return(folder, "x = __import__('os').system('true')")


def long_line(folder):
    edit(folder / "model.py", lambda text: text + "#" + "x" * 10_000_000 + "\n")


def nested_brackets(folder):
    before_return(folder, "x = " + "(" * 10_000 + ")" * 10_000)


def huge_shape(folder):
    edit(folder / "weight_meta.py", lambda text: re.sub(r"shape = \[[^\]]*\]", "shape = [1048576, 262144]", text, count=1))


def missing_file(folder):
    (folder / "weight_meta.py").unlink()


def binary(folder):
    (folder / "model.py").write_bytes(bytes(range(256)) * 16)


FAULTS = [truncated, unknown_callee, dunder_import, long_line, nested_brackets, huge_shape, missing_file, binary]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_bad_sample_is_refused_and_leaves_nothing(assay, sample, fault):
    before = (sample / "model.py").read_text()
    fault(sample)
    if fault not in (huge_shape, missing_file, binary):
        assert (sample / "model.py").read_text() != before
    answer = assay.run("graph", "check", sample, "--json", code=1, timeout=60)
    (line,) = answer.stdout.splitlines()
    verdict = json.loads(line)
    assert verdict["path"] == str(sample) and verdict["accepted"] is False and "hash" not in verdict
    assert verdict["error"]["message"]
    assert verdict["error"]["file"] == ("weight_meta.py" if fault in (huge_shape, missing_file) else "model.py")
    assert verdict["error"]["line"] > 0 or fault is missing_file
    assert len(verdict["error"]["message"]) < 2000

    suites = assay.json("suite", "list")
    report = assay.run("import", sample.parent, "--suite", "spoilt", code=1)
    assert "no suite was made" in report.stdout and "spoilt" in report.stdout
    assert assay.json("suite", "list") == suites


def test_a_suite_is_made_of_the_good_and_the_bad_are_listed(assay, sample, tmp_path):
    shutil.copytree(sample, sample.parent / "good")
    truncated(sample)
    refused = tmp_path / "refused.jsonl"
    assay.run("import", sample.parent, "--suite", "half-strict", "--strict", code=1)
    assert "half-strict" not in {s["name"] for s in assay.json("suite", "list")["suites"]}
    answer = assay.json("import", sample.parent, "--suite", "half", "--refused", refused, code=1)
    assert (answer["samples"], answer["accepted"], len(answer["refused"])) == (2, 1, 1)
    assert json.loads(refused.read_text())["path"] == str(sample)
    assert [g["name"] for g in assay.json("suite", "show", "half")["graphs"]] == ["good"]
    assay.run("import", sample.parent, "--suite", "half", "--allow-refused")
    assert assay.json("suite", "show", "half")["version"] == 1


def test_a_wrong_token(assay):
    answer = assay.run("targets", env={"ASSAY_TOKEN": "assay_" + "0" * 64}, code=4)
    assert "token" in answer.stderr
    assay.run("import", ".", "--suite", "x", env={"ASSAY_TOKEN": "not a token"}, code=4)


def test_roles(assay):
    made = assay.json("token", "create", "reader", "--role", "viewer")
    viewer = {"ASSAY_TOKEN": made["secret"]}
    assay.run("suite", "list", env=viewer)
    for denied in (["import", ".", "--suite", "x"], ["token", "list"], ["evaluate", "--suite", "bundled", "--target", "torchscript"]):
        assay.run(*denied, env=viewer, code=4)
    assay.run("token", "revoke", made["token"]["id"])
    assay.run("suite", "list", env=viewer, code=4)
    assert made["secret"] not in assay.run("token", "list", "--json").stdout


def test_a_dead_server(assay):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        dead = f"127.0.0.1:{s.getsockname()[1]}"
        answer = assay.run("targets", env={"ASSAY_SERVER": dead}, code=3, timeout=60)
        assert dead in answer.stderr and "ASSAY_SERVER" in answer.stderr
        assay.run("import", ".", "--suite", "x", env={"ASSAY_SERVER": dead}, code=3, timeout=60)


def test_no_server_at_all(assay, tmp_path):
    answer = assay.run("status", env={"ASSAY_HOME": str(tmp_path)}, code=3)
    assert "assay up" in answer.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["status", "999999"], 5),
        (["results", "999999"], 5),
        (["suite", "show", "no-such-suite"], 5),
        (["evaluate", "--suite", "no-such-suite", "--target", "torchscript"], 5),
        (["graph", "check", "/nonexistent"], 5),
        (["graph", "print", "0000000000000000"], 5),
        (["evaluate", "--suite", "bundled", "--target", "torchscript", "--graphs", "no-such-graph"], 2),
        (["evaluate", "--suite", "bundled"], 2),
        (["evaluate", "--suite", "bundled", "--target", "a b"], 2),
        (["evaluate", "--suite", "bundled", "--target", "inductor", "--option", "cpp.cxx=/bin/sh"], 2),
        (["evaluate", "--suite", "bundled", "--target", "inductor", "--policy", "hasty"], 2),
        (["import", ".", "--suite", "Not A Name"], 2),
        (["no-such-command"], 2),
        ([], 2),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else str(value),
)
def test_exit_codes(assay, arguments, code):
    answer = assay.run(*arguments, code=code)
    assert answer.stderr.strip()


def test_a_second_up_says_that_one_runs(assay):
    answer = assay.run("up", code=6)
    assert "already" in answer.stderr
    assay.run("targets")


def test_an_unknown_command_is_named_with_the_nearest(assay):
    answer = assay.run("leaderbord", "--suite", "x", code=2)
    assert "'assay leaderbord'" in answer.stderr and "did you mean 'leaderboard'?" in answer.stderr
    answer = assay.run("suite", "bogus", code=2)
    assert "'assay suite bogus'" in answer.stderr and "list, show, subset" in answer.stderr


def test_messages_are_short(assay):
    long = "a" * 100_000
    for arguments in (["suite", "show", long + "!"], ["import", ".", "--suite", long], ["evaluate", "--suite", "bundled", "--target", long + "!"],
                      [long], ["token", "create", "x", "--days", "-1"], ["evaluate", "--suite", "bundled", "--target", "eager", "--budget", "0"]):
        answer = assay.run(*arguments, code=2)
        assert answer.stderr.strip() and len(answer.stderr) < 800, answer.stderr[:2000]
    assert "above 0" in answer.stderr and "e-308" not in answer.stderr


def test_the_examples_of_help_hold(assay):
    text = assay.run("evaluate", "--help").stdout
    (option,) = re.findall(r"--target inductor --option (\S+)", text)
    made = assay.json("evaluate", "--suite", "bundled", "--target", "inductor", "--option", option, "--graphs", "mlp")
    assay.run("cancel", made["id"])


def test_runner_check_prints_json(assay):
    runner = BUILD / "worker" / "assay_fake_runner"
    answer = json.loads(assay.run("runner", "check", "--json", runner).stdout)
    assert answer["passed"] is True and len(answer["checks"]) > 5
    assert all(check["passed"] and check["what"] for check in answer["checks"])
    answer = json.loads(assay.run("--json", "runner", "check", "/bin/false", code=1).stdout)
    assert answer["passed"] is False and answer["checks"][-1]["message"]
