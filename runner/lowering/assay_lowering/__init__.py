"""Lowers a torch graph (the canonical model.py of Assay) to StableHLO text: torch.export, then torchax, then jax.export.

It runs in a process of its own, beside the PJRT runner, because its packages (torch, jax) are heavy and may not share a
process with a PJRT plug-in. `python -m assay_lowering` speaks the small protocol of __main__.py.
"""
