# SPDX-License-Identifier: Apache-2.0
import ast
import importlib.util
import json
import os
import pathlib

import pytest
import torch
from torch import nn

from assay_extract import ExtractError, extract
from assay_extract.__main__ import main
from assay_extract.describe import DescribeError, describe, short


def load(folder):
    """The sample's module, and its descriptions by name."""
    loaded = []
    for file in ("model", "weight_meta"):
        spec = importlib.util.spec_from_file_location(f"{file}_{abs(hash(folder))}", os.path.join(folder, f"{file}.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        loaded.append(module)
    metas = [value for value in vars(loaded[1]).values() if isinstance(value, type)]
    return loaded[0].GraphModule(), {meta.name: meta for meta in metas}


def parameters(folder):
    tree = ast.parse((pathlib.Path(folder) / "model.py").read_text())
    function = tree.body[-1].body[0]
    return [(argument.arg, ast.unparse(argument.annotation)) for argument in function.args.args[1:]]


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)
        self.register_buffer("offsets", torch.tensor([3, 1, 2]))

    def forward(self, x, index):
        return self.layer(x)[self.offsets].sum(1), index + 1


def test_a_sample_has_four_files_and_does_what_the_module_does(tmp_path):
    torch.manual_seed(0)
    module, x, index = Small().eval(), torch.randn(5, 8), torch.randint(0, 100, (50,))
    assert extract(module, (x, index), tmp_path / "s", name="small") == [str(tmp_path / "s")]
    assert sorted(os.listdir(tmp_path / "s")) == ["graph_net.json", "input_meta.py", "model.py", "weight_meta.py"]
    assert (tmp_path / "s" / "input_meta.py").read_text() == ""
    info = json.loads((tmp_path / "s" / "graph_net.json").read_text())
    assert (info["framework"], info["num_devices_required"], info["num_nodes_required"]) == ("torch", 1, 1)
    assert info["model_name"] == "small"

    graph, metas = load(tmp_path / "s")
    assert list(metas) == [name for name, _ in parameters(tmp_path / "s")]
    annotations = dict(parameters(tmp_path / "s"))
    values = {
        "L_self_modules_layer_parameters_weight_": module.layer.weight,
        "L_self_modules_layer_parameters_bias_": module.layer.bias,
        "L_self_buffers_offsets_": module.offsets,
        "L_x_": x,
        "L_index_": index,
    }
    assert {name: annotations[name].rpartition(".")[2] for name in values} == {
        name: "Parameter" if "parameters" in name else "Tensor" for name in values
    }
    for got, wanted in zip(graph(**values), module(x, index), strict=True):
        torch.testing.assert_close(got, wanted)

    weight = metas["L_self_modules_layer_parameters_weight_"]
    assert weight.shape == [4, 8] and weight.dtype == "torch.float32" and weight.data is None
    assert weight.mean == pytest.approx(module.layer.weight.mean().item(), rel=1e-6)
    assert weight.std == pytest.approx(module.layer.weight.std(correction=0).item(), rel=1e-6)
    assert metas["L_self_buffers_offsets_"].data == [3, 1, 2]
    described = metas["L_index_"]
    assert (described.min_val, described.max_val) == (index.min(), index.max()) and not hasattr(described, "data")


def test_the_grammar_of_the_text(tmp_path):
    class Masks(nn.Module):
        def forward(self, x):
            mask = torch.full((4, 4), float("-inf"), device=x.device).triu(1)
            y = x[:, None] + mask
            y[..., 0] = 1
            y += 1
            return y.softmax(-1), x.t()

    extract(Masks(), (torch.randn(4, 4),), tmp_path / "s")
    text = (tmp_path / "s" / "model.py").read_text()
    assert text.startswith("import torch\nfrom torch import device\nfrom torch import inf\n\n\nclass GraphModule(torch.nn.Module):\n")
    assert ";" not in text and "#" not in text and "\t" not in text
    statements = ast.parse(text).body[-1].body[0].body
    assert all(isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return)) for statement in statements)
    assert isinstance(statements[-1], ast.Return) and isinstance(statements[-1].value, ast.Tuple)
    assert not any(isinstance(node, (ast.Slice, ast.Starred, ast.Lambda)) for node in ast.walk(ast.parse(text)))


def test_inputs_are_described_before_the_graph_changes_them(tmp_path):
    class Adds(nn.Module):
        def forward(self, x):
            x += 100
            return x * 2

    extract(Adds(), (torch.zeros(20),), tmp_path / "s")
    assert load(tmp_path / "s")[1]["L_x_"].mean == 0


def test_keyword_inputs_and_a_constant_of_the_module(tmp_path):
    class Constant(nn.Module):
        def forward(self, x, scale):
            return x * scale + torch.tensor([1.0, 2.0, 3.0])

    extract(Constant(), {"x": torch.randn(3), "scale": torch.tensor(2.5)}, tmp_path / "s")
    graph, metas = load(tmp_path / "s")
    assert metas["L_scale_"].data == [2.5]
    assert "self." not in (tmp_path / "s" / "model.py").read_text()


class Breaks(nn.Module):
    def forward(self, x):
        y = x * 2
        torch._dynamo.graph_break()
        return y + 1


def test_a_graph_break_gives_a_sample_for_each_part(tmp_path):
    folders = extract(Breaks(), (torch.randn(3),), tmp_path / "s")
    assert folders == [str(tmp_path / "s" / "subgraph_0"), str(tmp_path / "s" / "subgraph_1")]
    for folder, factor, offset in zip(folders, (2, 1), (0, 1)):
        graph, metas = load(folder)
        torch.testing.assert_close(graph(**{name: torch.ones(3) for name in metas})[0], torch.full((3,), 1.0 * factor + offset))


def test_a_folder_that_is_not_empty_is_refused_or_its_samples_replaced(tmp_path):
    extract(Breaks(), (torch.randn(3),), tmp_path / "s")
    (tmp_path / "s" / "subgraph_1" / "notes.txt").write_text("mine")
    with pytest.raises(ExtractError, match="is not empty.*--force"):
        extract(Small().eval(), (torch.randn(5, 8), torch.arange(50)), tmp_path / "s")
    assert not (tmp_path / "s" / "model.py").exists()
    extract(Small().eval(), (torch.randn(5, 8), torch.arange(50)), tmp_path / "s", force=True)
    left = sorted(str(path.relative_to(tmp_path / "s")) for path in (tmp_path / "s").rglob("*") if path.is_file())
    assert left == ["graph_net.json", "input_meta.py", "model.py", "subgraph_1/notes.txt", "weight_meta.py"]


def test_fullgraph_says_where_it_breaks(tmp_path):
    with pytest.raises(ExtractError, match="TorchDynamo cannot capture Breaks.*graph_break"):
        extract(Breaks(), (torch.randn(3),), tmp_path / "s", fullgraph=True)
    assert not (tmp_path / "s").exists()


def test_what_cannot_be_described_is_named(tmp_path):
    class Adds(nn.Module):
        def forward(self, x):
            return x + 1

    with pytest.raises(ExtractError, match=r"tensor L_x_ \(shape \[2\], torch.float32\): it holds a value that is not finite"):
        extract(Adds(), (torch.tensor([0.0, float("inf")]),), tmp_path / "s")
    with pytest.raises(ExtractError, match="L_x_.*without elements"):
        extract(Adds(), (torch.zeros(0),), tmp_path / "s")

    class Nothing(nn.Module):
        def forward(self, x):
            return x

    with pytest.raises(ExtractError, match="runs no tensor operation"):
        extract(Nothing(), (torch.zeros(2),), tmp_path / "s")


@pytest.mark.parametrize(
    "name, tensor, lines",
    [
        ("L_self_buffers_mask_", torch.tensor([True, False]), ["data = [True, False]"]),
        ("L_self_buffers_big_", torch.arange(2000), ["min_val = 0", "max_val = 1999"]),
        ("L_self_buffers_var_", torch.tensor([0.5, 1.5]), ["mean = 1.0", "std = 0.5", "data = None", "min_val = 0"]),
        ("L_x_", torch.ones(4), ["mean = 1.0", "std = 0.0", "data = None"]),
        ("L_x_", torch.tensor(7), ["data = [7]"]),
    ],
)
def test_descriptions(name, tensor, lines):
    text = describe(name, tensor, parameter=False)
    assert text.startswith(f'class Program_weight_tensor_meta_{name}:\n    name = "{name}"\n')
    assert [line for line in lines if f"    {line}\n" not in text] == []


def test_numbers_are_short_and_exact():
    for value in (0.1, 1e-30, -123.456789, 3.0, 1 / 3):
        written = float(short(value))
        assert torch.tensor(written, dtype=torch.float32) == torch.tensor(value, dtype=torch.float32)
    assert short(0.1) == "0.1" and short(0.0) == "0.0"
    with pytest.raises(DescribeError):
        describe("L_x_", torch.zeros(2, dtype=torch.complex64), parameter=False)


MODELS = """
import torch
def good():
    return torch.nn.Linear(3, 2).eval(), torch.ones(4, 3)
def bad():
    return 5
"""


def test_the_command(tmp_path, capsys):
    file = tmp_path / "models.py"
    file.write_text(MODELS)
    assert main([f"{file}:good", "-o", str(tmp_path / "a")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'a'}\n"
    assert main([f"{file}:good", "-o", str(tmp_path / "b")]) == 0
    for name in ("model.py", "weight_meta.py"):  # seeded: the same again
        assert (tmp_path / "a" / name).read_text() == (tmp_path / "b" / name).read_text()
    for spec, words in (
        (f"{file}:bad", "must return (module, inputs)"),
        (f"{file}:nothing", "has no function nothing"),
        (f"{file}", "is not of the form FILE.py:FUNCTION"),
        (f"{tmp_path}/none.py:good", "there is no file"),
    ):
        assert main([spec, "-o", str(tmp_path / "c")]) == 1
        assert words in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_a_module_without_a_graph_says_why(tmp_path):
    class Positions(nn.Module):
        def forward(self, x):
            return x.nonzero()

    with pytest.raises(ExtractError, match="captures: Dynamic shape operator"):
        extract(Positions(), (torch.tensor([0.0, 1.0]),), tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_nothing_is_written_where_one_of_the_graphs_cannot_be(tmp_path):
    class Complex(nn.Module):
        def forward(self, x, z):
            y = x + 1
            torch._dynamo.graph_break()
            return y * z

    with pytest.raises(ExtractError, match="only floating-point"):
        extract(Complex(), (torch.rand(2), torch.rand(2, dtype=torch.complex64)), tmp_path / "s")
    assert not (tmp_path / "s").exists()
