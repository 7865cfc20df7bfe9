"""Serves one lowering: a JSON request on standard input, a JSON reply on standard output. What libraries print goes to
standard error.

    → {"model": "…", "platform": "cpu", "parameters": [{"name": "x", "dtype": "float32", "shape": [2, 3]},
                                                      {"name": "s", "dtype": "int64", "shape": [], "value": 4,
                                                       "number": true}]}
    ← {"stablehlo": "…", "arguments": [0], "constants": [1], "outputs": [{"dtype": "float32", "shape": [2]}]}
    ← {"error": {"message": "…", "operator": "aten.foo.default"}}

`value` is given for every tensor of one element. `number` marks a host number (torch.SymInt). `arguments` says which
parameter each argument of @main is, `constants` which parameters became part of the text by their value. With --version
it prints the lowering's version, with --hlo-text it turns a serialised HLO module on standard input into text.
"""

import argparse
import json
import os
import sys

from assay_lowering.version import lowering_version


def _private_output():
  """The reply's file; whatever else writes to standard output goes to standard error from here on."""
  reply = os.fdopen(os.dup(1), "wb")
  os.dup2(2, 1)
  return reply


def _serve(request):
  from assay_lowering.lower import Parameter, lower
  from assay_lowering.problem import LoweringError

  parameters = [
    Parameter(one["name"], one["dtype"], tuple(one["shape"]), one.get("value"), one.get("number", False))
    for one in request["parameters"]
  ]
  try:
    lowered = lower(request["model"], parameters, request.get("platform", "cpu"))
  except LoweringError as error:
    return {"error": {"message": str(error), "operator": error.operator}}
  return {
    "stablehlo": lowered.stablehlo,
    "arguments": lowered.arguments,
    "constants": lowered.constants,
    "outputs": [{"dtype": output.dtype, "shape": list(output.shape)} for output in lowered.outputs],
  }


def _hlo_text(module):
  from jax._src.lib import xla_client

  return xla_client.hlo.HloModule.from_serialized_hlo_module_proto(module).to_string()


def main():
  parser = argparse.ArgumentParser(prog="assay_lowering", description="Lowers a torch graph to StableHLO text.")
  parser.add_argument("--version", action="store_true", help="print the version of the lowering and end")
  parser.add_argument("--hlo-text", action="store_true", help="print a serialised HLO module as text")
  arguments = parser.parse_args()
  with _private_output() as reply:
    if arguments.version:
      reply.write(lowering_version().encode() + b"\n")
    elif arguments.hlo_text:
      reply.write(_hlo_text(sys.stdin.buffer.read()).encode())
    else:
      reply.write(json.dumps(_serve(json.load(sys.stdin.buffer))).encode())


if __name__ == "__main__":
  main()
