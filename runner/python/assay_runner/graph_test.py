# SPDX-License-Identifier: Apache-2.0
import pytest
import torch

from assay_runner.conftest import model
from assay_runner.errors import RunnerError
from assay_runner.graph import Graph, is_random, may_write

CPU = torch.device("cpu")
P, T, S = "torch.nn.parameter.Parameter", "torch.Tensor", "torch.SymInt"


def load(text: str, **values: torch.Tensor) -> Graph:
    with torch.no_grad():
        return Graph(text, CPU, {name: value.clone() for name, value in values.items()}, values)


WRITES = [
    ("x += 1", True),
    ("x[0] = 1", True),
    ("y = x.view(-1).mul_(2)", True),
    ("y = torch.nn.functional.relu(x, inplace = True)", True),
    ("y = torch.add(x, 1, out = x)", True),
    ("y = torch.nn.functional.batch_norm(x, w, w, None, None, True, 0.1, 1e-05)", True),
    ("y = torch.nn.functional.relu(x, inplace = False) + x.sum(dim = 1)", False),
]


@pytest.mark.parametrize("statement, writes", WRITES)
def test_what_may_write(statement, writes):
    assert may_write(model([statement, "return (x,)"], x=T, w=T)) is writes


def test_mutated_parameters_are_found_through_views_and_restored():
    text = model(["v = a.view(4)", "v += 1", "u = b.relu_()", "w = c + 1", "w += 1", "return (v, u, w)"], a=T, b=T, c=T)
    # b is already as relu_ leaves it: another input set would still be changed.
    graph = load(text, a=torch.zeros(2, 2), b=torch.ones(3), c=torch.ones(3))
    assert sorted(graph.mutated) == ["a", "b"]
    graph.module()(*graph.arguments("public"))
    assert graph.values("public")["a"].sum() == 4
    graph.restore("public")
    assert graph.values("public")["a"].sum() == 0


def test_running_statistics_are_found():
    statement = "y = torch.nn.functional.batch_norm(x, mean, var, None, None, True, 0.1, 1e-05)"
    graph = load(model([statement, "return (y,)"], x=T, mean=T, var=T), x=torch.randn(8, 4), mean=torch.zeros(4), var=torch.ones(4))
    assert sorted(graph.mutated) == ["mean", "var"]


def test_sets_share_what_they_do_not_replace():
    graph = load(model(["x += w", "return (x,)"], x=T, w=P), x=torch.zeros(3), w=torch.ones(3))
    other = {"x": torch.full((3,), 5.0)}
    graph.add_set("s1", {"x": other["x"].clone()}, other)
    assert graph.values("s1")["w"] is graph.values("public")["w"]
    graph.module()(*graph.arguments("s1"))
    assert graph.values("s1")["x"].tolist() == [6, 6, 6] and graph.values("public")["x"].sum() == 0
    graph.restore("s1")
    assert graph.values("s1")["x"].tolist() == [5, 5, 5]
    with pytest.raises(RunnerError, match="no input set s2"):
        graph.values("s2")
    with pytest.raises(RunnerError, match="another shape"):
        graph.add_set("s3", {"x": torch.zeros(4)}, {"x": torch.zeros(4)})
    with pytest.raises(RunnerError, match="does not take"):
        graph.add_set("s3", {"z": torch.zeros(4)}, {"z": torch.zeros(4)})


def test_sizes_are_tensors_unless_only_integers_work():
    as_tensor = load(model(["y = x + s", "return (y,)"], x=T, s=S), x=torch.zeros(3), s=torch.tensor(3))
    assert isinstance(as_tensor.arguments("public")[1], torch.Tensor)
    as_integer = load(model(["y = torch.sym_max(s, 2)", "z = x.view(y, 1)", "return (z,)"], x=T, s=S), x=torch.zeros(3), s=torch.tensor(3))
    assert as_integer.integers == {"s"}
    assert as_integer.module()(*as_integer.arguments("public"))[0].shape == (3, 1)


def test_a_graph_that_fails_loads_all_the_same():
    graph = load(model(["x += y", "return (x,)"], x=T, y=T), x=torch.zeros(3), y=torch.zeros(4))
    with pytest.raises(RuntimeError, match="size of tensor"):
        graph.module()(*graph.arguments("public"))


@pytest.mark.parametrize("text", ["", "import torch\n", "class GraphModule:\n  def other(self):\n    pass\n", "def ("])
def test_what_is_not_a_model_is_refused(text):
    with pytest.raises(RunnerError, match="model is not"):
        load(text)


def test_missing_tensors_are_named():
    with pytest.raises(RunnerError, match="lack 1 of the graph's parameters: y"):
        load(model(["return (x,)"], x=T, y=T), x=torch.zeros(3))


def test_random_graphs_are_known_by_their_calls() -> None:
    def text(statement: str) -> str:
        return (
            "import torch\n\n\nclass GraphModule(torch.nn.Module):\n"
            f"    def forward(self, x : torch.Tensor):\n        v1 = {statement}\n        return (v1,)\n"
        )

    assert is_random(text("torch.rand([2, 3])"))
    assert is_random(text("torch.nn.functional.dropout(x, 0.1, True, False)"))
    assert not is_random(text("torch.nn.functional.dropout(x, 0.1, False, False)"))
    assert not is_random(text("torch.nn.functional.normalize(x, dim = -1)"))
