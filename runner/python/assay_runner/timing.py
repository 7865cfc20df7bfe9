# SPDX-License-Identifier: Apache-2.0
"""Timed calls. What stands between the two readings of the clock is the calls and nothing else."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

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
