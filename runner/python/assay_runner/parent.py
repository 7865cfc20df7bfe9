# SPDX-License-Identifier: Apache-2.0
"""The warm parent: PyTorch is imported, nothing is loaded; it answers `describe` and forks a child for each trial."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Sequence

from assay_runner import trial
from assay_runner.channel import Channel, ChannelError, Message
from assay_runner.errors import BAD_REQUEST, INTERNAL

METHODS = ("describe", "fork", "close")


class Parent:
    """Serves one channel. `serve_child` runs in the child with that child's channel and an empty folder of its own."""

    def __init__(
        self,
        channel: Channel,
        describe: Callable[[], dict[str, object]],
        serve_child: Callable[[Channel, str], int],
        keep_readable: Sequence[str] = (),
        isolate: bool = True,
    ) -> None:
        self._channel = channel
        self._describe = describe
        self._serve_child = serve_child
        self._keep_readable = keep_readable
        self._isolate = isolate
        self._trials: dict[int, trial.Trial] = {}  # by the descriptor of their control socket
        self._count = 0

    def serve(self) -> int:
        """Until `close` or the end of the file; the process's exit code. Every child has ended when it returns."""
        try:
            return self._serve()
        finally:
            for child in self._trials.values():
                child.kill()
                child.finish()

    def _serve(self) -> int:
        while True:
            poll = select.poll()
            poll.register(self._channel.fileno(), select.POLLIN)
            for fd in self._trials:
                poll.register(fd, select.POLLIN)
            ready = dict(poll.poll())
            for fd in list(self._trials):
                if fd in ready:
                    self._ended(self._trials.pop(fd))
            if self._channel.fileno() not in ready:
                continue
            try:
                more = self._channel.receive()
                while (message := self._channel.pending()) is not None:
                    if not self._answer(message):
                        return 0
            except ChannelError as error:
                self._channel.write({"id": None, "error": {"class": BAD_REQUEST, "message": str(error)}})
                return 1
            if not more:
                return 0

    def _ended(self, child: trial.Trial) -> None:
        status = child.finish()
        event: dict[str, object] = {"event": "exit", "child": child.number}
        if os.WIFSIGNALED(status):
            event["signal"] = os.WTERMSIG(status)
        else:
            event["code"] = os.WEXITSTATUS(status)
        self._channel.write(event)

    def _answer(self, message: Message) -> bool:
        """False where the parent is to end."""
        number, method = message.json.get("id"), message.json.get("method")
        fds: list[int] = []
        reply: dict[str, object] = {"id": number}
        try:
            if method == "describe":
                reply["result"] = self._describe()
            elif method == "fork":
                child = self._fork(message)
                reply |= {"result": {"child": child.number, "isolated": child.isolated}, "fds": ["pidfd"]}
                fds = [child.pidfd]
            elif method == "close":
                reply["result"] = {}
            else:
                text = f"the parent serves {', '.join(METHODS)}; {method!r} goes to a forked child"
                reply["error"] = {"class": BAD_REQUEST, "message": text}
        except ChannelError as error:
            reply["error"] = {"class": BAD_REQUEST, "message": str(error)}
        except (OSError, trial.ForkError) as error:
            reply["error"] = {"class": INTERNAL, "message": str(error)}
        finally:
            message.close()
        self._channel.write(reply, fds)
        return method != "close"

    def _fork(self, message: Message) -> trial.Trial:
        fds = [message.take_fd("requests"), message.take_fd("replies")]
        try:
            if None in fds:
                raise ChannelError("`fork` needs the descriptors `requests` and `replies`")
            self._count += 1
            child = trial.start(
                self._count,
                fds,
                lambda folder: self._serve_child(Channel(3, 4), folder),
                self._keep_readable,
                self._isolate,
            )
        finally:
            for fd in fds:
                if fd is not None:
                    os.close(fd)
        self._trials[child.control.fileno()] = child
        return child
