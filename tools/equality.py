#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every sample under a folder by assay-runner-torch and by Python on the same re-print, and compares bit for bit.

    tools/equality.py SAMPLES... --out results.jsonl [--jobs 1] [--memory-gib 4] [--forms eager exact] [--list FILE] [--again]
    tools/equality.py --out results.jsonl --summary

One JSON line a sample: {"sample", "eager", "torchscript", "exact", …}, each "equal", "close: …", "differs: …" or an error class and its message.
"eager" is bound ATen calls, and must be equal. "torchscript" has its default options, and may differ in the last bits ("close"); "exact" is
TorchScript without freezing and optimisation, which must be equal. --forms says which are run, eager always (the default is all, "exact" only
where "torchscript" is not equal). Cheap graphs come first, one of each structure before the others. A second run with the same --out goes on
where the first stopped; with --again it also runs what failed, and what has not all of --forms. Where Python refuses a graph, both must.

--summary prints the table of docs/coverage.md.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "runner" / "torch"))

import torch  # noqa: E402

import harness  # noqa: E402

Row = dict[str, object]

COMPARED = ("equal", "close", "differs")
COMPILERS = {
    "eager": ("eager", {}),
    "torchscript": ("torchscript", {}),
    "exact": ("torchscript", {"freeze": False, "optimize": False}),
}


def degenerate(value: torch.Tensor) -> bool:
    """Whether equality with it proves little: every element is the same, or one is not finite."""
    if not value.numel():
        return True
    flat = torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
    flat = flat.reshape(-1)
    if flat.is_floating_point() and not torch.isfinite(flat.float()).all():
        return True
    return bool((flat == flat[0]).all()) and flat.numel() > 1


def verdict(got: list[torch.Tensor], wanted: list[torch.Tensor]) -> str:
    different = harness.difference(got, wanted)
    if different is None:
        return "equal"
    try:
        torch.testing.assert_close(got, wanted, equal_nan=True)
    except AssertionError:
        return "differs: " + different
    return "close: " + different


OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&",
    ast.BitOr: "|", ast.Invert: "~", ast.USub: "neg", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


def callees(model: str) -> list[str]:
    """What the text calls, by the names of the callee table."""
    found = set()
    called = set()
    for node in ast.walk(ast.parse(model)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            found.add(name if name.startswith("torch.") or "." not in name else "." + name.rpartition(".")[2])
            called.add(node.func)
        elif isinstance(node, ast.BinOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name) and node.operand.id != "inf"):
            found.add(f"operator:{OPERATORS[type(node.op)]}")
        elif isinstance(node, ast.AugAssign):
            found.add(f"operator:{OPERATORS[type(node.op)]}=")
        elif isinstance(node, ast.Compare):
            found.add(f"operator:{OPERATORS[type(node.ops[0])]}")
        elif isinstance(node, ast.Subscript):
            found.add("operator:setitem" if isinstance(node.ctx, ast.Store) else "operator:getitem")
        elif isinstance(node, ast.Attribute) and node not in called and not ast.unparse(node).startswith("torch."):
            found.add(f"getattr:.{node.attr}")
    return sorted(found - {"device", "slice"})


def compare(trial: harness.Trial, row: Row, printer: list[str], forms: list[str], report) -> None:
    """Reports the row, more and more complete: the last one that arrived holds."""
    folder = pathlib.Path(str(row["sample"]))
    torch.set_num_threads(1)
    model = subprocess.run([*printer, str(folder)], capture_output=True, text=True, check=True).stdout
    row["callees"] = callees(model)
    fd = harness.tensor_file(harness.inputs(folder, harness.parameters_of(model)))
    refusal = None
    try:
        wanted = harness.consuming_reference(model, harness.tensor_files.map_tensors(fd))
        row["degenerate"] = sum(map(degenerate, wanted))
        row["outputs"] = len(wanted)
    except Exception as error:  # noqa: BLE001: whatever Python says is the result
        refusal = str(error)
        row["python"] = f"{type(error).__name__}: {error}"[:700]
        report(row)
    report(row | {"eager": "crash: the comparison ended while it ran"})
    try:
        trial.load_file(model, fd)
        if refusal is not None:
            row["eager"] = "differs: eager took what Python refuses"
            return report(row)
    except harness.RunnerError as error:
        if refusal and refusal.split("\n")[0] in error.message:
            row["eager"] = "refused: " + row.pop("python")
        else:
            row["eager"] = str(error)[:700]
        return report(row)
    os.close(fd)
    for form in forms:
        if form == "exact" and row.get("torchscript") == "equal":
            continue
        compiler, flags = COMPILERS[form]
        try:
            handle = trial.compile(compiler, flags)
            row[form] = verdict(trial.run(handle), wanted)
            trial.call("release", {"handle": handle})
        except harness.RunnerError as error:
            row[form] = str(error)[:700]
        report(row)
        if str(row[form]).startswith("crash"):
            return None
    return None


class Job:
    """A comparison in a child of this process, beside a child of the runner: what a sample does to their memory ends with them."""

    def __init__(self, runner: harness.Runner, row: Row, options: argparse.Namespace) -> None:
        self.row = row
        self.forms = options.forms
        self.start = time.monotonic()
        self.deadline = self.start + options.timeout
        trial, self._trial_fd = runner.killable_trial()
        self.pipe, theirs = os.pipe()
        self._text = b""
        self._child = os.fork()
        if self._child == 0:
            code = 1
            try:
                compare(trial, dict(row), options.print, options.forms, lambda now: os.write(theirs, json.dumps(now).encode() + b"\n"))
                code = 0
            except BaseException as error:  # noqa: BLE001: this child must not go on as its parent
                os.write(theirs, json.dumps(row | {"eager": f"harness: {type(error).__name__}: {error}"[:700]}).encode() + b"\n")
            os._exit(code)
        os.close(theirs)
        trial.close()

    def read(self) -> bool:
        """Takes what was reported; False when that was all."""
        data = os.read(self.pipe, 1 << 16)
        self._text += data
        return bool(data)

    def finish(self, timed_out: bool = False) -> Row:
        try:
            signal.pidfd_send_signal(self._trial_fd, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if timed_out:
            os.kill(self._child, signal.SIGKILL)
        _, status = os.waitpid(self._child, 0)
        os.close(self._trial_fd)
        os.close(self.pipe)
        lines = self._text.split(b"\n")
        row = json.loads(lines[-2]) if len(lines) > 1 else dict(self.row)
        if timed_out:
            late = [form for form in self.forms if form not in row or str(row[form]).startswith("crash")]
            if late:  # none where it had just ended
                row[late[0]] = f"timeout: {self.deadline - self.start:.0f} s"
        elif os.WIFSIGNALED(status) and "eager" not in row:
            row["python"] = f"crash: signal {os.WTERMSIG(status)}"
        return row | {"seconds": round(time.monotonic() - self.start, 1)}


def samples_of(options: argparse.Namespace) -> list[Row]:
    """In the order in which they run."""
    command = [options.assay, "graph", "check", "--json", *map(str, options.samples)]
    rows = [json.loads(line) for line in subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()]
    graphs = collections.Counter(row.get("structure") for row in rows)
    if options.list:
        names = {line.split("\t")[0].strip() for line in options.list.read_text().splitlines()} - {""}
        rows = [row for row in rows if any(row["path"].endswith("/" + name) for name in names)]
    samples: list[Row] = []
    for row in rows:
        sample: Row = {"sample": row["path"]}
        if row["accepted"]:
            sample |= {key: row[key] for key in ("hash", "structure", "operations", "parameter_bytes")}
            sample["structure_graphs"] = graphs[row["structure"]]
        else:
            sample["eager"] = f"parse: {row['error']['file']}: {row['error']['message']}"
        samples.append(sample)
    samples.sort(key=lambda sample: sample.get("parameter_bytes", 0) + 1e6 * sample.get("operations", 0))
    return samples


def breadth_first(samples: list[Row], compared: set[object]) -> list[Row]:
    """One of each structure that is not in `compared`, then the others."""
    seen = set(compared)
    first, others = [], []
    for sample in samples:
        key = sample.get("structure", sample["sample"])
        (others if key in seen else first).append(sample)
        seen.add(key)
    return first + others


def outcome(row: Row, form: str) -> str:
    if form not in row and "python" in row:
        return "python fails"
    return str(row.get(form, "")).split(":")[0]


def read(path: pathlib.Path) -> dict[str, Row]:
    if not path.exists():
        return {}
    return {row["sample"]: row for row in map(json.loads, path.read_text().splitlines())}


def settled(row: Row, forms: list[str]) -> bool:
    """Whether --again would tell nothing new."""
    eager = outcome(row, "eager")
    if eager != "equal":
        return eager in ("skipped", "parse", "refused")
    return all(form in row or row.get("torchscript") == "equal" for form in forms)


def run(options: argparse.Namespace) -> int:
    known = read(options.out)
    todo = []
    for row in samples_of(options):
        before = known.get(str(row["sample"]))
        if before is None or (options.again and not settled(before, options.forms)):
            todo.append(row)
    todo = breadth_first(todo, {row.get("structure") for row in known.values() if outcome(row, "eager") in COMPARED})
    counts: collections.Counter[str] = collections.Counter()
    total = len(todo)
    todo.reverse()
    runner = harness.Runner(options.runner)
    jobs: list[Job] = []
    with options.out.open("a") as out:

        def done(row: Row) -> None:
            out.write(json.dumps(row) + "\n")
            out.flush()
            counts[outcome(row, "eager")] += 1
            print(f"{counts.total()}/{total} {row['sample']}: {row.get('python', row.get('eager'))}"[:200], file=sys.stderr)

        try:
            while todo or jobs:
                while todo and len(jobs) < options.jobs:
                    held = sum(int(job.row["parameter_bytes"]) for job in jobs)
                    if jobs and held + int(todo[-1].get("parameter_bytes", 0)) > options.memory_gib * 2**30:
                        break  # its turn comes when one of those has ended
                    row = todo.pop()
                    if "eager" in row:
                        done(row)
                    elif int(row["parameter_bytes"]) > options.memory_gib * 2**30:
                        done(row | {"eager": f"skipped: {row['parameter_bytes']} bytes of parameters"})
                    else:
                        jobs.append(Job(runner, row, options))
                if not jobs:
                    continue
                wait = max(0, min(job.deadline for job in jobs) - time.monotonic())
                ready = select.select([job.pipe for job in jobs], [], [], wait)[0]
                for job in list(jobs):
                    if job.pipe in ready and not job.read():
                        jobs.remove(job)
                        done(job.finish())
                    elif time.monotonic() >= job.deadline:
                        jobs.remove(job)
                        done(job.finish(timed_out=True))
        finally:
            for job in jobs:
                job.finish(timed_out=True)
            runner.process.kill()
            runner.process.wait()
    print(json.dumps(counts))
    return 0


def reason(text: str) -> str:
    """What rows have in common: the message's first line without shapes and numbers."""
    line = text.split("\n")[0]
    line = re.sub(r"^(unsupported|load_fail|compile_fail|runtime_fail): ", "", line)
    line = re.sub(r"\[[\d, ]*\]", "[…]", line)
    line = re.sub(r"\b\d[\d.e+-]*\b", "N", line)
    return line[:160].replace("|", "\\|")


def table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(" --- " for _ in head) + "|"]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]


def name(row: Row) -> str:
    sample = str(row["sample"])
    return sample.split("/samples/")[-1]


def summary(options: argparse.Namespace) -> int:
    rows = sorted(read(options.out).values(), key=name)
    compared = [row for row in rows if outcome(row, "eager") in COMPARED]
    stand_for = {row["structure"]: row["structure_graphs"] for row in compared}
    lines = [
        f"{len(rows)} graphs were taken, of {len({row.get('structure') for row in rows} - {None})} structures; "
        f"{len(compared)} of them were compared. They are of {len(stand_for)} structures, which {sum(stand_for.values())} graphs have, "
        f"and hold {sum(row['operations'] for row in compared)} operations in all.",
        "",
    ]
    kinds = ("equal", "close", "differs", "unsupported", "load_fail", "compile_fail", "runtime_fail", "out_of_memory", "crash", "timeout",
             "python fails", "refused", "skipped", "parse", "harness", "internal")  # fmt: skip
    forms = ("eager", "torchscript", "exact")
    counted = {form: collections.Counter(outcome(row, form) for row in rows if form in row or (form == "eager" and "python" in row)) for form in forms}
    lines += table(
        ("outcome", "eager", "torchscript", "torchscript, exact"),
        [(kind, *(counted[form][kind] for form in forms)) for kind in kinds if any(counted[form][kind] for form in forms)],
    )
    flat = [row for row in compared if row.get("outputs") and row.get("degenerate") == row.get("outputs")]
    lines += [f"Outputs are degenerate (all elements equal, or some not finite) in {len(flat)} of those compared: equality proves little there.", ""]
    for form in forms:
        groups: dict[str, list[Row]] = collections.defaultdict(list)
        for row in rows:
            text = str(row.get(form, row.get("python", "")))
            kind = outcome(row, form)
            if kind in ("equal", "") or (kind == "close" and form == "torchscript") or (form != "eager" and form not in row):
                continue
            groups[f"{kind}: {reason(text.removeprefix(kind + ': '))}"].append(row)
        if not groups:
            continue
        lines += [f"### {form}: what is not equal, and why", ""]
        lines += table(
            ("graphs", "reason", "which"),
            [
                (len(group), why, ", ".join(f"`{name(row)}`" for row in group[:40]) + (f" and {len(group) - 40} more" if len(group) > 40 else ""))
                for why, group in sorted(groups.items(), key=lambda item: -len(item[1]))
            ],
        )
    used = collections.Counter(callee for row in compared for callee in row["callees"])
    lines += [f"### Callees compared: {len(used)}", "", "With the number of compared graphs that have each.", ""]
    for title, prefix in (("Operators and attributes", ("operator:", "getattr:")), ("Methods", (".",)), ("Functions", ("torch.",))):
        named = sorted(((-count, callee) for callee, count in used.items() if callee.startswith(prefix)))
        lines += [f"{title}: " + ", ".join(f"`{callee.removeprefix('operator:').removeprefix('getattr:')}` {-count}" for count, callee in named) + ".", ""]
    print("\n".join(lines).rstrip())
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="*", type=pathlib.Path, help="folders that hold samples, at any depth")
    parser.add_argument("--list", type=pathlib.Path, help="only these: one path a line, as found under SAMPLES' parent (further columns are ignored)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("equality.jsonl"))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="where assay and assay-runner-torch are built")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--memory-gib", type=float, default=4, help="graphs with more bytes of parameters are skipped; those that run at once have no more together")
    parser.add_argument("--forms", nargs="+", choices=list(COMPILERS), default=list(COMPILERS), help="what is compared with Python")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one sample")
    parser.add_argument("--again", action="store_true", help="run again what failed before")
    parser.add_argument("--summary", action="store_true", help="only print what --out holds")
    options = parser.parse_args()
    options.runner = str(options.build / "runner/torch/assay-runner-torch")
    options.assay = str(options.build / "client/assay")
    options.print = [options.assay, "graph", "print"]
    options.forms = [form for form in COMPILERS if form == "eager" or form in options.forms]
    if options.summary:
        return summary(options)
    if not options.samples:
        parser.error("which samples?")
    return run(options)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
