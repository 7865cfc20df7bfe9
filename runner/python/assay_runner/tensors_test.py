# SPDX-License-Identifier: Apache-2.0
import json
import os

import pytest
import safetensors
import safetensors.torch
import torch

from assay_runner import tensors
from assay_runner.conftest import empty_file, memory_file, read_outputs


def written(header: dict | bytes, data: bytes):
    file = empty_file()
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    os.pwrite(file.fileno(), len(text).to_bytes(8, "little") + text + data, 0)
    return file


def test_every_dtype_comes_back_and_lies_at_64_bytes():
    values = [torch.tensor([0, 1, 2]).to(dtype) for dtype in tensors._DTYPES.values()]
    values += [torch.tensor(7), torch.empty(0, 4), torch.arange(6.0).reshape(2, 3).t()]
    with empty_file() as file:
        size = tensors.write_tensors(file.fileno(), values)
        assert size == sum(value.numel() * value.element_size() for value in values)
        assert all(entry.offset % 64 == 0 for entry in tensors.read_header(file.fileno()).values() if entry.bytes)
        for got, wanted in zip(read_outputs(file.fileno()), values, strict=True):
            assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
            assert torch.equal(got.reshape(-1).view(torch.uint8), wanted.contiguous().reshape(-1).view(torch.uint8))


def test_a_quantised_output_is_written_dequantised():
    values = torch.tensor([0.0, 0.26, -1.0])
    with empty_file() as file:
        tensors.write_tensors(file.fileno(), [torch.quantize_per_tensor(values, 0.25, 10, torch.quint8)])
        (got,) = read_outputs(file.fileno())
    assert got.dtype == torch.float32 and got.tolist() == [0, 0.25, -1]


def test_the_format_is_what_the_public_library_reads():
    values = {"a": torch.randn(5, 3), "b": torch.arange(3)}
    with memory_file(values) as file:
        read = safetensors.torch.load(os.pread(file.fileno(), 1 << 20, 0))
    assert all(torch.equal(read[name], value) for name, value in values.items())
    assert set(read) - set(values) == {name for name in read if name.startswith("__pad__")}


def test_writes_stay_in_this_process():
    with memory_file({"a": torch.ones(100)}) as file:
        before = os.pread(file.fileno(), 4096, 0)
        mapped = tensors.map_tensors(file.fileno())["a"]
        assert mapped.data_ptr() % 64 == 0
        mapped.zero_()
        assert os.pread(file.fileno(), 4096, 0) == before
        assert tensors.map_tensors(file.fileno())["a"].sum() == 100


@pytest.mark.parametrize(
    "header, data, words",
    [
        (b"{", b"", "damaged"),
        (b"[1]", b"", "damaged"),
        ({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}, b"", "outside the file"),
        ({"a": {"dtype": "F32", "shape": [4], "data_offsets": [-16, 0]}}, b"0" * 16, "outside the file"),
        ({"a": {"dtype": "F32", "shape": [5], "data_offsets": [0, 16]}}, b"0" * 16, "does not have 16 bytes"),
        ({"a": {"dtype": "F99", "shape": [4], "data_offsets": [0, 16]}}, b"0" * 16, "unknown dtype F99"),
        ({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}, b"0" * 16, "multiple of 64"),
    ],
)
def test_a_bad_file_is_refused(header, data, words):
    with written(header, data) as file, pytest.raises(tensors.TensorFileError, match=words):
        tensors.map_tensors(file.fileno())


def test_a_header_longer_than_the_file_is_refused():
    with empty_file() as file:
        os.pwrite(file.fileno(), (1 << 40).to_bytes(8, "little"), 0)
        with pytest.raises(tensors.TensorFileError, match="no safetensors header"):
            tensors.map_tensors(file.fileno())


def test_numbers_become_tensors():
    assert tensors.as_tensor(True, 0).dtype == torch.bool
    assert tensors.as_tensor(3, 0).dtype == torch.int64
    assert tensors.as_tensor(0.5, 0).dtype == torch.float64
    with pytest.raises(tensors.TensorFileError, match="output 2 is a str"):
        tensors.as_tensor("text", 2)
