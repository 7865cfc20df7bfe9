#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every sample under a folder by assay-runner-torch and by Python on the same re-print, and compares bit for bit.

    tools/equality.py SAMPLES... --out results.jsonl [--jobs 2] [--memory-gib 8] [--list FILE]

One JSON line a sample: {"sample", "eager", "torchscript", "exact", …}, each "equal", "differs: …" or an error class and its message.
"eager" is bound ATen calls; "exact" is TorchScript without freezing and optimisation, which must be equal too; "torchscript" has its
default options, and may differ in the last bits. A second run with the same --out goes on where the first stopped.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "runner" / "torch"))

import torch  # noqa: E402

import harness  # noqa: E402


def weight_bytes(folder: pathlib.Path) -> int:
    total = 0
    for meta in harness.metas((folder / "weight_meta.py").read_text()):
        total += math.prod(meta.get("shape") or ()) * getattr(torch, str(meta["dtype"]).removeprefix("torch.")).itemsize
    return total


def compare(folder: pathlib.Path, options: argparse.Namespace) -> dict[str, object]:
    row: dict[str, object] = {"sample": str(folder)}
    start = time.monotonic()
    printed = subprocess.run([*options.print, str(folder)], capture_output=True, text=True, check=False)
    if printed.returncode:
        return row | {"eager": f"parse: {printed.stderr.strip()[:500]}"}
    model = printed.stdout
    size = weight_bytes(folder)
    if size > options.memory_gib * 2**30 / 3:
        return row | {"eager": f"skipped: {size} bytes of parameters"}
    torch.set_num_threads(1)
    values = harness.inputs(folder, harness.parameters_of(model))
    runner = harness.Runner(options.runner)
    try:
        trial = runner.trial()
        try:
            trial.load(model, values)
        except harness.RunnerError as error:
            row["eager"] = str(error)[:700]
        try:
            wanted = harness.reference(model, values)
        except Exception as error:  # noqa: BLE001: whatever Python says is the result
            return row | {"python": f"{type(error).__name__}: {error}"[:700]}
        if "eager" in row:
            return row
        for form, compiler, flags in (
            ("eager", "eager", {}),
            ("torchscript", "torchscript", {}),
            ("exact", "torchscript", {"freeze": False, "optimize": False}),
        ):
            try:
                handle = trial.compile(compiler, flags)
                trial.run(handle)
                row[form] = harness.difference(trial.run(handle), wanted) or "equal"
                if row[form] != "equal":
                    row[form] = "differs: " + row[form]
                trial.call("release", {"handle": handle})
            except harness.RunnerError as error:
                row[form] = str(error)[:700]
                if error.error_class == "crash":
                    return row
    finally:
        runner.process.kill()
        runner.process.wait()
    return row | {"seconds": round(time.monotonic() - start, 1)}


def guarded(folder: pathlib.Path, options: argparse.Namespace) -> dict[str, object]:
    """In a process of its own: what a sample does to its memory ends with it."""
    command = [sys.executable, __file__, str(folder), "--one", "--runner", options.runner, "--print", *options.print]
    command += ["--memory-gib", str(options.memory_gib)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout, check=False)
    except subprocess.TimeoutExpired:
        return {"sample": str(folder), "eager": f"timeout: {options.timeout} s"}
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"sample": str(folder), "eager": f"harness: exit code {done.returncode}: {done.stderr[-500:]}"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="+", type=pathlib.Path, help="folders that hold samples, at any depth")
    parser.add_argument("--list", type=pathlib.Path, help="only these: one path a line, as found under SAMPLES' parent (further columns are ignored)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("equality.jsonl"))
    parser.add_argument("--runner", default=str(ROOT / "build/release/runner/torch/assay-runner-torch"))
    parser.add_argument("--print", nargs="+", default=[str(ROOT / "build/release/client/assay"), "graph", "print"],
                        help="the command that prints a sample's canonical model.py")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--memory-gib", type=float, default=8, help="for each job")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one sample")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(compare(options.samples[0], options)))
        return 0
    folders = sorted({path.parent for root in options.samples for path in root.rglob("model.py")})
    if options.list:
        wanted = {line.split("\t")[0].strip() for line in options.list.read_text().splitlines()}
        folders = [folder for folder in folders if any(str(folder).endswith("/" + name) for name in wanted if name)]
    done = set()
    if options.out.exists():
        done = {json.loads(line)["sample"] for line in options.out.read_text().splitlines()}
    folders = [folder for folder in folders if str(folder) not in done]
    counts: dict[str, int] = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, options.out.open("a") as out:
        for row in pool.map(lambda folder: guarded(folder, options), folders):
            out.write(json.dumps(row) + "\n")
            out.flush()
            key = str(row.get("python", row.get("eager"))).split(":")[0]
            counts[key] = counts.get(key, 0) + 1
            print(f"{sum(counts.values())}/{len(folders)} {row['sample']}: {row.get('eager', row.get('python'))}"[:200], file=sys.stderr)
    print(json.dumps(counts))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
