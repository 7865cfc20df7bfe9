# SPDX-License-Identifier: Apache-2.0
"""Compiler options: closed schemas, and the check against them.

Every property is an enumeration, a boolean or a bounded integer. Nothing that names a file, a command or a flag string may be added:
`cpp.cxx`, for one, is a command that Inductor runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_runner.errors import BAD_REQUEST, UNSUPPORTED, RunnerError

EAGER: dict[str, object] = {"type": "object", "additionalProperties": False, "properties": {}}


def _boolean(text: str) -> dict[str, object]:
    return {"type": "boolean", "description": text}


def _integer(low: int, high: int, text: str) -> dict[str, object]:
    return {"type": "integer", "minimum": low, "maximum": high, "description": text}


def _one_of(values: list[object], text: str) -> dict[str, object]:
    return {"enum": values, "description": text}


# torch.compile's own arguments; every other property is a setting of torch._inductor.config of the same name.
COMPILE_ARGUMENTS = ("mode", "dynamic", "fullgraph")


def inductor(cuda: bool) -> dict[str, object]:
    """The schema of Inductor's options where the devices are these."""
    modes = ["default", "max-autotune"]
    if cuda:
        modes += ["reduce-overhead", "max-autotune-no-cudagraphs"]
    properties = {
        "mode": _one_of(modes, "torch.compile's mode"),
        "dynamic": _boolean("compile for any size (true) or for these sizes only (false)"),
        "fullgraph": _boolean("fail where the graph cannot be captured whole"),
        "freezing": _boolean("treat the weights as constants, fold them and lay them out for the kernels"),
        "epilogue_fusion": _boolean("fuse point-wise operations into the templates before them"),
        "aggressive_fusion": _boolean("fuse also nodes that share no reads"),
        "pattern_matcher": _boolean("rewrite known patterns, attention among them"),
        "coordinate_descent_tuning": _boolean("tune kernels by coordinate descent"),
        "layout_optimization": _boolean("lay convolutions out with channels last"),
        "loop_ordering_after_fusion": _boolean("choose the order of loops after fusion"),
        "shape_padding": _boolean("pad matrices to aligned sizes"),
        "split_reductions": _boolean("split large reductions"),
        "emulate_precision_casts": _boolean("round intermediate half-precision values as eager does"),
        "fallback_random": _boolean("use eager's random number generator"),
        "max_fusion_size": _integer(1, 1024, "nodes in one kernel at most"),
        "cpp.simdlen": _one_of([0, 128, 256, 512], "width of vectors in bits; 0 for none"),
        "cpp.min_chunk_size": _integer(1, 1 << 20, "elements that are worth a thread"),
        "cpp.max_horizontal_fusion_size": _integer(1, 1024, "nodes in one horizontal fusion at most"),
        "cpp.weight_prepack": _boolean("lay weights out for the kernels (with freezing)"),
        "cpp.enable_loop_tail_vec": _boolean("vectorise the tails of loops with masks"),
        "cpp.enable_unsafe_math_opt_flag": _boolean("let the C++ compiler reorder floating-point arithmetic"),
        "cpp.enable_floating_point_contract_flag": _one_of(["off", "on", "fast"], "contraction of multiply and add"),
    }
    return {"type": "object", "additionalProperties": False, "properties": properties}


# Of Inductor's options those that a package made ahead of time has no use for: what needs TorchDynamo, CUDA graphs or weights that are constants.
_NOT_AHEAD_OF_TIME = ("mode", "dynamic", "fullgraph", "freezing", "cpp.weight_prepack")


def inductor_aot(cuda: bool) -> dict[str, object]:
    """The schema of AOTInductor's options."""
    properties = {name: rule for name, rule in inductor(cuda)["properties"].items() if name not in _NOT_AHEAD_OF_TIME}
    mode = _one_of(["default", "max-autotune"], "as of torch.compile, without CUDA graphs")
    return {"type": "object", "additionalProperties": False, "properties": {"mode": mode} | properties}


def check(schema: Mapping[str, object], options: object) -> dict[str, object]:
    """`options` when they fit the schema; RunnerError says what does not."""
    if not isinstance(options, dict):
        raise RunnerError(BAD_REQUEST, "`options` is not an object")
    properties = schema["properties"]
    for name, value in options.items():
        rule = properties.get(name)
        if rule is None:
            known = ", ".join(properties) or "none"
            raise RunnerError(UNSUPPORTED, f"there is no option {name!r}; options are: {known}")
        if not _fits(rule, value):
            raise RunnerError(UNSUPPORTED, f"option {name!r} is {value!r}, but must be {_said(rule)}")
    return dict(options)


def _fits(rule: Mapping[str, object], value: object) -> bool:
    if "enum" in rule:
        return any(type(value) is type(allowed) and value == allowed for allowed in rule["enum"])
    if rule["type"] == "boolean":
        return isinstance(value, bool)
    return type(value) is int and rule["minimum"] <= value <= rule["maximum"]


def _said(rule: Mapping[str, object]) -> str:
    if "enum" in rule:
        return "one of " + ", ".join(repr(value) for value in rule["enum"])
    if rule["type"] == "boolean":
        return "true or false"
    return f"an integer from {rule['minimum']} to {rule['maximum']}"
