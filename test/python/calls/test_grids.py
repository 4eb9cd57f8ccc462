"""Grids of more blocks than can be counted."""

from __future__ import annotations

import numpy as np
import pytest
import quern

TEXT = """
kernel cube(y: mut i32[N], a: int, b: int, c: int):
    launch grid(a, b, c) block(1)
    y[0] = 1
"""


@pytest.mark.parametrize(
    "grid", [(1 << 32, 1 << 32, 1), (1 << 31, 1 << 31, 3), (3, 1 << 62, 1), (1 << 62,) * 3]
)
def test_grids_beyond_counting(grid: tuple[int, int, int]) -> None:
    """QN2059, also where the product's low bits are zeros or few."""
    cube = quern.compile(TEXT).cube
    y = np.zeros(4, "i4")
    with pytest.raises(quern.Error, match="QN2059"):
        cube(y, *grid)
    cube(y, 1 << 62, 0, 1 << 62)
    assert not y.any()
    with pytest.raises(quern.Error, match="QN2056"):
        cube(y, 1 << 62, -(1 << 62), 1 << 62)
