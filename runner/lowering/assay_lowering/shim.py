"""Imports torchax under a newer torch than it was written for.

torchax names operator overloads in tables while it is imported, and torch 2.13 no longer has some of them (the
`Dimname` ones). Such an entry can never match an operator of a graph, so a placeholder serves. Only during the import:
afterwards a missing overload is an error again.
"""

import contextlib

import torch


class _MissingOverload:
  """Stands for an operator overload that this torch does not have."""

  def __init__(self, name):
    self.name = name

  def __repr__(self):
    return f"<missing overload {self.name}>"


@contextlib.contextmanager
def _tolerate_missing_overloads():
  packet = torch._ops.OpOverloadPacket
  namespace = torch._ops._OpNamespace
  packet_getattr, namespace_getattr = packet.__getattr__, namespace.__getattr__

  def overload(self, key):
    try:
      return packet_getattr(self, key)
    except AttributeError:
      if key.startswith("__"):
        raise
      return _MissingOverload(f"{self}.{key}")

  def operator(self, key):
    try:
      return namespace_getattr(self, key)
    except AttributeError:
      if key.startswith("__"):
        raise
      return _MissingOverload(f"{self.name}.{key}")

  packet.__getattr__, namespace.__getattr__ = overload, operator
  try:
    yield
  finally:
    packet.__getattr__, namespace.__getattr__ = packet_getattr, namespace_getattr


def import_torchax():
  with _tolerate_missing_overloads():
    import torchax
    import torchax.export

    torchax.default_env()  # registers the operators
  return torchax
