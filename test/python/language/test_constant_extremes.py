"""The larger and the smaller of a number and a constant: NaN stays, and -0 is below 0."""

from __future__ import annotations

import numpy as np
import pytest
import quern
import torch

CONSTANTS = ["0.0", "-0.0", "1.5", "-1.5", "inf", "-inf"]
SPECIAL = [0.0, -0.0, 1.5, -1.5, float("inf"), -float("inf"), float("nan"), 1e-40, -1e-40, 3.0]


def between(x: np.ndarray, constant: float, larger: bool) -> np.ndarray:
    """By the order of the numbers, then by the sign of zero."""
    first = x > constant if larger else x < constant
    same = (x == constant) & (np.signbit(x) != larger)
    return np.where(np.isnan(x) | first | same, x, x.dtype.type(constant))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize("constant", CONSTANTS)
def test_beside_a_constant(constant: str, dtype: torch.dtype) -> None:
    module = quern.compile(f"""
elementwise larger[T: Float](x: T) -> T:
    return max(x, {constant})

elementwise smaller[T: Float](x: T) -> T:
    return min({constant}, x)
""")
    x = torch.tensor(SPECIAL * 7, dtype=dtype)
    for name in ("larger", "smaller"):
        got = getattr(module, name)(x).numpy()
        wanted = between(x.numpy(), float(constant), name == "larger")
        assert np.array_equal(got, wanted, equal_nan=True)
        assert np.array_equal(np.signbit(got), np.signbit(wanted))
