# SPDX-License-Identifier: Apache-2.0
"""Timed calls. What stands between the two readings of the clock is the calls and nothing else."""

from __future__ import annotations

import contextlib
import gc
import os
import pathlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy
import torch


@contextlib.contextmanager
def no_collections() -> Iterator[None]:
    """Keeps the garbage collector out of the timed part."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class HostClock:
    """For devices that are the host itself."""

    has_device_time = False

    def time(self, call: Callable[..., object], arguments: Sequence[object], batch: int) -> tuple[int, int, object]:
        """Host ns, device ns (0) and the last call's result."""
        repeats = range(batch - 1)
        start = time.perf_counter_ns()
        for _ in repeats:
            call(*arguments)
        result = call(*arguments)
        return time.perf_counter_ns() - start, 0, result


class CudaClock:
    """Synchronises at both ends; events on the device's own clock."""

    has_device_time = True

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._begin = torch.cuda.Event(enable_timing=True)
        self._end = torch.cuda.Event(enable_timing=True)

    def time(self, call: Callable[..., object], arguments: Sequence[object], batch: int) -> tuple[int, int, object]:
        repeats = range(batch - 1)
        torch.cuda.synchronize(self._device)
        start = time.perf_counter_ns()
        self._begin.record()
        for _ in repeats:
            call(*arguments)
        result = call(*arguments)
        self._end.record()
        torch.cuda.synchronize(self._device)
        duration = time.perf_counter_ns() - start
        return duration, round(self._begin.elapsed_time(self._end) * 1e6), result


def clock(device: torch.device) -> HostClock | CudaClock:
    return CudaClock(device) if device.type == "cuda" else HostClock()


_CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")
_DEVICE_BYTES = 512 << 20  # no accelerator's cache is half as large


def cache_sizes(folder: pathlib.Path = _CACHES) -> tuple[int, int]:
    """Bytes of the last-level cache and of a processor's own (level 2); 32 MiB and 1 MiB where the system does not tell."""
    last, own = 0, 0
    for cache in folder.glob("index*"):
        kind, level, size = ((cache / name).read_text().strip() for name in ("type", "level", "size"))
        if kind == "Instruction":
            continue
        unit = {"K": 1 << 10, "M": 1 << 20}.get(size[-1:], 1)
        count = int(size.rstrip("KM")) * unit
        last = max(last, count)
        if level == "2":
            own = count
    return last or 32 << 20, own or 1 << 20


class HostSweep:
    """Empties the processors' caches as runner/cache_sweep.h does: each processor reads its share of a buffer of twice the last-level cache."""

    def __init__(self, sizes: tuple[int, int] | None = None) -> None:
        last, own = sizes or cache_sizes()
        self._words = numpy.ones(min(2 * last, 4 << 30) // 8, dtype=numpy.uint64)
        self._cpus = sorted(os.sched_getaffinity(0))
        self._share = min(len(self._words), max(len(self._words) // len(self._cpus), 2 * own // 8))

    def sweep(self) -> None:
        threads = [threading.Thread(target=self._read, args=place) for place in enumerate(self._cpus)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _read(self, index: int, cpu: int) -> None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {cpu})  # of this thread
        start = index * (len(self._words) // len(self._cpus))
        for part in (self._words[start : start + self._share], self._words[: max(0, start + self._share - len(self._words))]):
            part[::8].sum()  # one word of each line; other threads run meanwhile


class DeviceSweep:
    def __init__(self, device: torch.device) -> None:
        self._buffer = torch.ones(_DEVICE_BYTES // 4, device=device)

    def sweep(self) -> None:
        self._buffer.sum()
        torch.cuda.synchronize(self._buffer.device)


def cold_caches(device: torch.device) -> HostSweep | DeviceSweep:
    return DeviceSweep(device) if device.type == "cuda" else HostSweep()


@dataclass
class Arm:
    """One compiled form with its arguments."""

    call: Callable[..., object]
    arguments: Sequence[object]
    batch: int


@dataclass
class Samples:
    samples_ns: list[int] = field(default_factory=list)
    device_ns: list[int] = field(default_factory=list)
    wall_ns: int = 0
    kept: object = None  # copies of the outputs asked for


def sample(
    arms: Sequence[Arm],
    order: Sequence[int],
    timer: HostClock | CudaClock,
    *,
    restore: Callable[[], None] | None,
    sweep: Callable[[], None] | None = None,
    budget_ns: int = 0,
    keep: int | None = None,
) -> Samples:
    """One sample for each entry of `order`, back to back, until the budget is spent (at an even number of samples)."""
    taken = Samples()
    with no_collections():
        start = time.perf_counter_ns()
        for index, which in enumerate(order):
            if budget_ns and index and index % 2 == 0 and time.perf_counter_ns() - start >= budget_ns:
                break
            if restore is not None:
                restore()
            if sweep is not None:
                sweep()
            arm = arms[which]
            duration, device, result = timer.time(arm.call, arm.arguments, arm.batch)
            taken.samples_ns.append(duration)
            taken.device_ns.append(device)
            if index == keep:
                # A copy: later calls may write to the same memory.
                taken.kept = [value.detach().clone() if isinstance(value, torch.Tensor) else value for value in result]
            result = None
        taken.wall_ns = time.perf_counter_ns() - start
    return taken
