# SPDX-License-Identifier: Apache-2.0
import gc

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
