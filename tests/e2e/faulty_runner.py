# SPDX-License-Identifier: Apache-2.0
"""A runner for tests: the Python runner with one compiler more, `faulty`, which is eager but for what its options plant at a callee."""

from __future__ import annotations

import ast
import copy
import sys
import time

from assay_runner import __main__ as entry
from assay_runner import compilers, errors
from assay_runner import options as schemas
from assay_runner.graph import Graph

FAULTY = "faulty"
CALLEES = ["torch._C._nn.gelu", "torch.nn.functional.batch_norm", ".chunk", ".masked_fill_"]
_AT = {"enum": CALLEES}
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "wrong_at": _AT,  # its result, of a tuple the first, is off by a million
        "slow_at": _AT,  # it takes 20 ms more
        "fails_at": _AT,  # graphs with it do not compile
        "from_statements": {"type": "integer", "minimum": 0, "maximum": 10000},  # `wrong_at` only in graphs of at least so many
        "unless_returned": {"type": "boolean"},  # `wrong_at` only where its first operand is not returned, as a fusion would
    },
}

HELPERS = '''
def _wrong(value, in_place):
    if isinstance(value, (tuple, list)):
        return (_wrong(value[0], in_place), *value[1:])
    return value.add_(1e6) if in_place else value + 1e6


def _slow(value):
    import time
    time.sleep(0.02)
    return value


'''


def _callee(value: ast.expr) -> str:
    return ast.unparse(value.func) if isinstance(value, ast.Call) else ""


def _is(value: ast.expr, callee: str) -> bool:
    """A function by its whole name, a method by its last part."""
    name = _callee(value)
    return name == callee or (callee.startswith(".") and name.endswith(callee))


def plant(model: str, options: dict[str, object]) -> str:
    """The model with the faults in it."""
    tree = ast.parse(model)
    (forward,) = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    # Not those that free values.
    statements = [node for node in forward.body if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant))]
    returned = {node.id for node in ast.walk(forward.body[-1]) if isinstance(node, ast.Name)}
    large = len(statements) - 1 >= options.get("from_statements", 0)
    for node in statements:
        if not isinstance(node, ast.Assign):
            continue
        value = node.value
        if _is(value, options.get("fails_at", "none")):
            raise errors.RunnerError(errors.COMPILE_FAIL, f"no kernel for {_callee(value)}")
        operand = ast.unparse(value.args[0]) if _callee(value) and value.args else ""
        hidden = options.get("unless_returned", False) and operand in returned
        if _is(value, options.get("wrong_at", "none")) and large and not hidden:
            in_place = ast.Constant(_callee(value).endswith("_"))
            node.value = ast.Call(ast.Name("_wrong", ast.Load()), [value, in_place], [])
        if _is(value, options.get("slow_at", "none")):
            node.value = ast.Call(ast.Name("_slow", ast.Load()), [node.value], [])
    return HELPERS + ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def compile_graph(graph: Graph, compiler: str, options: object, folder: str) -> compilers.Compiled:
    if compiler != FAULTY:
        return real_compile(graph, compiler, options, folder)
    changed = copy.copy(graph)
    start = time.perf_counter_ns()
    changed.model = plant(graph.model, schemas.check(SCHEMA, options))
    return compilers.Compiled(changed.module(), graph.arguments, time.perf_counter_ns() - start)


def description(fork: bool) -> dict[str, object]:
    real = real_description(fork)
    version = real["version"]
    offered = [
        {"name": compilers.EAGER, "version": version, "baseline": compilers.EAGER, "options": schemas.EAGER},
        {"name": FAULTY, "version": version, "baseline": compilers.EAGER, "options": SCHEMA},
    ]
    return real | {"name": FAULTY, "build": "test", "compilers": offered}


if __name__ == "__main__":
    real_compile, compilers.compile_graph = compilers.compile_graph, compile_graph
    real_description, entry.description = entry.description, description
    entry.prepare = lambda directory, own: own  # Inductor is not asked for anything
    sys.exit(entry.main())
