#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the descriptions of GPUs that XLA's CUDA plug-in carries (GpuTargetConfigProto texts) into files.

    gpu_targets.py PLUGIN.so FOLDER

With such a text the plug-in compiles for a GPU that is not there: `--plugin-option target_config=@FOLDER/h100.txtpb`.
"""

import mmap
import pathlib
import sys

# What a file is called, by the description's own name of the GPU.
NAMES = {
  "Tesla V100-SXM2-16GB": "v100",
  "NVIDIA A100-SXM4-80GB": "a100",
  "NVIDIA H100 80GB HBM3": "h100",
  "NVIDIA H200 141GB HBM3e": "h200",
  "NVIDIA B200": "b200",
}


def texts(data):
  """The NUL-terminated texts in the plug-in that describe a GPU."""
  at = data.find(b"gpu_device_info {")
  while at >= 0:
    start, end = data.rfind(b"\0", 0, at) + 1, data.find(b"\0", at)
    yield data[start:end].decode("utf-8", "replace")
    at = data.find(b"gpu_device_info {", end)


def main(plugin, folder):
  folder = pathlib.Path(folder)
  folder.mkdir(parents=True, exist_ok=True)
  with open(plugin, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
    for text in texts(data):
      for name, label in NAMES.items():
        if f'device_description_str: "{name}"' in text:
          (folder / f"{label}.txtpb").write_text(text)
  found = sorted(path.stem for path in folder.glob("*.txtpb"))
  print("GPUs that can be compiled for: " + (", ".join(found) or "none: the plug-in's descriptions have other names"))
  return 0 if found else 1


if __name__ == "__main__":
  if len(sys.argv) != 3:
    sys.exit(__doc__)
  sys.exit(main(*sys.argv[1:]))
