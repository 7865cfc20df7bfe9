# SPDX-License-Identifier: Apache-2.0
"""A runner for the tests of a file, and a trial in it for each test."""

from __future__ import annotations

import pytest

import harness


@pytest.fixture(scope="module")
def runner():
    if not harness.RUNNER.exists():
        pytest.skip(f"{harness.RUNNER} is not built")
    process = harness.Runner(harness.RUNNER)
    yield process
    assert process.end() == 0


@pytest.fixture
def trial(runner):
    trial = runner.trial()
    yield trial
    trial.close()
