# SPDX-License-Identifier: Apache-2.0
"""A loaded graph: the module made from Assay's re-print, its tensors in place, and what running it changes."""

from __future__ import annotations

import ast
import itertools
import linecache
import sys
import types
from collections.abc import Mapping, Sequence

import torch

from assay_runner.errors import BAD_REQUEST, LOAD_FAIL, MODEL_FILE, RunnerError

_PARAMETER = "torch.nn.parameter.Parameter"
# The generator's seed before every run and sample: the same in every runner (runner/protocol.md).
_SEED = 0
_RANDOM = {"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli", "multinomial", "normal"}
SYMINT = "torch.SymInt"
_numbers = itertools.count()


class Graph:
    """The text, its parameters and the input sets. Not thread-safe."""

    def __init__(self, model: str, device: torch.device, public: Mapping[str, torch.Tensor], pristine: Mapping[str, torch.Tensor]):
        """`public` and `pristine` hold the same values; the graph runs on the first and may change them, the second is never written."""
        self.model = model
        self.device = device
        self.parameters = _parameters(model)
        missing = [name for name, _ in self.parameters if name not in public]
        if missing:
            raise RunnerError(BAD_REQUEST, f"the tensors lack {len(missing)} of the graph's parameters: {', '.join(missing[:5])}")
        self.integers: set[str] = set()  # torch.SymInt parameters that are passed as int, not as a 0-dim tensor
        self.mutated: list[str] = []
        self.random = is_random(model)
        self._working = {"public": {name: public[name].to(device) for name, _ in self.parameters}}
        self._pristine = {"public": {name: pristine[name] for name, _ in self.parameters}}
        self._probe()

    def module(self) -> torch.nn.Module:
        """A module of its own: TorchDynamo keeps what it compiles by code object."""
        number = next(_numbers)
        filename = f"<assay-{number}>/{MODEL_FILE}"
        linecache.cache[filename] = (len(self.model), None, self.model.splitlines(keepends=True), filename)
        module = types.ModuleType(f"assay_model_{number}")
        sys.modules[module.__name__] = module  # TorchDynamo looks globals up by the module's name
        exec(compile(self.model, filename, "exec"), vars(module))  # noqa: S102: Assay's own print of a checked graph
        return module.GraphModule().eval()

    def add_set(self, name: str, tensors: Mapping[str, torch.Tensor], pristine: Mapping[str, torch.Tensor]) -> None:
        """A further input set: these tensors instead of the public ones."""
        if name == "public":
            raise RunnerError(BAD_REQUEST, "the set `public` came with `load` and cannot be replaced")
        public = self._pristine["public"]
        for key, tensor in tensors.items():
            if key not in public:
                raise RunnerError(BAD_REQUEST, f"set {name} has the tensor {key}, which the graph does not take")
            if (tensor.shape, tensor.dtype) != (public[key].shape, public[key].dtype):
                raise RunnerError(BAD_REQUEST, f"set {name}: tensor {key} has another shape or dtype than in `public`")
        self._working[name] = self._working["public"] | {key: tensor.to(self.device) for key, tensor in tensors.items()}
        self._pristine[name] = public | pristine

    def values(self, name: str) -> dict[str, torch.Tensor]:
        try:
            return self._working[name]
        except KeyError:
            raise RunnerError(BAD_REQUEST, f"there is no input set {name}; sets are {', '.join(self._working)}") from None

    def arguments(self, name: str) -> list[object]:
        """What forward() is called with."""
        values = self.values(name)
        return [int(values[key]) if key in self.integers else values[key] for key, _ in self.parameters]

    @property
    def needs_restoring(self) -> bool:
        """Whether a call leaves something behind that the next one would see."""
        return bool(self.mutated) or self.random

    def restore(self, name: str) -> None:
        """Undoes what running the graph on this set changed: its tensors and the random number generator."""
        values, pristine = self.values(name), self._pristine[name]
        for key in self.mutated:
            values[key].copy_(pristine[key])
        if self.random:
            torch.manual_seed(_SEED)

    def _probe(self) -> None:
        """Runs the graph once where that can teach something: whether it changes its parameters, and how it takes its sizes.

        A graph that fails here fails again when it is run for its own sake, and is reported then.
        """
        used = {node.id for node in ast.walk(_tree(self.model)) if isinstance(node, ast.Name)}
        symbolic = {name for name, annotation in self.parameters if annotation == SYMINT and name in used}
        writes = may_write(self.model)
        if not symbolic and not writes:
            return
        module = self.module()
        if self.random:
            torch.manual_seed(_SEED)
        versions = {name: tensor._version for name, tensor in self._working["public"].items()}
        for attempt in (set(), symbolic):
            self.integers = attempt
            try:
                module(*self.arguments("public"))
                failed = False
            except Exception:  # noqa: BLE001: see above
                failed = True
            if self.device.type == "cuda":
                torch.cuda.synchronize(self.device)
            if writes:
                self._find_mutated(versions)
                self.restore("public")
            if not failed or not symbolic:
                return
        self.integers = set()

    def _find_mutated(self, versions: Mapping[str, int]) -> None:
        # The version counts writes that left the same value; the bytes show those that are not counted (running statistics).
        for name, tensor in self._working["public"].items():
            changed = tensor._version != versions[name] or not _same_bytes(tensor, self._pristine["public"][name])
            if changed and name not in self.mutated:
                self.mutated.append(name)


def _same_bytes(left: torch.Tensor, right: torch.Tensor) -> bool:
    return torch.equal(left.reshape(-1).view(torch.uint8), right.to(left.device).reshape(-1).view(torch.uint8))


def _tree(model: str) -> ast.FunctionDef:
    try:
        tree = ast.parse(model, MODEL_FILE)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise RunnerError(LOAD_FAIL, f"the model is not Python: {error}") from None
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "GraphModule"]
    functions = [node for node in classes[0].body if isinstance(node, ast.FunctionDef)] if len(classes) == 1 else []
    if [function.name for function in functions] != ["forward"]:
        raise RunnerError(LOAD_FAIL, "the model is not one class GraphModule with one method forward")
    return functions[0]


def _parameters(model: str) -> list[tuple[str, str]]:
    """forward()'s parameters and their annotations, without self."""
    arguments = _tree(model).args.args[1:]
    return [(argument.arg, ast.unparse(argument.annotation) if argument.annotation else "") for argument in arguments]


def weights(parameters: Sequence[tuple[str, str]]) -> list[str]:
    return [name for name, annotation in parameters if annotation == _PARAMETER]


def may_write(model: str) -> bool:
    """False only where no statement of the graph can change a tensor that it did not make: the names of PyTorch's in-place
    operations end with an underscore, and `inplace` and `training` arguments are True somewhere."""
    for node in ast.walk(_tree(model)):
        if isinstance(node, ast.AugAssign):
            return True
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Subscript) for target in node.targets):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            if name.endswith("_") or any(keyword.arg == "out" for keyword in node.keywords):
                return True
            if any(isinstance(value, ast.Constant) and value.value is True for value in arguments):
                return True
    return False


def is_random(model: str) -> bool:
    """Whether the graph draws random numbers, so that two runs agree only from the same seed."""
    for node in ast.walk(_tree(model)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            training = any(isinstance(value, ast.Constant) and value.value is True for value in arguments)
            if node.func.attr.rstrip("_") in _RANDOM or ("dropout" in node.func.attr and training):
                return True
    return False
