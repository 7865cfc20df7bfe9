# SPDX-License-Identifier: Apache-2.0
"""Writes GraphNet samples from any `torch.nn.Module` and example inputs.

    from assay_extract import extract
    extract(module, (x, y), "samples/mine")

A sample is a folder of model.py, weight_meta.py, input_meta.py and graph_net.json. A module that TorchDynamo captures as
several graphs (a graph break) gives several samples, DIR/subgraph_0, DIR/subgraph_1, ….
"""

from assay_extract.extract import ExtractError, extract

__all__ = ["ExtractError", "extract"]
