# SPDX-License-Identifier: Apache-2.0
"""One trial: the requests of the protocol, from `load` to `close`, on one channel."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

import torch

from assay_runner import aot, compilers, errors, tensors, timing
from assay_runner.channel import Channel, ChannelError, Message
from assay_runner.errors import BAD_REQUEST, RunnerError
from assay_runner.graph import Graph

METHODS = ("describe", "load", "inputs", "compile", "run", "pair", "artifact", "profile", "release", "close")
# Served, and not what this runner's own compilers need (runner/protocol.md).
_FOR_OTHERS = ("lower",)

# The class of a failure that is the graph's or the compiler's own.
_FAILURES = {
    "load": errors.LOAD_FAIL,
    "inputs": errors.LOAD_FAIL,
    "lower": errors.COMPILE_FAIL,
    "compile": errors.COMPILE_FAIL,
    "run": errors.RUNTIME_FAIL,
    "pair": errors.RUNTIME_FAIL,
    "profile": errors.RUNTIME_FAIL,
}
_MISSING = object()


def parameter(params: Mapping[str, object], name: str, kind: type, default: object = _MISSING) -> object:
    """A request's parameter, of the type that it must have."""
    value = params.get(name, default)
    if value is _MISSING:
        raise RunnerError(BAD_REQUEST, f"the parameter `{name}` is missing")
    if value is not default and type(value) is not kind:
        raise RunnerError(BAD_REQUEST, f"the parameter `{name}` is not of type {kind.__name__}")
    return value


class Session:
    """Serves one channel. `folder` is empty and this trial's own."""

    def __init__(self, channel: Channel, folder: str, describe: Callable[[], dict[str, object]], threads: int) -> None:
        self._channel = channel
        self._folder = folder
        self._describe = describe
        self._threads = threads  # the runner's own default
        self._graph: Graph | None = None
        self._compiled: dict[int, compilers.Compiled] = {}
        self._handles = 0
        self._folders = 0
        self._cold: timing.HostSweep | timing.DeviceSweep | None = None  # made when first asked for
        self._lock: int | None = None  # the device's lock, held open as long as this process lives
        self._requests = {method: getattr(self, f"_on_{method}") for method in (*METHODS, *_FOR_OTHERS)}

    def serve(self) -> int:
        """Until `close` or the end of the file; the process's exit code."""
        with torch.no_grad():
            while True:
                try:
                    message = self._channel.read()
                except ChannelError as error:
                    self._channel.write({"id": None, "error": {"class": BAD_REQUEST, "message": str(error)}})
                    return 1
                if message is None:
                    return 0
                self._channel.write(self.answer(message))
                if message.json.get("method") == "close":
                    return 0

    def answer(self, message: Message) -> dict[str, object]:
        reply: dict[str, object] = {"id": message.json.get("id")}
        method = message.json.get("method")
        try:
            if method not in self._requests:
                raise RunnerError(BAD_REQUEST, f"there is no method {method!r} here")
            params = message.json.get("params", {})
            if not isinstance(params, dict):
                raise RunnerError(BAD_REQUEST, "`params` is not an object")
            reply["result"] = self._requests[method](params, message)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001: every failure is an answer
            reply["error"] = errors.to_reply(error, _FAILURES.get(method, errors.INTERNAL))
            # The traceback holds the frames, and these the tensors.
            error.__traceback__ = error.__context__ = error.__cause__ = None
        finally:
            message.close()
        return reply

    # Requests, in the protocol's order.

    def _on_describe(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        return self._describe()

    def _on_load(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        start = time.perf_counter_ns()
        graph = parameter(params, "graph", dict)
        model = parameter(graph, "model", str)
        device = self._device(parameter(params, "device", str))
        threads = parameter(params, "threads", int, 0)
        if not 0 <= threads <= 4096:
            raise RunnerError(BAD_REQUEST, f"`threads` is {threads}")
        dtype = parameter(params, "default_dtype", str, "float32")
        if dtype not in ("float32", "float64"):
            raise RunnerError(BAD_REQUEST, "`default_dtype` is float32 or float64")
        torch.set_default_dtype(getattr(torch, dtype))
        torch.set_num_threads(threads or self._threads)
        self._graph = self._cold = None
        self._compiled.clear()
        if (lock := message.take_fd("lock")) is not None:
            self._lock = lock
        with _Descriptor(message, "tensors") as fd:
            self._graph = Graph(model, device, tensors.map_tensors(fd), tensors.map_tensors(fd))
        _settle(device)
        return {"load_ns": time.perf_counter_ns() - start, "mutated": self._graph.mutated}

    def _device(self, name: str) -> torch.device:
        for known in self._describe()["devices"]:
            if name in (known["id"], known["kind"]):
                device = torch.device(known["id"])
                if device.type == "cuda":
                    torch.cuda.set_device(device)
                return device
        raise RunnerError(errors.UNSUPPORTED, f"this runner has no device {name!r}")

    def _on_inputs(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        graph = self._loaded()
        name = parameter(params, "set", str)
        with _Descriptor(message, "tensors") as fd:
            graph.add_set(name, tensors.map_tensors(fd), tensors.map_tensors(fd))
        _settle(graph.device)
        return {}

    def _on_lower(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        graph = self._loaded()
        compiler = parameter(params, "compiler", str)
        options = parameter(params, "options", dict, {})
        with _Descriptor(message, "keep") as fd:
            lowered = aot.lower(graph, compiler, options, self._new_folder())
            tensors.write_bytes(fd, lowered.data)
        return {"lower_ns": lowered.lower_ns, "cached": False, "peak_memory_bytes": lowered.peak_memory_bytes}

    def _on_compile(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        graph = self._loaded()
        compiler = parameter(params, "compiler", str)
        options = parameter(params, "options", dict, {})
        self._handles += 1
        try:
            compiled = compilers.compile_graph(graph, compiler, options, self._new_folder())
        except BaseException:
            graph.restore("public")
            raise
        self._compiled[self._handles] = compiled
        return {
            "handle": self._handles,
            "compile_ns": compiled.compile_ns,
            "peak_memory_bytes": compiled.peak_memory_bytes,
            "artifacts": [{"name": name, "bytes": len(data)} for name, data in compiled.artifacts.items()],
        }

    def _on_run(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        graph, compiled, name = self._call(params)
        with _Descriptor(message, "outputs") as fd:
            graph.restore(name)
            timer = timing.clock(graph.device)
            arguments = compiled.arguments(name)
            try:
                duration, device, result = timer.time(compiled.call, arguments, 1)
                outputs = _outputs(result)
                size = tensors.write_tensors(fd, outputs)
            finally:
                graph.restore(name)
        reply = {"duration_ns": duration, "outputs": len(outputs), "output_bytes": size}
        if timer.has_device_time:
            reply["device_ns"] = device
        return reply

    def _on_pair(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        graph = self._loaded()
        handles = parameter(params, "handles", list)
        order = parameter(params, "order", list)
        name = parameter(params, "set", str, "public")
        batch = parameter(params, "batch", list, [1] * len(handles))
        budget = parameter(params, "budget_ns", int, 0)
        keep = parameter(params, "keep", int, None)
        cold = parameter(params, "cold", bool, False)
        if not 1 <= len(handles) <= 2 or len(batch) != len(handles):
            raise RunnerError(BAD_REQUEST, "`pair` takes one or two handles, and a batch for each")
        if not all(type(which) is int and 0 <= which < len(handles) for which in order):
            raise RunnerError(BAD_REQUEST, "`order` has an entry that indexes no handle")
        if not all(type(count) is int and 1 <= count <= 1_000_000 for count in batch) or budget < 0:
            raise RunnerError(BAD_REQUEST, "`batch` and `budget_ns` must be positive")
        if graph.mutated and any(count != 1 for count in batch):
            raise RunnerError(BAD_REQUEST, "the graph changes its parameters: its batch must be 1")
        if keep is not None and not 0 <= keep < len(order):
            raise RunnerError(BAD_REQUEST, f"`keep` is {keep}, but there are {len(order)} samples")
        compiled = [self._handle(handle) for handle in handles]
        arms = [timing.Arm(one.call, one.arguments(name), count) for one, count in zip(compiled, batch, strict=True)]
        timer = timing.clock(graph.device)
        before = compilers.recompilations()
        restore = (lambda: graph.restore(name)) if graph.needs_restoring else None
        if cold and self._cold is None:
            self._cold = timing.cold_caches(graph.device)
        sweep = self._cold.sweep if cold else None
        try:
            taken = timing.sample(arms, order, timer, restore=restore, sweep=sweep, budget_ns=budget, keep=keep)
        finally:
            graph.restore(name)
        reply = {
            "samples_ns": taken.samples_ns,
            "wall_ns": taken.wall_ns,
            "recompiles": compilers.recompilations() - before,
        }
        if timer.has_device_time:
            reply["device_ns"] = taken.device_ns
        if keep is not None:
            with _Descriptor(message, "outputs") as fd:
                # Nothing where the budget ended before that sample.
                tensors.write_tensors(fd, _outputs(taken.kept) if taken.kept is not None else [])
        return reply

    def _on_artifact(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        compiled = self._handle(parameter(params, "handle", int))
        name = parameter(params, "name", str)
        data = compiled.artifacts.get(name)
        if data is None:
            raise RunnerError(BAD_REQUEST, f"there is no artifact {name!r}")
        with _Descriptor(message, "file") as fd:
            tensors.write_bytes(fd, data)
        return {"bytes": len(data)}

    def _on_profile(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        graph, compiled, name = self._call(params)
        graph.restore(name)
        arguments = compiled.arguments(name)
        activities = [torch.profiler.ProfilerActivity.CPU]
        if graph.device.type == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        try:
            with torch.profiler.profile(activities=activities, acc_events=True) as profiler:
                compiled.call(*arguments)
                _settle(graph.device)
        finally:
            graph.restore(name)
        events = []
        for event in profiler.key_averages():
            total = event.self_device_time_total if graph.device.type == "cuda" else event.self_cpu_time_total
            if total > 0:
                events.append({"name": event.key, "calls": event.count, "total_ns": round(total * 1000)})
        events.sort(key=lambda event: -event["total_ns"])
        return {"events": events}

    def _on_release(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        handle = parameter(params, "handle", int)
        self._handle(handle)
        del self._compiled[handle]
        return {}

    def _on_close(self, params: Mapping[str, object], message: Message) -> dict[str, object]:
        return {}

    # What several of them need.

    def _new_folder(self) -> str:
        self._folders += 1
        folder = os.path.join(self._folder, f"compile-{self._folders}")
        os.mkdir(folder)
        return folder

    def _loaded(self) -> Graph:
        if self._graph is None:
            raise RunnerError(BAD_REQUEST, "no graph is loaded")
        return self._graph

    def _handle(self, handle: object) -> compilers.Compiled:
        compiled = self._compiled.get(handle) if type(handle) is int else None
        if compiled is None:
            raise RunnerError(BAD_REQUEST, f"there is no handle {handle!r}")
        return compiled

    def _call(self, params: Mapping[str, object]) -> tuple[Graph, compilers.Compiled, str]:
        graph = self._loaded()
        return graph, self._handle(parameter(params, "handle", int)), parameter(params, "set", str, "public")


class _Descriptor:
    """A descriptor of a message, open for as long as it is used."""

    def __init__(self, message: Message, name: str) -> None:
        self._fd = message.take_fd(name)
        if self._fd is None:
            raise RunnerError(BAD_REQUEST, f"the descriptor `{name}` is missing")

    def __enter__(self) -> int:
        return self._fd

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def _outputs(result: object) -> list[torch.Tensor]:
    values = result if isinstance(result, (tuple, list)) else (result,)
    return [tensors.as_tensor(value, index) for index, value in enumerate(values)]


def _settle(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
