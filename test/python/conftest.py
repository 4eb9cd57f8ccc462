"""Every test draws the same numbers each time it runs, and eager computes as it always does."""

from __future__ import annotations

import pytest
import torch

#: What PyTorch takes from MKL. Where two threads make a process's first call of one of these, half
#: of the results may have errors of 1e-4 (one of 41 processes that called `torch.sin` alone).
BY_MKL = "acos asin atan cos cosh erf erfc erfinv exp expm1 log log10 log1p log2 sin sinh sqrt tan"
for name in [*BY_MKL.split(), "tanh", "trunc"]:
    for dtype in (torch.float32, torch.float64):
        getattr(torch, name)(torch.zeros(8, dtype=dtype))


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    torch.manual_seed(0)
