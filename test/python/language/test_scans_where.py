"""Scans that leave elements out, against NumPy."""

from __future__ import annotations

import numpy as np
import quern

TEXT = """
from reductions use sum

rowwise rows(x: f32[R, C]) -> (f32[R, C], f32[R, C], f32[R, C]):
    let upto = scan(sum, x over C where x > 0)
    let back = scan(sum, x over C where x > 0, exclusive, reverse)
    let near = scan(sum, x.at(C = index(C) + 1) over C where index(C) + 1 < size(C))
    return upto, back, near

rowwise inside(x: f32[R, C], k: int) -> f32[R, C]:
    return sum(scan(sum, x * f32(i + 1) over C where x > 0) over i: 0 .. k)

kernel threads(x: f32[N], y: mut f32[N]):
    launch grid(1) block(N)
    let v = x[thread.x]
    y[thread.x] = scan(sum, v over block where v > 0)
"""


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-9, 10, shape).astype(np.float32)


def test_elements_are_left_out() -> None:
    module = quern.compile(TEXT, "scans.qn")
    for columns in (1, 7, 33, 1000):
        x = values(3, columns)
        kept = np.where(x > 0, x, 0)
        upto, back, near = (np.asarray(result) for result in module.rows(x))
        np.testing.assert_array_equal(upto, kept.cumsum(1))
        np.testing.assert_array_equal(back[:, ::-1], kept[:, ::-1].cumsum(1) - kept[:, ::-1])
        beside = np.pad(x[:, 1:], ((0, 0), (0, 1)))
        np.testing.assert_array_equal(near, beside.cumsum(1))


def test_inside_of_other_loops_and_over_threads() -> None:
    module = quern.compile(TEXT, "scans.qn")
    x = values(4, 50)
    kept = np.where(x > 0, x, 0).cumsum(1)
    np.testing.assert_array_equal(np.asarray(module.inside(x, 3)), 6 * kept)
    y = np.zeros(50, np.float32)
    module.threads(x[0].copy(), y)
    np.testing.assert_array_equal(y, kept[0])
