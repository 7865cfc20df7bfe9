"""Why a graph cannot be lowered."""


class LoweringError(Exception):
  """The graph cannot be lowered; the message names the operator where there is one."""

  def __init__(self, message, operator=None):
    super().__init__(message)
    self.operator = operator
