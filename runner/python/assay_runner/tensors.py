# SPDX-License-Identifier: Apache-2.0
"""Files of tensors: the safetensors format, every tensor at a multiple of 64 bytes (runner/protocol.md, `Tensors`)."""

from __future__ import annotations

import ctypes
import json
import math
import mmap
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

ALIGNMENT = 64
PADDING = "__pad__"
_MAX_HEADER = 128 << 20

_DTYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
    "C64": torch.complex64,
    "C128": torch.complex128,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


class TensorFileError(Exception):
    """A file that is not one of tensors, or a tensor that such a file cannot hold."""


@dataclass(frozen=True)
class Entry:
    dtype: torch.dtype
    shape: tuple[int, ...]
    offset: int  # from the start of the file
    bytes: int


def read_header(fd: int) -> dict[str, Entry]:
    """The tensors of the file, without padding, in the file's order."""
    size = os.fstat(fd).st_size
    head = os.pread(fd, 8, 0)
    length = int.from_bytes(head, "little")
    if len(head) != 8 or length > min(size - 8, _MAX_HEADER):
        raise TensorFileError(f"the file of {size} bytes has no safetensors header")
    try:
        header = json.loads(os.pread(fd, length, 8))
        return {
            name: _entry(name, entry, 8 + length, size)
            for name, entry in header.items()
            if name != "__metadata__" and not name.startswith(PADDING)
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TensorFileError(f"the safetensors header is damaged: {error!r}") from None


def _entry(name: str, entry: Mapping[str, object], start: int, size: int) -> Entry:
    dtype = _DTYPES.get(entry["dtype"])
    if dtype is None:
        raise TensorFileError(f"tensor {name} has the unknown dtype {entry['dtype']}")
    shape = tuple(entry["shape"])
    begin, end = entry["data_offsets"]
    if not all(type(n) is int and n >= 0 for n in (*shape, begin, end)) or begin > end or start + end > size:
        raise TensorFileError(f"tensor {name} lies outside the file")
    if math.prod(shape) * dtype.itemsize != end - begin:
        raise TensorFileError(f"tensor {name} of shape {list(shape)} does not have {end - begin} bytes")
    if end > begin and (start + begin) % ALIGNMENT:
        raise TensorFileError(f"tensor {name} does not lie at a multiple of {ALIGNMENT} bytes")
    return Entry(dtype, shape, start + begin, end - begin)


def map_tensors(fd: int) -> dict[str, torch.Tensor]:
    """The tensors, in place: a private, writable mapping that lives as long as any of them. `fd` may be closed."""
    entries = read_header(fd)
    mapping = mmap.mmap(fd, 0, access=mmap.ACCESS_COPY)
    tensors = {}
    for name, entry in entries.items():
        if entry.bytes == 0:
            tensors[name] = torch.empty(entry.shape, dtype=entry.dtype)
            continue
        flat = torch.frombuffer(mapping, dtype=entry.dtype, count=math.prod(entry.shape), offset=entry.offset)
        tensors[name] = flat.reshape(entry.shape)
    return tensors


def write_tensors(fd: int, tensors: Sequence[torch.Tensor]) -> int:
    """Fills `fd` with the tensors, named 0, 1, …, contiguous and in row-major order. Returns the bytes of their elements."""
    ready = []
    for index, tensor in enumerate(tensors):
        if tensor.is_quantized:
            tensor = tensor.dequantize()
        if tensor.dtype not in _NAMES:
            raise TensorFileError(f"output {index} has the dtype {tensor.dtype}, which a file of tensors cannot hold")
        if tensor.is_sparse or tensor.is_nested:
            raise TensorFileError(f"output {index} is not a dense tensor")
        ready.append(tensor.detach().resolve_conj().resolve_neg().cpu().contiguous())
    header: dict[str, object] = {}
    position = 0
    offsets = []
    for index, tensor in enumerate(ready):
        if hole := -position % ALIGNMENT:
            header[f"{PADDING}{index}"] = {"dtype": "U8", "shape": [hole], "data_offsets": [position, position + hole]}
            position += hole
        end = position + tensor.numel() * tensor.element_size()
        header[str(index)] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [position, end]}
        offsets.append(position)
        position = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    start = 8 + len(text)
    os.ftruncate(fd, start + position)
    _write(fd, len(text).to_bytes(8, "little") + text, 0)
    written = 0
    for tensor, offset in zip(ready, offsets, strict=True):
        size = tensor.numel() * tensor.element_size()
        if size:
            _write(fd, memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())).cast("B"), start + offset)
        written += size
    return written


def _write(fd: int, data: bytes | memoryview, offset: int) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(fd, view[: 1 << 30], offset)
        view, offset = view[done:], offset + done


def write_bytes(fd: int, data: bytes) -> None:
    """Fills `fd` with `data` alone."""
    os.ftruncate(fd, len(data))
    _write(fd, data, 0)


def as_tensor(value: object, index: int) -> torch.Tensor:
    """An output of a graph as a tensor: host numbers and booleans become 0-dim ones."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, (bool, torch.SymBool)):
        return torch.tensor(bool(value))
    if isinstance(value, (int, torch.SymInt)):
        return torch.tensor(int(value), dtype=torch.int64)
    if isinstance(value, (float, torch.SymFloat)):
        return torch.tensor(float(value), dtype=torch.float64)
    raise TensorFileError(f"output {index} is a {type(value).__name__}, neither a tensor nor a number")
