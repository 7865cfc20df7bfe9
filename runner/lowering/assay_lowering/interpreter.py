"""Runs an exported graph with torchax's operators, operation by operation, while JAX traces it."""

import functools

import torch

from assay_lowering.operators import OWN_OPERATORS
from assay_lowering.problem import LoweringError
from assay_lowering.shim import import_torchax


# Run-time assertions of torch.export: they have no result, and the worker compares outputs anyhow.
_CHECKS = frozenset(
  {
    torch.ops.aten._assert_scalar.default,
    torch.ops.aten._assert_async.msg,
    torch.ops.aten._assert_tensor_metadata.default,
    torch.ops.aten.sym_constrain_range.default,
    torch.ops.aten.sym_constrain_range_for_size.default,
  }
)


@functools.cache
def import_backend():
  """JAX, set up for torch's dtypes, and torchax."""
  import jax
  import jax.export

  jax.config.update("jax_platforms", "cpu")
  # Without it JAX makes 32-bit numbers of all 64-bit ones, and outputs would differ from eager's in dtype.
  jax.config.update("jax_enable_x64", True)
  torchax = import_torchax()
  return jax, torchax


class GraphInterpreter(torch.fx.Interpreter):
  """An operator without a lowering, or one whose lowering fails or gives another shape, is named in a LoweringError."""

  def __init__(self, graph_module):
    super().__init__(graph_module)
    self.extra_traceback = False

  def call_function(self, target, args, kwargs):
    if not isinstance(target, (torch._ops.OpOverloadPacket, torch._ops.OpOverload)):
      if isinstance(target, torch._ops.HigherOrderOperator):
        raise LoweringError(f"no lowering for the operator {target}", str(target))
      return super().call_function(target, args, kwargs)
    if target in _CHECKS:
      return None
    if target == torch.ops.aten._local_scalar_dense.default:
      # A host number that is computed from tensors stays a traced scalar; a shape that depends on it fails later.
      return args[0].reshape(())
    # An exported graph's lists refuse to be changed, which torchax does with a convolution's padding.
    args, kwargs = [_mutable(one) for one in args], {name: _mutable(one) for name, one in kwargs.items()}
    try:
      if target in OWN_OPERATORS:
        return OWN_OPERATORS[target](*args, **kwargs)
      return self._call_torchax(target, args, kwargs)
    except (LoweringError, MemoryError):
      raise
    except Exception as error:
      said = " ".join(str(error).split())[:300]
      raise LoweringError(
        f"the lowering of the operator {target} failed: {type(error).__name__}: {said}", str(target)
      ) from error

  def _call_torchax(self, target, args, kwargs):
    operator = _find_operator(target)
    if operator is None:
      raise LoweringError(f"no lowering for the operator {target}", str(target))
    if operator.needs_env:
      _, torchax = import_backend()
      kwargs = {**kwargs, "env": torchax.default_env()}
    return operator.func(*args, **kwargs)

  def run_node(self, n):
    result = super().run_node(n)
    if n.op == "call_function":
      result = _conform(n, result, n.meta.get("val"))
    return result


def _mutable(value):
  if isinstance(value, (list, tuple)):
    items = [_mutable(item) for item in value]
    return tuple(items) if isinstance(value, tuple) else items
  return value


def _find_operator(target):
  from torchax.ops import ops_registry

  operator = ops_registry.all_aten_ops.get(target)
  if operator is None and isinstance(target, torch._ops.OpOverload):
    operator = ops_registry.all_aten_ops.get(target.overloadpacket)
  return operator if operator is not None and operator.is_jax_function else None


def _conform(node, result, expected):
  """Gives a result the dtype that torch gives it; a shape that differs is an error."""
  if isinstance(expected, torch.Tensor):
    import jax.numpy as jnp
    from torchax.ops import mappings

    result = jnp.asarray(result)
    dtype = mappings.t2j_dtype(expected.dtype)
    if result.dtype != dtype:
      result = result.astype(dtype)
    shape = tuple(expected.shape)
    if all(isinstance(size, int) for size in shape) and tuple(result.shape) != shape:
      raise LoweringError(
        f"the lowering of the operator {node.target} gives the shape {tuple(result.shape)}, torch {shape}",
        str(node.target),
      )
  elif isinstance(expected, (tuple, list)) and isinstance(result, (tuple, list)) and len(expected) == len(result):
    result = tuple(_conform(node, one, of) for one, of in zip(result, expected))
  return result
