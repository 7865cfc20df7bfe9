#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What XLA makes of the samples under a folder, through a running service (`assay up`): which are lowered, which compile, run and agree.

    tools/xla_coverage.py SAMPLES --out xla.jsonl [--target xla] [--list FILE] [--memory-gib 1] [--again]
    tools/xla_coverage.py --out xla.jsonl --summary

The samples become the suite `public` if there is none. They are evaluated a few at a time, cheap ones first and one graph of each structure before the
others; one JSON line a graph is written. What does not agree with eager at t ≤ −3 is evaluated once more beside a float64 reference, which tells how far off
eager itself is. A second run with the same --out goes on where the first stopped; with --again it also runs what failed, and what lacks that reference.
--target xla@tpu:v5e compiles only. --summary prints the text of docs/coverage.md.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
Row = dict[str, object]


class Assay:
    def __init__(self, program: str) -> None:
        self.program = program

    def json(self, *arguments: object) -> dict:
        command = [self.program, *map(str, arguments), "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command[1:])[:300]} exited with {done.returncode}")
        return json.loads(done.stdout)


def samples_of(assay: Assay, options: argparse.Namespace) -> list[Row]:
    """The suite's graphs in the order in which they run."""
    suites = [suite["name"] for suite in assay.json("suite", "list")["suites"]]
    if options.suite not in suites:
        assay.json("import", options.samples, "--suite", options.suite, "--allow-refused")
    rows: list[Row] = [
        {"graph": graph["name"], "structure": graph["structure"], "operations": int(graph["operations"]), "bytes": int(graph["parameterBytes"])}
        for graph in assay.json("suite", "show", options.suite)["graphs"]
    ]
    if options.list:
        wanted = {line.split("\t")[0].strip().removeprefix("samples/") for line in options.list.read_text().splitlines()} - {""}
        missing = wanted - {row["graph"] for row in rows}
        if missing:
            print(f"not in the suite: {', '.join(sorted(missing))}", file=sys.stderr)
        rows = [row for row in rows if row["graph"] in wanted]
    rows = [row for row in rows if row["bytes"] <= options.memory_gib * 2**30]
    rows.sort(key=lambda row: row["bytes"] + 1e6 * row["operations"])
    first: dict[object, object] = {}
    for row in rows:
        first.setdefault(row["structure"], row["graph"])
    rows.sort(key=lambda row: first[row["structure"]] != row["graph"])
    return rows


def seconds(measurement: dict, phase: str) -> float:
    return round(sum(int(p["durationNs"]) for p in measurement["phases"] if p["name"] == phase) / 1e9, 3)


def evaluate(assay: Assay, rows: list[Row], options: argparse.Namespace, *more: str) -> str:
    """The evaluation's number."""
    graphs = [argument for row in rows for argument in ("--graphs", row["graph"])]
    policy = [] if "@" in options.target else ["--policy", "sweep"]
    return assay.json("evaluate", "--suite", options.suite, "--target", options.target, "--wait", *policy, *more, *graphs)["id"]


def measure(assay: Assay, rows: list[Row], options: argparse.Namespace) -> list[Row]:
    evaluation = evaluate(assay, rows, options)
    done: list[Row] = []
    by_name = {row["graph"]: row for row in rows}
    for outcome in assay.json("results", evaluation)["outcomes"]:
        measurements = assay.json("show", evaluation, outcome["graph"])["measurements"]
        last = measurements[-1] if measurements else {"phases": [], "candidate": {}}
        done.append(by_name[outcome["graph"]] | {
            "class": outcome["outcomeClass"], "detail": outcome.get("detail", ""), "phase": last.get("failedPhase", ""),
            "message": outcome.get("message", "")[:500], "t": outcome.get("criticalT"), "speedup": outcome.get("speedup"),
            "lower_s": seconds(last, "lower.candidate"), "compile_s": round(int(outcome.get("compileNs", 0)) / 1e9, 3),
            "executable_bytes": int(last["candidate"].get("executableBytes", 0)),
            "estimate_s": last["candidate"].get("costEstimate", {}).get("optimal_seconds"),
        })  # fmt: skip
    far = [row for row in done if is_far(row)]
    if far:
        evaluation = evaluate(assay, far, options, "--reference-float64")
        reference = {outcome["graph"]: outcome for outcome in assay.json("results", evaluation)["outcomes"]}
        for row in far:
            outcome = reference[row["graph"]]
            row |= {"eager_to_float64": outcome.get("referenceBaselineT"), "xla_to_float64": outcome.get("referenceCandidateT")}
    return done


def read(path: pathlib.Path) -> dict[str, Row]:
    if not path.exists():
        return {}
    return {row["graph"]: row for row in map(json.loads, path.read_text().splitlines())}


def good(row: Row) -> bool:
    return row["class"] in ("CORRECT", "COMPILED")


def level(value: object) -> float:
    return float(str(value).replace("Infinity", "inf"))


def agrees(row: Row) -> bool:
    return row["class"] == "CORRECT" and level(row["t"]) <= -3


def is_far(row: Row) -> bool:
    """Whether it ran, and what it computed is not near to eager's."""
    return row["class"] in ("CORRECT", "ACCURACY", "NAN_MISMATCH") and not agrees(row)


def is_ill_conditioned(row: Row) -> bool:
    """Whether eager itself is no nearer to float64 than t = −3: then two right compilers may differ by that much."""
    return is_far(row) and row.get("eager_to_float64") is not None and level(row["eager_to_float64"]) > -3


def lacks(row: Row) -> bool:
    return (not good(row) or is_far(row)) and "eager_to_float64" not in row


def run(options: argparse.Namespace) -> int:
    assay = Assay(str(options.build / "client/assay"))
    known = read(options.out)
    rows = samples_of(assay, options)
    todo = [row for row in rows if row["graph"] not in known or (options.again and lacks(known[row["graph"]]))]
    finished = 0
    with options.out.open("a") as out:
        for start in range(0, len(todo), options.chunk):
            for row in measure(assay, todo[start : start + options.chunk], options):
                out.write(json.dumps(row) + "\n")
                out.flush()
                finished += 1
                print(f"{finished}/{len(todo)} {row['graph']}: {row['class']} {row['message']}"[:200], file=sys.stderr)
    return 0


def lowered(row: Row) -> bool:
    return row["phase"] != "lower.candidate"


def reason(row: Row) -> str:
    """What rows have in common: the message without shapes and numbers."""
    line = re.sub(r"[\[(][\d, ]*[\])]", "[…]", str(row["message"]).split("\n")[0])
    line = re.sub(r"\b\d[\d.e+-]*\b", "N", line)
    return line[:160].replace("|", "\\|")


def table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(" --- " for _ in head) + "|"]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


def summary(options: argparse.Namespace) -> int:
    rows = [row for row in read(options.out).values() if row["class"] not in ("SKIPPED", "EAGER_FAIL")]
    through = [row for row in rows if lowered(row)]
    lines = [f"{len(rows)} graphs of {len({row['structure'] for row in rows})} structures. Lowered: {share(len(through), len(rows))}."]
    if any(row["class"] == "COMPILED" for row in rows):
        lines += [f"Of these compiled: {share(sum(good(row) for row in through), len(through))}.", ""]
    else:
        near = [row for row in through if agrees(row)]
        ill = [row for row in through if is_ill_conditioned(row)]
        lines += [
            f"Of these run: {share(sum(row['class'] != 'COMPILE_FAIL' for row in through), len(through))}; "
            f"run and agree with eager at t ≤ −3: {share(len(near), len(through))}.",
            f"In {len(ill)} of the others eager's float32 itself agrees with float64 only above t = −3, so no compiler can be held to it; "
            f"of those where it can, {share(len(near), len(through) - len(ill))} agree.",
            "",
        ]
    counts = collections.Counter(str(row["class"]).lower() for row in rows)
    lines += table(("outcome", "graphs"), counts.most_common())
    groups: dict[tuple[str, str], list[Row]] = collections.defaultdict(list)
    for row in rows:
        if row["class"] == "COMPILED" or agrees(row):
            continue
        what = "correct above t = −3 only" if good(row) else str(row["class"]).lower() + (", while lowering" if not lowered(row) else "")
        why = reason(row)
        if is_ill_conditioned(row):
            why = f"t* {level(row['t']):.1f}; to float64 eager {level(row['eager_to_float64']):.1f}, XLA {level(row['xla_to_float64']):.1f}".replace("-", "−")
        elif good(row):
            why = f"t* {level(row['t']):.1f}"
        groups[what, why].append(row)
    found = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    lines += table(
        ("graphs", "what", "reason", "which"),
        [
            (len(group), what, why, ", ".join(f"`{row['graph']}`" for row in group[:4]) + (f" and {len(group) - 4} more" if len(group) > 4 else ""))
            for (what, why), group in found
        ],
    )
    print("\n".join(lines).rstrip())
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="?", type=pathlib.Path, help="a folder that holds samples, at any depth")
    parser.add_argument("--target", default="xla")
    parser.add_argument("--suite", default="public")
    parser.add_argument("--list", type=pathlib.Path, help="only these: one name a line (further columns are ignored)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("xla.jsonl"))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="where assay is built")
    parser.add_argument("--memory-gib", type=float, default=1, help="graphs with more bytes of parameters are left out")
    parser.add_argument("--chunk", type=int, default=10, help="graphs of one evaluation")
    parser.add_argument("--again", action="store_true", help="run again what failed before")
    parser.add_argument("--summary", action="store_true", help="only print what --out holds")
    options = parser.parse_args()
    if options.summary:
        return summary(options)
    if options.samples is None:
        parser.error("which samples?")
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
