"""The lowering itself: the canonical model text and the description of its parameters in, StableHLO text out."""

import dataclasses
import re
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind

from assay_lowering.interpreter import GraphInterpreter, import_backend
from assay_lowering.problem import LoweringError

@dataclasses.dataclass(frozen=True)
class Parameter:
  """One parameter of the model's forward(), in order."""

  name: str
  dtype: str  # "float32"
  shape: tuple[int, ...]
  value: int | float | bool | None = None  # its only element; needed for a host number, of use for any 0-dim tensor
  number: bool = False  # a host number (torch.SymInt)


@dataclasses.dataclass(frozen=True)
class Output:
  """One output of the StableHLO function, in the graph's order."""

  dtype: str
  shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Lowered:
  stablehlo: str
  arguments: list[int]  # for each argument of @main, the parameter that it is
  constants: list[int]  # the parameters whose value became part of the text
  outputs: list[Output]


# The same functions under the names that torch.export can trace; a batch dimension made by the others is lost in its trace.
_TRACEABLE = re.compile(
  r"\btorch\._C\._functorch\.(_add_batch_dim|_remove_batch_dim|_vmap_increment_nesting|_vmap_decrement_nesting)\b"
)


def _load_model(text):
  scope = {}
  text = _TRACEABLE.sub(r"torch._functorch.predispatch.\1", text)
  exec(compile(text, "model.py", "exec"), scope)  # the worker's own re-print, never what a user wrote
  return scope["GraphModule"]()


class _Bound(torch.nn.Module):
  """The model with some of its parameters given."""

  def __init__(self, model, given):
    super().__init__()
    self.model = model
    self.positions = {}
    for position, value in given.items():
      # As an attribute of a module, a tensor is a constant to torch.export, and its item() a plain number.
      if isinstance(value, torch.Tensor):
        setattr(self, f"given_{position}", value)
      self.positions[position] = value

  def forward(self, *rest):
    rest, values = list(rest), []
    for position in range(len(rest) + len(self.positions)):
      if position not in self.positions:
        values.append(rest.pop(0))
      elif isinstance(self.positions[position], torch.Tensor):
        values.append(getattr(self, f"given_{position}"))
      else:
        values.append(self.positions[position])
    return self.model(*values)


def _given(model_text, parameters):
  """The parameters that must be constants: host numbers, and 0-dim tensors that the model reads with item(), on which
  its control flow and shapes may depend."""
  read = set(re.findall(r"\b(\w+)\.item\(\)", model_text))
  given = {}
  for position, parameter in enumerate(parameters):
    if parameter.number:
      given[position] = parameter.value
    elif parameter.name in read and parameter.value is not None:
      given[position] = torch.tensor(parameter.value, dtype=getattr(torch, parameter.dtype))
  return given


def _export(model, parameters):
  # Fake tensors: nothing is computed and no memory is taken for weights.
  with FakeTensorMode(allow_non_fake_inputs=True):
    arguments = tuple(torch.empty(one.shape, dtype=getattr(torch, one.dtype)) for one in parameters)
  with torch.no_grad():
    return torch.export.export(model, arguments, strict=False)


def _decompose(exported, torchax):
  # One pass for torch's table and torchax's together: each pass traces the graph again.
  table = torch.export.default_decompositions()
  table.update(torchax.decompositions.DECOMPOSITIONS)
  with torch.no_grad():
    return exported.run_decompositions(table)


def lower(model_text, parameters, platform="cpu"):
  """Lowers a graph for inference. Raises LoweringError with what cannot be lowered.

  Inputs that the graph changes in place are not written back: only its outputs are results.
  """
  jax, torchax = import_backend()
  given = _given(model_text, parameters)
  traced = [position for position in range(len(parameters)) if position not in given]
  with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
      model = _Bound(_load_model(model_text), given)
      exported = _decompose(_export(model, [parameters[i] for i in traced]), torchax)
    except MemoryError:
      raise  # of this machine, not of the graph
    except Exception as error:
      raise LoweringError(f"torch.export cannot trace the graph: {_first_lines(error)}") from error
    return _to_stablehlo(jax, exported, parameters, traced, sorted(given), platform)


def _to_stablehlo(jax, exported, parameters, traced, given, platform):
  from torchax.ops import mappings

  signature = exported.graph_signature
  graph_module = exported.graph_module
  constants = {**exported.constants, **exported.state_dict}

  # The placeholders in order: a traced parameter, as its place among them, or a constant.
  slots, next_traced = [], 0
  for spec in signature.input_specs:
    if spec.kind == InputKind.USER_INPUT:
      slots.append(next_traced)
      next_traced += 1
    elif spec.kind in (InputKind.CONSTANT_TENSOR, InputKind.BUFFER, InputKind.PARAMETER):
      slots.append(mappings.t2j(constants[spec.target].detach(), use_dlpack=False))
    else:
      raise LoweringError(f"the graph takes an input of kind {spec.kind.name}, which cannot be lowered")
  if next_traced != len(traced):
    raise LoweringError(f"torch.export kept {next_traced} of {len(traced)} parameters")

  outputs = []  # positions in the interpreter's results; those of changed inputs are left out
  for position, spec in enumerate(signature.output_specs):
    if spec.kind in (OutputKind.USER_INPUT_MUTATION, OutputKind.BUFFER_MUTATION):
      continue
    if spec.kind != OutputKind.USER_OUTPUT:
      raise LoweringError(f"the graph gives an output of kind {spec.kind.name}, which cannot be lowered")
    if isinstance(spec.arg, ConstantArgument) and spec.arg.value is None:
      raise LoweringError(f"output {len(outputs)} of the graph is None, which is not a tensor")
    outputs.append(position)

  def function(*tensors):
    values = [tensors[slot] if isinstance(slot, int) else slot for slot in slots]
    results = GraphInterpreter(graph_module).run(*values, enable_io_processing=False)
    return [_as_array(jax, results[position]) for position in outputs]

  avals = [
    jax.ShapeDtypeStruct(parameters[i].shape, mappings.t2j_dtype(getattr(torch, parameters[i].dtype))) for i in traced
  ]
  try:
    lowered = jax.export.export(jax.jit(function), platforms=[platform])(*avals)
  except (LoweringError, MemoryError):
    raise
  except Exception as error:
    raise LoweringError(f"the graph cannot be lowered to StableHLO: {_first_lines(error)}") from error
  return Lowered(
    stablehlo=_without_locations(lowered.mlir_module()),
    arguments=[traced[k] for k in lowered.module_kept_var_idx],
    constants=given,
    outputs=[Output(str(aval.dtype), tuple(int(size) for size in aval.shape)) for aval in lowered.out_avals],
  )


def _without_locations(text):
  """The same module without where in this program each operation was made: shorter, and the same on every machine."""
  from jax.interpreters import mlir
  from jaxlib.mlir import ir

  with mlir.make_ir_context():
    return ir.Module.parse(text).operation.get_asm(enable_debug_info=False)


def _as_array(jax, value):
  if isinstance(value, (bool, int, float)):
    dtype = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float64"
    return jax.numpy.asarray(value, dtype=dtype)
  return value


def _first_lines(error, limit=400):
  """What an error says, shortened: its type, and its first lines that say something."""
  lines = [line.strip() for line in str(error).splitlines() if line.strip()]
  return f"{type(error).__name__}: {' '.join(lines)[:limit]}"
