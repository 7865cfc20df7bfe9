# SPDX-License-Identifier: Apache-2.0
"""The protocol's channel: JSON objects, one a line, over two Unix sockets, with descriptors as SCM_RIGHTS."""

from __future__ import annotations

import array
import json
import os
import socket
from collections import deque
from collections.abc import Mapping, Sequence

MAX_MESSAGE_BYTES = 64 << 20
MAX_DESCRIPTORS = 16  # with one message
_CHUNK = 1 << 16


class ChannelError(Exception):
    """The peer does not keep to the protocol."""


class Message:
    """A received object and the descriptors that came with it; close() closes those that nobody took."""

    def __init__(self, json_object: Mapping[str, object], fds: dict[str, int]) -> None:
        self.json = json_object
        self._fds = fds

    def take_fd(self, name: str) -> int | None:
        """The descriptor of that name; the caller closes it."""
        return self._fds.pop(name, None)

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()


class Channel:
    """Owns both descriptors. Blocking; one thread."""

    def __init__(self, in_fd: int, out_fd: int) -> None:
        self._in = socket.socket(fileno=in_fd)
        self._out = socket.socket(fileno=out_fd)
        self._buffer = bytearray()
        self._scanned = 0
        self._fds: deque[int] = deque()

    def fileno(self) -> int:
        return self._in.fileno()

    def read(self) -> Message | None:
        """The next message; None at the end of the file."""
        while True:
            if (message := self._next()) is not None:
                return message
            if not self.receive():
                if self._buffer:
                    raise ChannelError("the channel ended in the middle of a message")
                return None

    def receive(self) -> bool:
        """Takes what is there; blocks when there is nothing. False at the end of the file."""
        room = socket.CMSG_SPACE(MAX_DESCRIPTORS * array.array("i").itemsize)
        data, ancillary, flags, _ = self._in.recvmsg(_CHUNK, room, socket.MSG_CMSG_CLOEXEC)
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
                self._fds.extend(fds)
        if flags & socket.MSG_CTRUNC:
            raise ChannelError(f"more than {MAX_DESCRIPTORS} descriptors came with one message")
        self._buffer += data
        return bool(data)

    def pending(self) -> Message | None:
        """A whole message that has already been received, if there is one."""
        return self._next()

    def _next(self) -> Message | None:
        end = self._buffer.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._buffer)
            if self._scanned > MAX_MESSAGE_BYTES:
                raise ChannelError(f"a message is longer than {MAX_MESSAGE_BYTES} bytes")
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._scanned = 0
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ChannelError(f"a message is not JSON: {error}") from None
        if not isinstance(value, dict):
            raise ChannelError("a message is not a JSON object")
        names = value.get("fds", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
            raise ChannelError("`fds` is not a list of different names")
        if len(names) > len(self._fds):
            raise ChannelError(f"a message names {len(names)} descriptors, {len(self._fds)} came with it")
        return Message(value, {name: self._fds.popleft() for name in names})

    def write(self, value: Mapping[str, object], fds: Sequence[int] = ()) -> None:
        """Sends one message; borrows `fds`, which value["fds"] must name."""
        data = memoryview(json.dumps(value, separators=(",", ":")).encode() + b"\n")
        if fds:
            data = data[socket.send_fds(self._out, [data], list(fds)) :]
        self._out.sendall(data)

    def close(self) -> None:
        self._in.close()
        self._out.close()
        while self._fds:
            os.close(self._fds.popleft())
