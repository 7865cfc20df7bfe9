# SPDX-License-Identifier: Apache-2.0
"""model.py: an FX graph as GraphNet writes it."""

from __future__ import annotations

import io
import tokenize

import torch

# The names that generated code may use beside the graph's own.
_IMPORTS = {"device": "from torch import device", "inf": "from torch import inf"}
_ANNOTATIONS = ("torch.nn.parameter.Parameter", "torch.Tensor", "torch.SymInt")


class SourceError(Exception):
    """A graph that GraphNet's grammar cannot say."""


def lift_constants(graph_module: torch.fx.GraphModule) -> dict[str, torch.Tensor]:
    """Turns the tensors that the graph module holds itself into placeholders; their values by name, in order."""
    graph = graph_module.graph
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    lifted: dict[str, torch.Tensor] = {}
    by_target: dict[str, torch.fx.Node] = {}
    for node in list(graph.nodes):
        if node.op == "call_module":
            raise SourceError(f"the graph calls a module ({node.target}), which a sample cannot hold")
        if node.op != "get_attr":
            continue
        value = _attribute(graph_module, node.target)
        if not isinstance(value, torch.Tensor):
            raise SourceError(
                f"the graph holds {type(value).__name__} {node.target} (control flow or a higher-order operator), which a sample cannot hold"
            )
        if node.target not in by_target:
            after = placeholders[-1] if placeholders else None
            with graph.inserting_after(after) if after else graph.inserting_before(next(iter(graph.nodes))):
                name = "L_self_buffers_" + node.target.replace(".", "_").strip("_") + "_"
                placeholder = graph.placeholder(name, type_expr=torch.Tensor)
            placeholders.append(placeholder)
            by_target[node.target] = placeholder
            lifted[placeholder.target] = value
        node.replace_all_uses_with(by_target[node.target])
        graph.erase_node(node)
    graph.lint()
    return lifted


def _attribute(owner: object, target: str) -> object:
    for part in target.split("."):
        owner = getattr(owner, part)
    return owner


def source(graph: torch.fx.Graph) -> tuple[str, list[tuple[str, str]]]:
    """The text of model.py, and the parameters of forward(): (name, annotation) in order."""
    code = graph.python_code("self")
    statements = _statements(code.src)
    tokens = tokenize.generate_tokens(io.StringIO("\n".join(statements)).readline)
    words = {token.string for token in tokens if token.type == tokenize.NAME}
    imports = ["import torch"]
    for name in sorted(words & code.globals.keys()):
        if name in _IMPORTS:
            imports.append(_IMPORTS[name])
        elif name != "torch":
            raise SourceError(f"the graph uses {name} ({code.globals[name]!r}), which is not a torch function")
    parameters = [(node.target, _annotation(node)) for node in graph.nodes if node.op == "placeholder"]
    lines = imports + ["", "", "class GraphModule(torch.nn.Module):", "    def forward(", "        self,"]
    lines += [f"        {name}: {annotation}," for name, annotation in parameters]
    lines += ["    ):"]
    lines += ["        " + statement for statement in statements]
    return "\n".join(lines) + "\n", parameters


def _annotation(node: torch.fx.Node) -> str:
    kind = node.type
    if kind is torch.nn.Parameter:
        return "torch.nn.parameter.Parameter"
    if kind is torch.SymInt or kind is int:
        return "torch.SymInt"
    if kind is torch.Tensor or kind is None:
        return "torch.Tensor"
    raise SourceError(f"the graph's input {node.target} is a {kind}, not one of {', '.join(_ANNOTATIONS)}")


def _statements(text: str) -> list[str]:
    """The statements of a generated forward(), one a line, without comments."""
    statements: list[str] = []
    tokens: list[tokenize.TokenInfo] = []
    body = False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if not body:
            body = token.type == tokenize.INDENT
        elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.DEDENT) or token.string == ";":
            if tokens:
                statements.append(_join(text, tokens))
                tokens = []
        elif token.type not in (tokenize.COMMENT, tokenize.NL):
            tokens.append(token)
    if not statements or not statements[-1].startswith("return"):
        raise SourceError("the graph returns nothing")
    return statements


def _join(text: str, tokens: list[tokenize.TokenInfo]) -> str:
    lines = text.splitlines()
    (first, start), (last, end) = tokens[0].start, tokens[-1].end
    if first == last:
        return lines[first - 1][start:end]
    parts = [lines[first - 1][start:], *lines[first : last - 1], lines[last - 1][:end]]
    return " ".join(part.strip() for part in parts)
