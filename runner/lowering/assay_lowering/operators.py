"""Operators that torchax has no lowering for. One table, OWN_OPERATORS: from the overload to a function of JAX arrays."""

import numpy as np
import torch


def _cells(size, count):
  """The positions of each of `count` cells that cover `size` positions, (count, longest); a shorter cell repeats its last."""
  cells = [range(i * size // count, -((i + 1) * size // -count)) for i in range(count)]
  longest = max(map(len, cells))
  return np.array([[*cell] + [cell[-1]] * (longest - len(cell)) for cell in cells])


def _adaptive_max_pool2d(x, output_size):
  """x: (…, H, W); the largest value of each cell and its place in the plane, (…, *output_size)."""
  import jax.numpy as jnp

  width = x.shape[-1]
  rows = _cells(x.shape[-2], output_size[0])[:, None, :, None]
  columns = _cells(width, output_size[1])[None, :, None, :]
  values = x[..., rows, columns].reshape(*x.shape[:-2], *output_size, -1)
  places = jnp.asarray(rows * width + columns).reshape(*output_size, -1)
  best = values.argmax(axis=-1, keepdims=True)
  at = jnp.take_along_axis(jnp.broadcast_to(places, values.shape), best, axis=-1)
  return values.max(axis=-1), at.squeeze(-1)


OWN_OPERATORS = {torch.ops.aten.adaptive_max_pool2d.default: _adaptive_max_pool2d}
