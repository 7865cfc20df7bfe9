"""The version of the lowering: what a lowered text depends on beside the graph. It is asked for before every look into a
cache, so nothing heavy is imported for it."""

from importlib import metadata

# Changes whenever this package may lower the same graph to another text.
LOWERING_VERSION = "assay-lowering-2"


def lowering_version():
  packages = [f"{name} {metadata.version(name)}" for name in ("torch", "torchax", "jax", "jaxlib")]
  return " ".join([LOWERING_VERSION, *packages])
