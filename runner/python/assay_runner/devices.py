# SPDX-License-Identifier: Apache-2.0
"""The devices of this host. CUDA is asked in a child, because a process that has initialised it cannot fork."""

from __future__ import annotations

import json
import os
import platform
import sys
import traceback
from collections.abc import Callable

import torch


def cpu() -> dict[str, object]:
    return {
        "kind": "cpu",
        "id": "cpu",
        "model": _cpu_model(),
        "uuid": _host_uuid(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }


def _cpu_model() -> str:
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _host_uuid() -> str:
    """The host's processors are one device, known by the machine's id; empty where a sandbox hides that, as every runner here says it."""
    try:
        with open("/etc/machine-id", encoding="ascii") as file:
            return file.readline().strip()
    except OSError:
        return ""


def _cuda_devices() -> list[dict[str, object]]:
    if not torch.cuda.is_available():
        return []
    found = []
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        found.append(
            {
                "kind": "cuda",
                "id": f"cuda:{index}",
                "model": properties.name,
                "uuid": f"GPU-{properties.uuid}",
                "memory_bytes": properties.total_memory,
            }
        )
    return found


def cuda() -> list[dict[str, object]]:
    return json.loads(in_child(lambda: json.dumps(_cuda_devices()))) if torch.version.cuda else []


def in_child(work: Callable[[], str]) -> str:
    """The text that `work` returns, made in a forked child."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            with open(writing, "w", encoding="utf-8") as out:
                out.write(work())
            os._exit(0)
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(writing)
    with open(reading, encoding="utf-8") as source:
        text = source.read()
    if os.waitpid(pid, 0)[1] != 0:
        raise RuntimeError("a child of the runner failed; its standard error says why")
    return text
