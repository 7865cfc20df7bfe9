# SPDX-License-Identifier: Apache-2.0
"""Assay's Python runner: eager PyTorch and Inductor behind the runner protocol (runner/protocol.md).

    python -m assay_runner                    serves descriptors 3 and 4, a forked child a trial
    python -m assay_runner --no-fork          serves one trial on descriptors 3 and 4 itself
    python -m assay_runner --warm DIR         fills DIR with the parts of the C++ tool chain that every compilation shares
    python -m assay_runner --toolchain DIR    serves, using DIR

It is given only Assay's re-print of a graph, never what a user submitted.
"""

__version__ = "0.1.0"
PROTOCOL = 1
