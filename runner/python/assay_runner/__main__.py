# SPDX-License-Identifier: Apache-2.0
"""python -m assay_runner: see the package's description."""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import pathlib
import sys
import tempfile

# Before PyTorch and NumPy are imported: neither may start a thread or a pool of processes, else the parent could not fork.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")

import torch  # noqa: E402

import assay_runner  # noqa: E402
from assay_runner import aot, compilers, devices, parent, session, toolchain, trial  # noqa: E402
from assay_runner.channel import Channel  # noqa: E402


def source() -> str:
    """Identifies this package's own text."""
    text = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if not path.name.endswith("_test.py"):
            text.update(path.read_bytes())
    return text.hexdigest()


def build() -> str:
    """Identifies the code that runs: PyTorch's commit, Python, and this package's own text."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"torch {torch.__version__} {torch.version.git_version}; python {python}; assay_runner {source()[:16]}"


def description(fork: bool) -> dict[str, object]:
    found = [devices.cpu(), *devices.cuda()]
    cuda = any(device["kind"] == "cuda" for device in found)
    return {
        "protocol": assay_runner.PROTOCOL,
        "name": "python",
        "version": torch.__version__,
        "build": build(),
        "fork": fork,
        "cold_caches": True,
        "reference": compilers.EAGER,
        "methods": sorted({*session.METHODS, *(parent.METHODS if fork else ())}),
        "compilers": compilers.describe(cuda),
        "lowers": aot.describe(cuda, source()),
        "devices": found,
        "clocks": ["host", "device"] if cuda else ["host"],
    }


def prepare(directory: str | None, own: str) -> str:
    """Makes this process ready to fork trials that compile at once. Returns the tool chain's folder: that in `directory`, or one that is made
    in `own`, which ends with this process."""
    folder = toolchain.find(directory) if directory else None
    if folder is None:
        if directory:
            command = f"{sys.executable} -m assay_runner --warm {directory}"
            print(f"assay_runner: {directory} has no parts for this machine; '{command}' makes them", file=sys.stderr, flush=True)
        folder = os.path.join(own, "parts")
        devices.in_child(lambda: toolchain.Toolchain(None).learn(folder))
    toolchain.Toolchain(folder).install()
    if not torch.version.cuda:  # Inductor may ask CUDA for its devices, and a process that did cannot fork
        toolchain.warm_process()
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m assay_runner", description=assay_runner.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--no-fork", action="store_true", help="serve one trial in this process")
    parser.add_argument("--no-isolation", action="store_true", help="fork without namespaces, as where the kernel forbids them")
    parser.add_argument("--warm", metavar="DIR", help="fill the tool chain's folder and end")
    parser.add_argument(
        "--toolchain",
        metavar="DIR",
        help="the tool chain's folder; may be read-only; without it one is made at each start, which takes half a minute",
    )
    options = parser.parse_args()
    if options.warm:
        try:
            print(toolchain.warm(options.warm))
        except toolchain.ToolchainError as error:
            print(f"assay_runner: {error}", file=sys.stderr)
            return 1
        return 0
    threads = torch.get_num_threads()
    described = description(fork=not options.no_fork)

    def serve(channel: Channel, directory: str) -> int:
        os.environ["TMPDIR"] = tempfile.tempdir = directory  # the second one is Python's own, remembered
        toolchain.use_folder(os.path.join(directory, "cache"))
        return session.Session(channel, directory, lambda: described, threads).serve()

    channel = Channel(3, 4)
    if options.no_fork:
        with tempfile.TemporaryDirectory(prefix="assay-trial-") as directory:
            return serve(channel, directory)
    trial.become_parent()
    with tempfile.TemporaryDirectory(prefix="assay-toolchain-") as own:
        folder = prepare(options.toolchain, own)
        # PyTorch's objects are out of every collection from here on: a child would copy the memory that a collection touches.
        gc.collect()
        gc.freeze()
        return parent.Parent(channel, lambda: described, serve, [folder], not options.no_isolation).serve()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # taking PyTorch down in order costs seconds and frees nothing that the kernel would not
