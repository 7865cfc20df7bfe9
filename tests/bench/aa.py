#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how true the timing is, with the real worker and runners: A/A errors and coverage, and how often a planted effect is found.

    python tests/bench/aa.py aa --trials 100                     a table of A/A errors: policies, processes, threads, neighbours
    python tests/bench/aa.py planted --trials 100                a planted slow-down, with a runner whose calls take a known number of steps

ASSAY_BUILD names the build folder (build/release), ASSAY_VENV the runners' packages (.venv). Trials are run by `assay-worker --trial`.
`aa` takes eager against eager over sample graphs (calls above 20 ms are left out); `planted` takes the test runner, whose calls take a
given number of steps of arithmetic. With --raw FILE every trial is kept as a line of JSON. The tables say what load the machine had; on a shared machine that is part of the result.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "release"))
VENV = pathlib.Path(os.environ.get("ASSAY_VENV", ROOT / ".venv"))
LONGEST_NS = 20e6
SEED_STEPS = 1_000_000


def quantile(values: list[float], q: float) -> float:
    values = sorted(values)
    at = q * (len(values) - 1)
    low = math.floor(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def percent(share: float, digits: int = 2) -> str:
    return f"{100 * share:.{digits}f} %"


@contextlib.contextmanager
def neighbours(count: int):
    """So many processes that each keep a core busy."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


class LoadMeter:
    """How many threads ran or wanted to run, on average, sampled each second."""

    def __enter__(self):
        self.samples: list[int] = []
        self.end = threading.Event()
        self.thread = threading.Thread(target=self._sample)
        self.thread.start()
        return self

    def _sample(self):
        while not self.end.wait(1):
            self.samples.append(int(pathlib.Path("/proc/loadavg").read_text().split()[3].split("/")[0]) - 1)

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()

    def text(self) -> str:
        return f"{statistics.mean(self.samples):.1f}" if self.samples else "-"


class Trials:
    """Single trials with `assay-worker --trial`: the real runners, sandbox and timing code, no server."""

    def __init__(self, runners: list[str]):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-aa-"))
        self.folder.chmod(0o755)
        python = ROOT / "runner" / "python"
        runner = '\n[[runner]]\nname = "{}"\ncommand = {}\ntrusted = true\nwarm = false\n'
        known = {
            "fake": runner.format("fake", json.dumps([str(BUILD / "worker" / "assay_fake_runner")])),
            "torch": runner.format("torch", json.dumps([str(BUILD / "runner" / "torch" / "assay-runner-torch")])) + f'venv = "{VENV}"\n',
            "python": runner.format("python", json.dumps([str(VENV / "bin" / "python"), "-m", "assay_runner"])) + f'venv = "{VENV}"\n'
            f'paths = ["{python}"]\nvariables = {{ PYTHONPATH = "{python}" }}\n',
        }
        (self.folder / "worker.toml").write_text('state_dir = "state"\nlock_dir = "locks"\n' + "".join(known[name] for name in runners))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, graph: pathlib.Path, baseline: dict, candidate: dict, policy: str, processes: int, threads: int = 1) -> dict:
        (self.folder / "trial.json").write_text(json.dumps({
            "trial_id": "1", "fence": 1, "baseline": baseline, "candidate": candidate,
            "policy": {"name": policy, "threads": threads, "two_processes": processes == 2}}))
        done = subprocess.run([BUILD / "worker" / "assay-worker", "--config", self.folder / "worker.toml", "--trial", self.folder / "trial.json",
                               "--graph", graph], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"assay-worker exited with {done.returncode}: {done.stderr}")
        measurement = json.loads(done.stdout)
        if measurement["outcome_class"] != "CORRECT":
            sys.exit(f"the trial of {graph.name} is {measurement['outcome_class']}: {measurement.get('message')}")
        timing = measurement["timing"]
        assert timing.get("one_process", False) == (processes == 1)
        has_interval, low, high = timing.get("has_interval", False), timing.get("low", 0), timing.get("high", 0)
        limit = math.log(1.01)
        verdict = "unclear"
        if has_interval:
            verdict = "faster" if low > limit else "slower" if high < -limit else "same" if low >= -limit and high <= limit else "unclear"
        return {"graph": graph.name, "ns": timing["baseline_quantiles_ns"][2], "log": timing.get("log_speedup", 0),
                "low": low if has_interval else None, "high": high if has_interval else None, "verdict": verdict,
                "unstable": timing.get("unstable", False), "pairs": timing["pairs"],
                "seconds": sum(int(p.get("duration_ns", 0)) for p in measurement["phases"] if p["name"] == "timing") / 1e9}


def aa_row(trials: list[dict]) -> list[str]:
    errors = [abs(t["log"]) for t in trials]
    intervals = [t for t in trials if t["low"] is not None]
    covering = sum(t["low"] <= 0 <= t["high"] for t in intervals)
    wrong = sum(t["verdict"] in ("faster", "slower") for t in trials)
    half = statistics.median((t["high"] - t["low"]) / 2 for t in intervals)
    return [str(len(trials)), percent(statistics.median(errors)), percent(quantile(errors, 0.95)), percent(max(errors)),
            percent(covering / len(intervals), 0), percent(half), percent(wrong / len(trials), 1),
            percent(sum(t["unstable"] for t in trials) / len(trials), 0)]


def run_aa(options) -> None:
    print("| target | policy | processes | threads | neighbours | run queue | trials | median | p95 | max | coverage | half-width | wrong verdict | unstable |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    arm = {"compiler": options.target}
    with Trials(["torch"] if options.target in ("eager", "torchscript") else ["torch", "python"]) as bench:
        graphs = [ROOT / "samples" / name for name in options.graphs]
        for policy, processes, threads, busy in itertools.product(options.policies, options.processes, options.threads, options.neighbours):
            trials: list[dict] = []
            begin = time.monotonic()
            with neighbours(busy), LoadMeter() as load:
                for graph in itertools.cycle(graphs):
                    if len(trials) >= options.trials or time.monotonic() - begin > options.seconds:
                        break
                    trial = bench.run(graph, arm, arm, policy, processes, threads)
                    if trial["ns"] <= LONGEST_NS:
                        trials.append(trial)
            keep(options, trials, part="aa", policy=policy, processes=processes, threads=threads, neighbours=busy)
            print("| " + " | ".join([options.target, policy, str(processes), str(threads), str(busy), load.text(), *aa_row(trials)]) + " |",
                  flush=True)


def keep(options, trials: list[dict], **row) -> None:
    if options.raw:
        with options.raw.open("a") as out:
            for trial in trials:
                out.write(json.dumps(row | trial) + "\n")


def run_planted(options) -> None:
    print("| policy | processes | neighbours | run queue | call | planted | trials | slower | faster or slower | error median | error p95 | coverage | timing p50 | timing max |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    graph = ROOT / "samples" / "pyramid"  # small tensors: copying them is no part of the planted effect
    with Trials(["fake"]) as bench:
        def run(policy: str, processes: int, effect: float, steps: int) -> dict:
            return bench.run(graph, {"compiler": "eager", "runner": "fake", "options": {"steps": steps}},
                             {"compiler": "fake", "options": {"steps": round(steps * (1 + effect))}}, policy, processes)

        for policy, processes, busy, call_ms in itertools.product(options.policies, options.processes, options.neighbours, options.call_ms):
            steps = max(1, round(SEED_STEPS * call_ms * 1e6 / run("sweep", 1, 0, SEED_STEPS)["ns"]))
            for effect in (0.0, 0.03):
                begin = time.monotonic()
                trials: list[dict] = []
                with neighbours(busy), LoadMeter() as load:
                    while len(trials) < options.trials and time.monotonic() - begin < options.seconds:
                        trials.append(run(policy, processes, effect, steps))
                keep(options, trials, part="planted", policy=policy, processes=processes, neighbours=busy, effect=effect)
                truth = -math.log1p(effect)
                errors = [abs(t["log"] - truth) for t in trials]
                share = lambda *verdicts: percent(sum(t["verdict"] in verdicts for t in trials) / len(trials), 1)
                covering = sum(t["low"] is not None and t["low"] <= truth <= t["high"] for t in trials)
                print("| " + " | ".join([
                    policy, str(processes), str(busy), load.text(), f"{call_ms:g} ms", percent(effect, 0), str(len(trials)), share("slower"),
                    share("faster", "slower"), percent(statistics.median(errors)), percent(quantile(errors, 0.95)),
                    percent(covering / len(trials), 0), f"{statistics.median(t['seconds'] for t in trials):.1f} s",
                    f"{max(t['seconds'] for t in trials):.1f} s"]) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["aa", "planted"])
    parser.add_argument("--trials", type=int, default=100, help="of a row (100)")
    parser.add_argument("--seconds", type=float, default=math.inf, help="a row ends after so long, with fewer trials")
    parser.add_argument("--policies", nargs="+", default=["sweep", "standard"])
    parser.add_argument("--processes", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], help="of aa")
    parser.add_argument("--neighbours", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--call-ms", nargs="+", type=float, default=[1, 10], help="of planted")
    parser.add_argument("--target", default="eager", help="of aa")
    parser.add_argument("--graphs", nargs="+", default=["mlp", "normalisations", "self_attention", "lstm_cell", "residual_convolution"],
                        help="of aa: names of samples, taken in turn")
    parser.add_argument("--raw", type=pathlib.Path)
    options = parser.parse_args()
    {"aa": run_aa, "planted": run_planted}[options.part](options)


if __name__ == "__main__":
    main()
