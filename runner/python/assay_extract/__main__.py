# SPDX-License-Identifier: Apache-2.0
"""assay extract: writes a GraphNet sample from a model of your own.

The file given defines a function that returns the module and its example inputs (a tuple, or a dict of keyword arguments):

    def make_model():
        return torchvision.models.resnet18().eval(), (torch.rand(1, 3, 224, 224),)

    assay extract my_models.py:make_model -o samples/resnet18
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence

import torch

from assay_extract.extract import ExtractError, extract


def load_function(spec: str) -> Callable[[], object]:
    """The function that FILE:FUNCTION names."""
    path, colon, function = spec.rpartition(":")
    if not colon or not path.endswith(".py") or not function.isidentifier():
        raise ExtractError(f"'{spec}' is not of the form FILE.py:FUNCTION")
    if not os.path.isfile(path):
        raise ExtractError(f"there is no file {path}")
    name = os.path.splitext(os.path.basename(path))[0]
    module_spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(module_spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.modules[name] = module
    module_spec.loader.exec_module(module)
    made = getattr(module, function, None)
    if not callable(made):
        raise ExtractError(f"{path} has no function {function}")
    return made


def make(spec: str, seed: int) -> tuple[torch.nn.Module, Sequence[object] | Mapping[str, object]]:
    function = load_function(spec)
    torch.manual_seed(seed)
    made = function()
    if not (isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], torch.nn.Module)):
        raise ExtractError(f"{spec} must return (module, inputs): a torch.nn.Module and its example inputs")
    module, inputs = made
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    if not isinstance(inputs, (tuple, list, Mapping)):
        raise ExtractError(f"{spec}: inputs must be a tuple or a dict of forward()'s arguments, not {type(inputs).__name__}")
    return module, inputs


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="assay extract", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", metavar="FILE.py:FUNCTION", help="returns (module, example inputs)")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder to write the sample to")
    parser.add_argument("--name", help="the name to write to graph_net.json; the module's class otherwise")
    parser.add_argument("--seed", type=int, default=0, help="for torch's generator, before FUNCTION is called (0)")
    parser.add_argument("--dynamic", action="store_true", help="capture sizes as symbols where TorchDynamo can")
    parser.add_argument("--fullgraph", action="store_true", help="fail where the model breaks into several graphs, and say where")
    parser.add_argument("--force", action="store_true", help="replace the samples that are in DIR already")
    options = parser.parse_args(arguments)
    try:
        module, inputs = make(options.model, options.seed)
        folders = extract(
            module,
            inputs,
            options.output,
            name=options.name,
            dynamic=options.dynamic,
            fullgraph=options.fullgraph,
            force=options.force,
        )
    except ExtractError as error:
        print(f"assay extract: {error}", file=sys.stderr)
        return 1
    if len(folders) > 1:
        print(f"assay extract: the model breaks into {len(folders)} graphs (--fullgraph says where)", file=sys.stderr)
    for folder in folders:
        print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
