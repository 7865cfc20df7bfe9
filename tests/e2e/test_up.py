# SPDX-License-Identifier: Apache-2.0
"""`assay up` keeps its parts running and takes them down with it, however it ends."""

from __future__ import annotations

import os
import pathlib
import signal
import time

import pytest

from assay_command import SAMPLES, Assay, stop


def processes_of(home: pathlib.Path) -> dict[int, str]:
    """Processes whose command line names the state folder, or whose ancestor's does."""
    parents, commands = {}, {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            commands[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
    found = {pid for pid, command in commands.items() if str(home) in command}
    for _ in range(len(parents)):
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            break
        found |= more
    found.discard(os.getpid())
    return {pid: commands[pid] for pid in found}


def wait_until(condition, seconds: float, what: str):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.1)


def pid_of(home: pathlib.Path, program: str) -> int:
    (pid,) = [pid for pid, command in processes_of(home).items() if command.split(" ")[0].endswith(program)]
    return pid


@pytest.fixture
def up(home):
    command = Assay(home)
    process = command.start()
    yield command, process
    if process.poll() is None:
        stop(process)
    process.stdout.close()
    process.stderr.close()
    wait_until(lambda: not processes_of(home), 30, "processes are left")


def test_parts_that_die_are_started_again_and_nothing_is_lost(up):
    assay, process = up
    assay.run("import", SAMPLES, "--suite", "bundled")
    evaluation = assay.json("evaluate", "--suite", "bundled", "--target", "torchscript", "--policy", "sweep", "--graphs", "mlp,lstm_cell,in_place")
    with assay.popen("watch", evaluation["id"], "--json") as watch:
        assert watch.stdout.readline()  # it has reached the server once; from then on it is patient
        os.kill(pid_of(assay.home, "assay-worker"), signal.SIGKILL)
        os.kill(pid_of(assay.home, "assay-server"), signal.SIGKILL)
        os.kill(pid_of(assay.home, "/postgres"), signal.SIGKILL)
        out, err = watch.communicate(timeout=400)
    assert watch.returncode == 0, out + err
    outcomes = assay.json("results", evaluation["id"])["outcomes"]
    assert [o["outcomeClass"] for o in outcomes] == ["CORRECT"] * 3
    assert process.poll() is None
    os.set_blocking(process.stderr.fileno(), False)
    said = process.stderr.read()
    for part in ("worker", "server", "postgres"):
        assert f"{part} ended with signal 9" in said
    assert stop(process) == 0


def test_kill_9_leaves_nothing_and_the_data_are_there_again(up):
    assay, process = up
    assay.run("import", SAMPLES, "--suite", "bundled")
    assay.run("evaluate", "--suite", "bundled", "--target", "inductor", "--policy", "sweep")
    assert len(processes_of(assay.home)) >= 4
    ports = (assay.home / "ports.json").read_text()
    process.kill()
    process.wait()
    wait_until(lambda: not processes_of(assay.home), 40, "processes are left after kill -9")
    assay.run("suite", "list", code=3)

    again = assay.start()
    try:
        assert (assay.home / "ports.json").read_text() == ports, "who waits for an evaluation must find it again"
        assert [s["name"] for s in assay.json("suite", "list")["suites"]] == ["bundled"]
        (evaluation,) = assay.json("status")["evaluations"]
        assert evaluation["state"] in ("QUEUED", "RUNNING")
        assay.run("cancel", evaluation["id"])
    finally:
        assert stop(again) == 0
        again.stdout.close()
        again.stderr.close()


def test_detached(home):
    assay = Assay(home)
    try:
        assert assay.json("up", "--detach")["state"] == str(home)
        assay.run("targets")
    finally:
        assay.run("down")
    wait_until(lambda: not processes_of(home), 10, "processes are left after assay down")
    assert not (home / "up.json").exists()
    assert "no 'assay up' runs" in assay.run("down").stdout


def test_a_part_that_is_not_there_is_told(home):
    assay = Assay(home)
    answer = assay.run("up", env={"ASSAY_VENV": "/nonexistent"}, code=5)
    assert "/nonexistent" in answer.stderr
    wait_until(lambda: not processes_of(home), 30, "processes are left")
