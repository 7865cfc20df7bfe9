# SPDX-License-Identifier: Apache-2.0
import gc
import threading

import torch

from assay_runner import timing


class FakeClock:
    """Says how long each call takes; never waits."""

    has_device_time = False

    def __init__(self) -> None:
        self.calls: list[tuple[object, int, bool]] = []

    def time(self, call, arguments, batch):
        self.calls.append((call, batch, gc.isenabled()))
        return 1000 * len(self.calls), 0, call(*arguments)


def arms():
    return [timing.Arm(lambda x: (x,), (torch.zeros(2),), 1), timing.Arm(lambda x: (x + 1,), (torch.zeros(2),), 3)]


def test_samples_follow_the_order_without_collections():
    clock, both, restored = FakeClock(), arms(), []
    taken = timing.sample(both, [0, 1, 1, 0], clock, restore=lambda: restored.append(len(clock.calls)), keep=2)
    assert taken.samples_ns == [1000, 2000, 3000, 4000]
    assert [(call, batch) for call, batch, _ in clock.calls] == [(both[w].call, both[w].batch) for w in (0, 1, 1, 0)]
    assert not any(enabled for *_, enabled in clock.calls) and gc.isenabled()
    assert restored == [0, 1, 2, 3]
    assert taken.kept[0].tolist() == [1, 1]


def test_the_budget_ends_at_an_even_number():
    taken = timing.sample(arms(), [0, 1] * 100, FakeClock(), restore=None, budget_ns=1)
    assert len(taken.samples_ns) == 2


def test_kept_outputs_are_copies():
    buffer = torch.zeros(1)
    arm = timing.Arm(lambda: (buffer.add_(1),), (), 1)
    assert timing.sample([arm], [0, 0, 0], FakeClock(), restore=None, keep=0).kept[0].item() == 1


def test_the_host_clock_calls_batch_times():
    calls = []
    duration, device, result = timing.HostClock().time(lambda x: calls.append(x) or x, (7,), 5)
    assert calls == [7] * 5 and result == 7 and duration > 0 and device == 0


def test_caches_are_emptied_before_each_sample():
    clock, done = FakeClock(), []
    timing.sample(arms(), [0, 1], clock, restore=lambda: done.append("restore"), sweep=lambda: done.append(len(clock.calls)))
    assert done == ["restore", 0, "restore", 1]  # last, so that restoring warms nothing


def test_a_sweep_reads_twice_the_last_level(tmp_path):
    for index, (kind, level, size) in enumerate([("Data", 1, "48K"), ("Instruction", 1, "64M"), ("Unified", 2, "1M"), ("Unified", 3, "4096K")]):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, text in (("type", kind), ("level", level), ("size", size)):
            (folder / name).write_text(f"{text}\n")
    assert timing.cache_sizes(tmp_path) == (4 << 20, 1 << 20)
    assert timing.cache_sizes(tmp_path / "nowhere") == (32 << 20, 1 << 20)
    before = threading.active_count()
    sweep = timing.HostSweep((4 << 20, 1 << 20))
    sweep.sweep()
    assert sweep._words.nbytes == 8 << 20 and threading.active_count() == before
