"""Small models of every kind that the lowering must get right, against eager. Needs the packages of scripts/setup-xla."""

import textwrap

import pytest

pytest.importorskip("jax", reason="jax is not installed here: scripts/setup-xla makes .venv-xla, which has it")

import numpy as np
import torch

from assay_lowering.interpreter import import_backend
from assay_lowering.lower import Parameter, lower
from assay_lowering.problem import LoweringError


def model(arguments, body):
  signature = "".join(f"        {argument},\n" for argument in arguments)
  return (
    "import torch\nfrom torch import device\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(\n        self,\n"
    f"{signature}    ):\n{textwrap.indent(textwrap.dedent(body).strip(), '        ')}\n"
  )


def parameters_of(text, values):
  scope = {}
  exec(text, scope)
  annotations = scope["GraphModule"].forward.__annotations__
  parameters = []
  for (name, annotation), value in zip(annotations.items(), values, strict=True):
    if annotation is torch.SymInt:
      parameters.append(Parameter(name, "int64", (), value, number=True))
    else:
      element = value.item() if value.dim() == 0 else None
      parameters.append(Parameter(name, str(value.dtype).removeprefix("torch."), tuple(value.shape), element))
  return scope["GraphModule"](), parameters


def execute(lowered, values):
  """The outputs of a lowered text on JAX's own CPU client."""
  jax, _ = import_backend()
  from jax._src.lib import xla_client
  from torchax.ops import mappings

  devices = jax.devices()
  program = devices[0].client.compile_and_load(
    lowered.stablehlo, xla_client.DeviceList(tuple(devices)), xla_client.CompileOptions()
  )
  arguments = [jax.device_put(mappings.t2j(values[i].detach(), use_dlpack=False)) for i in lowered.arguments]
  shards = program.execute_sharded(arguments).disassemble_into_single_device_arrays()
  return [np.asarray(one[0]) for one in shards]


def check(text, values, tolerance=1e-5):
  eager, parameters = parameters_of(text, values)
  lowered = lower(text, parameters)
  outputs = execute(lowered, values)
  copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in values]
  with torch.no_grad():
    expected = eager(*copies)
  assert len(outputs) == len(expected) == len(lowered.outputs)
  for output, described, reference in zip(outputs, lowered.outputs, expected):
    assert described.dtype == str(reference.dtype).removeprefix("torch.")
    assert tuple(output.shape) == described.shape == tuple(reference.shape)
    np.testing.assert_allclose(
      output.astype(np.float64), reference.to(torch.float64).numpy(), rtol=tolerance, atol=tolerance
    )
  return lowered


def random(*shape, dtype=torch.float32, seed=0):
  return torch.randn(shape, generator=torch.Generator().manual_seed(seed + len(shape))).to(dtype)


def test_layers():
  text = model(
    ["W: torch.nn.parameter.Parameter", "b: torch.nn.parameter.Parameter", "x: torch.Tensor"],
    """
    v3 = torch._C._nn.linear(x, W, b)
    v4 = torch.nn.functional.layer_norm(v3, (8,), None, None, 1e-05)
    v3 = None
    v5 = torch._C._nn.gelu(v4)
    return (v5, v4)
    """,
  )
  check(text, [random(8, 4), random(8), random(3, 4)])


def test_convolution_and_pooling():
  text = model(
    ["W: torch.nn.parameter.Parameter", "x: torch.Tensor"],
    """
    v2 = torch.conv2d(x, W, None, (1, 1), (1, 1), (1, 1), 1)
    v3 = torch.nn.functional.max_pool2d(v2, 2, 2, 0, 1, ceil_mode=False, return_indices=False)
    v4 = torch.nn.functional.adaptive_avg_pool2d(v3, (1, 1))
    return (v4,)
    """,
  )
  check(text, [random(4, 3, 3, 3), random(2, 3, 8, 8)])


def test_adaptive_pooling_of_cells_of_unequal_size():
  text = model(
    ["x: torch.Tensor"],
    """
    v1 = torch.nn.functional.adaptive_max_pool2d(x, (3, 2), True)
    v2 = v1[0]
    v3 = v1[1]
    v4 = torch.nn.functional.adaptive_avg_pool2d(x, (3, 2))
    return (v2, v3, v4)
    """,
  )
  check(text, [random(2, 4, 7, 5)])


def test_a_padding_of_one_number_is_that_of_every_dimension():
  text = model(
    ["W: torch.nn.parameter.Parameter", "x: torch.Tensor"],
    "return (torch.conv2d(x, W, None, 2, 1), torch.conv2d(x, W, None, (2, 1), 'valid'))",
  )
  check(text, [random(4, 3, 3, 3), random(2, 3, 8, 8)])


def test_attention():
  text = model(
    ["q: torch.Tensor", "k: torch.Tensor", "v: torch.Tensor"],
    "return (torch._C._nn.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=True),)",
  )
  check(text, [random(1, 2, 5, 4, seed=i) for i in range(3)])


def test_what_is_changed_in_place_is_seen_through_views_and_not_returned():
  text = model(
    ["x: torch.Tensor", "cache: torch.Tensor"],
    """
    cache[(slice(None, None, None), slice(1, 3, None))] = x
    v2 = cache[(slice(None, None, None), 0)]
    v2 *= 2.0
    x += 1.0
    v3 = cache.sum(dim=1)
    return (v3, x)
    """,
  )
  values = [random(2, 2), random(2, 4)]
  before = [value.clone() for value in values]
  lowered = check(text, values)
  assert len(lowered.outputs) == 2
  assert all(torch.equal(a, b) for a, b in zip(values, before))


def test_a_host_number_becomes_a_constant():
  text = model(
    ["n: torch.SymInt", "x: torch.Tensor"],
    """
    v2 = x.view(n, 2)
    v3 = v2 + n
    return (v3,)
    """,
  )
  lowered = check(text, [3, random(6)])
  assert lowered.arguments == [1]
  assert lowered.constants == [0]


def test_a_parameter_read_with_item_becomes_a_constant():
  text = model(
    ["x: torch.Tensor", "eps: torch.Tensor", "scale: torch.Tensor"],
    """
    v3 = eps.item()
    v4 = torch.nn.functional.layer_norm(x, (4,), None, None, v3)
    v5 = v4 * scale
    return (v5,)
    """,
  )
  lowered = check(text, [random(2, 4), torch.tensor(0.25, dtype=torch.float64), torch.tensor(3.0)])
  assert lowered.arguments == [0, 2]
  assert lowered.constants == [1]


def test_a_computed_number_stays_traced():
  text = model(
    ["x: torch.Tensor"],
    """
    v1 = x.sum()
    v2 = v1.item()
    v3 = x * v2
    return (v3,)
    """,
  )
  check(text, [random(4)])


@pytest.mark.parametrize("namespace", ["torch._C._functorch", "torch._functorch.predispatch"])
def test_a_mask_made_by_vmap(namespace):
  text = model(
    ["x: torch.Tensor", "n: torch.Tensor"],
    f"""
    lazy = torch._functorch.predispatch.lazy_load_decompositions()
    lazy = None
    v2 = {namespace}._vmap_increment_nesting(3, "error")
    v2 = None
    v3 = {namespace}._add_batch_dim(n, 0, 1)
    v4 = {namespace}._vmap_increment_nesting(4, "error")
    v4 = None
    v5 = {namespace}._add_batch_dim(x, 0, 2)
    v6 = v5.le(v3)
    v7 = {namespace}._remove_batch_dim(v6, 2, 4, 0)
    v8 = {namespace}._vmap_decrement_nesting()
    v8 = None
    v9 = {namespace}._remove_batch_dim(v7, 1, 3, 0)
    v10 = {namespace}._vmap_decrement_nesting()
    v10 = None
    return (v9,)
    """,
  )
  check(text, [torch.tensor([0, 3, 1, 2]), torch.tensor([1, 2, 0])])


def test_parameters_that_are_not_used_are_left_out():
  text = model(["a: torch.Tensor", "b: torch.Tensor", "c: torch.Tensor"], "return (c + a,)")
  assert check(text, [random(2), random(2), random(2)]).arguments == [0, 2]


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool"])
def test_dtypes(dtype):
  text = model(
    ["x: torch.Tensor"],
    f"""
    v1 = x.to(torch.{dtype})
    v2 = v1 + v1
    v3 = v1.to(torch.float32)
    return (v1, v2, v3)
    """,
  )
  check(text, [random(7).abs() * 3])


def test_numbers_do_not_widen():
  text = model(
    ["i: torch.Tensor", "h: torch.Tensor"],
    """
    v2 = i / 2
    v3 = i + 2
    v4 = h * 1.5
    v5 = torch.arange(0, 4, device=device(type="cpu"))
    v6 = i.argmax(dim=0)
    return (v2, v3, v4, v5, v6)
    """,
  )
  check(text, [torch.tensor([1, 5, 2]), random(3, dtype=torch.bfloat16)])


def test_a_graph_without_arguments():
  text = model(["x: torch.Tensor"], "return (torch.ones((2, 3), device=device(type='cpu')),)")
  assert check(text, [random(1)]).arguments == []


def test_the_text_names_no_place_of_this_program():
  text = model(["x: torch.Tensor"], "return (x + x,)")
  _, parameters = parameters_of(text, [random(2)])
  lowered = lower(text, parameters)
  assert "loc(" not in lowered.stablehlo and ".py" not in lowered.stablehlo
  assert lowered == lower(text, parameters)


def test_an_operator_that_cannot_be_lowered_is_named():
  text = model(["x: torch.Tensor", "mask: torch.Tensor"], "return (x[mask],)")
  _, parameters = parameters_of(text, [random(4), torch.tensor([True, False, True, True])])
  with pytest.raises(LoweringError, match=r"aten\.index\.Tensor") as caught:
    lower(text, parameters)
  assert caught.value.operator == "aten.index.Tensor"


def test_what_torch_cannot_trace_is_said():
  text = model(["x: torch.Tensor", "y: torch.Tensor"], "return (torch.matmul(x, y),)")
  _, parameters = parameters_of(text, [random(2, 3), random(2, 3)])
  with pytest.raises(LoweringError, match="torch.export cannot trace the graph"):
    lower(text, parameters)
