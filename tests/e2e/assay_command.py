# SPDX-License-Identifier: Apache-2.0
"""The `assay` command as the end-to-end tests use it. ASSAY_BUILD names the build folder (build/release)."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "release"))
SAMPLES = ROOT / "samples"
XLA = (BUILD / "runner/pjrt/assay-runner-pjrt").exists() and any(ROOT.glob(".venv-xla/lib/python3.*/site-packages/xla_plugins"))
# Small ones of different kinds: a plain one, one that writes in place, one with integer outputs, one with batch norm in training mode.
FEW = ["mlp", "in_place", "integer_outputs", "batch_norm_training"]


class Assay:
    """The `assay` command in one state folder."""

    def __init__(self, home: pathlib.Path):
        self.home = home
        self.environment = {k: v for k, v in os.environ.items() if k not in ("ASSAY_SERVER", "ASSAY_TOKEN")}
        self.environment |= {"ASSAY_HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}

    def popen(self, *arguments: object, **options) -> subprocess.Popen:
        return subprocess.Popen(
            [BUILD / "client" / "assay", *map(str, arguments)], env=self.environment | options.pop("env", {}),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def run(self, *arguments: object, code: int = 0, timeout: float = 600, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        """Runs it and checks the exit code."""
        with self.popen(*arguments, env=env or {}) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        command = " ".join(map(str, arguments))
        assert process.returncode == code, f"assay {command} exited with {process.returncode}, not {code}\n{out}\n{err}"
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def json(self, *arguments: object, **options):
        return json.loads(self.run(*arguments, "--json", **options).stdout)

    def start(self) -> subprocess.Popen:
        """`assay up`, waited for until it says that it is ready."""
        process = self.popen("up", "--json")
        line = process.stdout.readline()
        if not line:
            process.wait()
            raise AssertionError(f"assay up exited with {process.returncode}:\n{process.stderr.read()}")
        self.address = json.loads(line)
        return process


def new_home() -> pathlib.Path:
    # Not under pytest's folder: when the tests run as root, Postgres runs as another user, who must be able to get there.
    home = pathlib.Path(tempfile.mkdtemp(prefix="assay-e2e-"))
    home.chmod(0o711)
    return home


def stop(process: subprocess.Popen) -> int:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    return process.returncode


def faulty_worker(assay: Assay) -> subprocess.Popen:
    """A worker beside that of `assay up`, with the runner of faulty_runner.py; waited for until the server knows it."""
    folder = assay.home / "faulty"
    folder.mkdir()
    venv = pathlib.Path(os.environ.get("ASSAY_VENV", ROOT / ".venv"))
    paths = [str(ROOT / "runner" / "python"), str(ROOT / "tests" / "e2e")]
    config = folder / "worker.toml"
    # A string of JSON is one of TOML.
    config.write_text(f"""
        server = {json.dumps(assay.address["grpc"])}
        token_file = {json.dumps(str(assay.home / "worker.token"))}
        name = "faulty"
        state_dir = {json.dumps(str(folder / "state"))}
        drain_seconds = 1
        [[runner]]
        name = "faulty"
        command = {json.dumps([str(venv / "bin" / "python"), str(ROOT / "tests" / "e2e" / "faulty_runner.py")])}
        venv = {json.dumps(str(venv))}
        trusted = true
        paths = {json.dumps(paths)}
        variables = {{ PYTHONPATH = {json.dumps(paths[0])} }}
    """)
    log = folder / "log"
    with log.open("w") as out:
        worker = subprocess.Popen([BUILD / "worker" / "assay-worker", "--config", config], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    end = time.monotonic() + 120
    while not any(t["target"]["compiler"] == "faulty" for t in assay.json("targets")["targets"]):
        assert worker.poll() is None and time.monotonic() < end, log.read_text()
        time.sleep(0.2)
    return worker
