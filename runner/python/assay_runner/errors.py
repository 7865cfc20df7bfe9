# SPDX-License-Identifier: Apache-2.0
"""From exceptions to the protocol's error classes and to messages that one can read."""

from __future__ import annotations

import traceback

import torch

BAD_REQUEST = "bad_request"
UNSUPPORTED = "unsupported"
LOAD_FAIL = "load_fail"
COMPILE_FAIL = "compile_fail"
RUNTIME_FAIL = "runtime_fail"
OUT_OF_MEMORY = "out_of_memory"
INTERNAL = "internal"

MODEL_FILE = "model.py"
_MAX_MESSAGE = 4000
_MEMORY_WORDS = ("out of memory", "can't allocate memory", "Cannot allocate memory", "cannot allocate memory")
_NOISE = ("Set TORCHDYNAMO_VERBOSE", "Set TORCH_LOGS", "For more information, try", "You can suppress this exception")


class RunnerError(Exception):
    """An error with its class; the message is for the user."""

    def __init__(self, error_class: str, message: str) -> None:
        super().__init__(message)
        self.error_class = error_class


def to_reply(error: BaseException, error_class: str) -> dict[str, str]:
    """The `error` of a reply to a request whose failures are of `error_class`."""
    if isinstance(error, RunnerError):
        return {"class": error.error_class, "message": _cut(str(error))}
    if is_out_of_memory(error):
        error_class = OUT_OF_MEMORY
    return {"class": error_class, "message": _cut(describe(error))}


def is_out_of_memory(error: BaseException | None) -> bool:
    seen = 0
    while error is not None and seen < 8:
        if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
            return True
        if isinstance(error, (RuntimeError, OSError)) and any(word in str(error) for word in _MEMORY_WORDS):
            return True
        error = getattr(error, "inner_exception", None) or error.__cause__
        seen += 1
    return False


def describe(error: BaseException) -> str:
    """One exception as text: its type, what it says, and the line of the model that it came from."""
    lines = [line.rstrip() for line in str(error).splitlines()]
    lines = [line for line in lines if line.strip() and not line.strip().startswith(_NOISE)]
    text = f"{type(error).__name__}: " + "\n".join(lines)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.endswith(MODEL_FILE) and frame.name == "forward":
            return f"{text}\n(at {MODEL_FILE} line {frame.lineno}: {frame.line})"
    return text


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_MESSAGE else text[: _MAX_MESSAGE - 2] + " …"
