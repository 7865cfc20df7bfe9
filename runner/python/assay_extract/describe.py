# SPDX-License-Identifier: Apache-2.0
"""weight_meta.py: how each tensor is described, so that one like it can be made again."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable

import torch

# Tensors of integers and booleans that hold a program's structure (positions, edges, masks) are written out up to this many
# elements. Public samples write out at most 1,014.
MAX_DATA = 1024
# An integer tensor among the model's inputs that has more elements than this is described by its range, so that other values of the
# same range can be drawn.
MAX_INPUT_DATA = 8

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


class DescribeError(Exception):
    """A tensor that the format cannot describe."""


def short(value: float) -> str:
    """The shortest decimal that is the same float32; for statistics that is more than enough."""
    if value == 0:
        return "0.0"
    for digits in range(6, 18):
        text = f"{value:.{digits}g}"
        if digits >= 9 or struct.pack("f", float(text)) == struct.pack("f", value):
            break
    return repr(float(text))


def _exact(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise DescribeError(f"the value {value} cannot be written as data; compute it inside forward()")
    return repr(value)


def is_model_input(name: str) -> bool:
    """Dynamo's names: L_self_… is what the module owns, any other L_… came in as an argument."""
    return not name.startswith(("L_self_", "self_", "_tensor_constant"))


def describe(name: str, tensor: torch.Tensor, *, parameter: bool) -> str:
    """One class of weight_meta.py."""
    lines = [
        f"class Program_weight_tensor_meta_{name}:",
        f'    name = "{name}"',
        f"    shape = {list(tensor.shape)}",
        f'    dtype = "{tensor.dtype}"',
        '    device = "cpu"',
    ]
    try:
        lines += [f"    {line}" for line in _values(name, tensor.detach().cpu(), parameter)]
    except DescribeError as error:
        raise DescribeError(f"tensor {name} (shape {list(tensor.shape)}, {tensor.dtype}): {error}") from None
    return "\n".join(lines) + "\n"


def _values(name: str, tensor: torch.Tensor, parameter: bool) -> Iterable[str]:
    count = tensor.numel()
    if count == 0:
        raise DescribeError("a tensor without elements cannot be described")
    if tensor.dtype in _INTEGERS:
        if count == 1 or count <= (MAX_INPUT_DATA if is_model_input(name) else MAX_DATA):
            return ["mean = None", "std = None", _data(tensor)]
        return ["mean = None", "std = None", f"min_val = {int(tensor.min())}", f"max_val = {int(tensor.max())}"]
    if tensor.dtype == torch.bool:
        if count <= MAX_DATA:
            return ["mean = None", "std = None", _data(tensor)]
        return ["mean = None", "std = None", "data = None"]
    if not tensor.dtype.is_floating_point:
        raise DescribeError("only floating-point, integer and boolean tensors can be described")
    if not torch.isfinite(tensor.float()).all():
        raise DescribeError("it holds a value that is not finite; compute it inside forward() instead")
    wide = tensor.double()
    mean = float(wide.mean())
    std = float(wide.std(correction=0))
    if tensor.dim() == 0 and not parameter:
        return [f"mean = {short(mean)}", "std = 0.0", _data(tensor)]
    lines = [f"mean = {short(mean)}", f"std = {short(std)}", "data = None"]
    if std > 0 and float(wide.min()) >= 0:  # a variance, a scale: the square root of it must stay real
        lines.append("min_val = 0")
    return lines


def _data(tensor: torch.Tensor) -> str:
    values = tensor.flatten().tolist()
    return f"data = [{', '.join(_exact(v) for v in values)}]"
