"""Starts a runner and speaks the runner protocol with it: what the tests of this folder need of a worker."""

import array
import fcntl
import json
import os
import socket
import struct
import subprocess

ALIGNMENT = 64
DTYPES = {
  "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "float16": "F16",
  "bfloat16": "BF16", "float32": "F32", "float64": "F64", "complex64": "C64", "complex128": "C128",
}  # fmt: skip


class RunnerError(Exception):
  def __init__(self, error):
    super().__init__(f"{error['class']}: {error['message']}")
    self.error_class = error["class"]


def sealed_file(data):
  """A memory file that nobody can write or shrink any more."""
  fd = os.memfd_create("tensors", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
  view = memoryview(data)
  while view:
    view = view[os.write(fd, view) :]
  seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
  fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
  return fd


def tensor_file(tensors):
  """Tensors, as {name: (dtype, shape, bytes)}, in safetensors format, each at a multiple of 64 bytes."""
  header, body = {}, bytearray()
  for name, (dtype, shape, data) in tensors.items():
    if padding := -len(body) % ALIGNMENT:
      header[f"__pad__{len(header)}"] = _entry("U8", [padding], len(body), padding)
      body += bytes(padding)
    header[name] = _entry(DTYPES[dtype], list(shape), len(body), len(data))
    body += data
  text = json.dumps(header).encode()
  text += b" " * (-(len(text) + 8) % ALIGNMENT)
  return struct.pack("<Q", len(text)) + text + bytes(body)


def _entry(dtype, shape, start, size):
  return {"dtype": dtype, "shape": shape, "data_offsets": [start, start + size]}


def read_tensor_file(data):
  """The tensors of a file, as tensor_file() takes them."""
  (size,) = struct.unpack_from("<Q", data)
  names = {value: key for key, value in DTYPES.items()}
  tensors = {}
  for name, entry in json.loads(data[8 : 8 + size]).items():
    if name.startswith("__pad__") or name == "__metadata__":
      continue
    start, end = entry["data_offsets"]
    tensors[name] = (names[entry["dtype"]], entry["shape"], data[8 + size + start : 8 + size + end])
  return tensors


class Runner:
  def __init__(self, command, **popen):
    requests, self._requests = socket.socketpair()
    self._replies, replies = socket.socketpair()
    # The child's own descriptors must be 3 and 4; from high ones neither can overwrite the other.
    high = [fcntl.fcntl(one.fileno(), fcntl.F_DUPFD_CLOEXEC, 64) for one in (requests, replies)]
    move = ["bash", "-c", f'exec 3<&{high[0]} 4>&{high[1]} {high[0]}<&- {high[1]}>&-; exec "$0" "$@"']
    self.process = subprocess.Popen([*move, *map(str, command)], pass_fds=high, stdin=subprocess.DEVNULL, **popen)
    for fd in high:
      os.close(fd)
    requests.close()
    replies.close()
    self._lines = self._replies.makefile("rb")
    self._next = 1

  def __enter__(self):
    return self

  def __exit__(self, *_):
    self._requests.close()
    self._lines.close()
    self._replies.close()
    # As a worker does: the end of its requests, then SIGKILL. A plug-in's handler of SIGTERM may hang.
    try:
      self.process.wait(timeout=10)
    except subprocess.TimeoutExpired:
      self.process.kill()
      self.process.wait()

  def call(self, method, params=None, **fds):
    """The result of a request. `fds` stay the caller's."""
    message = {"id": self._next, "method": method, "params": params or {}}
    if fds:
      message["fds"] = list(fds)
    self._next += 1
    line = json.dumps(message).encode() + b"\n"
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds.values()))] if fds else []
    sent = self._requests.sendmsg([line], ancillary)
    self._requests.sendall(line[sent:])
    reply = self._lines.readline()
    if not reply:
      raise EOFError(f"the runner ended with {self.process.wait()}")
    reply = json.loads(reply)
    assert reply["id"] == message["id"]
    if "error" in reply:
      raise RunnerError(reply["error"])
    return reply["result"]

  def call_for_file(self, method, params, name):
    """The result of a request that fills a file, and the file's bytes."""
    fd = os.memfd_create(name)
    try:
      result = self.call(method, params, **{name: fd})
      return result, os.pread(fd, os.fstat(fd).st_size, 0)
    finally:
      os.close(fd)

  def load(self, model, tensors, device="cpu", threads=1):
    return self._send_tensors("load", {"graph": {"hash": "", "model": model}, "device": device, "threads": threads}, tensors)

  def add_inputs(self, name, tensors):
    return self._send_tensors("inputs", {"set": name}, tensors)

  def _send_tensors(self, method, params, tensors):
    fd = sealed_file(tensors if isinstance(tensors, bytes) else tensor_file(tensors))
    try:
      return self.call(method, params, tensors=fd)
    finally:
      os.close(fd)
