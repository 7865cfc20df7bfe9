# SPDX-License-Identifier: Apache-2.0
"""One `assay up` for all end-to-end tests: the real server, Postgres, worker and runners, in a state folder of its own."""

from __future__ import annotations

import pathlib
import shutil

import pytest

from assay_command import SAMPLES, Assay, faulty_worker, new_home, stop


@pytest.fixture(scope="session")
def assay():
    home = new_home()
    command = Assay(home)
    process = command.start()
    try:
        command.run("import", SAMPLES, "--suite", "bundled")
        yield command
    finally:
        code = stop(process)
        logs = {log.name: log.read_text(errors="replace")[-2000:] for log in (home / "log").glob("*.log")}
        shutil.rmtree(home)
    assert code == 0, logs


@pytest.fixture(scope="session")
def faulty():
    """An `assay up` with one worker more, whose compiler `faulty` has the faults that its options plant (faulty_runner.py)."""
    home = new_home()
    command = Assay(home)
    process = command.start()
    try:
        worker = faulty_worker(command)
        try:
            command.run("import", SAMPLES, "--suite", "bundled")
            yield command
        finally:
            worker.terminate()
            worker.wait(timeout=60)
    finally:
        stop(process)
        shutil.rmtree(home)


@pytest.fixture
def home():
    folder = new_home()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def sample(tmp_path) -> pathlib.Path:
    """A copy of a good sample, to be spoilt."""
    folder = tmp_path / "samples" / "spoilt"
    shutil.copytree(SAMPLES / "mlp", folder)
    return folder
