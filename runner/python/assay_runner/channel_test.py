# SPDX-License-Identifier: Apache-2.0
import os
import socket

import pytest

from assay_runner import channel
from assay_runner.channel import Channel, ChannelError


@pytest.fixture
def pair():
    ends = [socket.socketpair() for _ in range(2)]
    one = Channel(ends[0][0].detach(), ends[1][0].detach())
    other = Channel(ends[1][1].detach(), ends[0][1].detach())
    yield one, other
    one.close()
    other.close()


def test_messages_keep_their_descriptors(pair):
    one, other = pair
    files = [os.memfd_create(f"file{index}") for index in range(3)]
    for index, fd in enumerate(files):
        os.write(fd, str(index).encode())
    one.write({"id": 1, "fds": ["a", "b"]}, files[:2])
    one.write({"id": 2})
    one.write({"id": 3, "fds": ["c"]}, files[2:])
    messages = [other.read() for _ in range(3)]
    assert [message.json["id"] for message in messages] == [1, 2, 3]
    for name, message, text in (("b", 0, b"1"), ("a", 0, b"0"), ("c", 2, b"2")):
        fd = messages[message].take_fd(name)
        assert os.pread(fd, 10, 0) == text and not os.get_inheritable(fd)
        os.close(fd)
    assert messages[1].take_fd("a") is None
    for fd in files:
        os.close(fd)


def test_the_end_of_the_file(pair):
    one, other = pair
    one.write({"id": 1})
    one.close()
    assert other.read().json == {"id": 1}
    assert other.read() is None


@pytest.mark.parametrize(
    "line, words",
    [
        (b"no json\n", "not JSON"),
        (b"[1]\n", "not a JSON object"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b'{"fds":["a"]}\n', "names 1 descriptors, 0 came"),
        (b'{"fds":"a"}\n', "not a list"),
        (b'{"id"', "middle of a message"),
    ],
)
def test_a_broken_message_is_refused(pair, line, words):
    one, other = pair
    one._out.sendall(line)
    one.close()
    with pytest.raises(ChannelError, match=words):
        other.read()


def test_a_message_without_an_end_is_refused(pair, monkeypatch):
    monkeypatch.setattr(channel, "MAX_MESSAGE_BYTES", 1000)
    one, other = pair
    one._out.sendall(b"x" * 2000)
    with pytest.raises(ChannelError, match="longer than"):
        other.read()
