"""An integer that is not data becomes the float that a written cast gives."""

from __future__ import annotations

import numpy as np
import pytest
import quern
import torch

TEXT = """
rowwise averages[T: Float](x: T[*R, C]) -> T[*R]:
    return sum(x over C) / size(C)

rowwise written[T: Float](x: T[*R, C]) -> T[*R]:
    return sum(x over C) / acc(T)(size(C))

rowwise variances[T: Float](x: T[*R, C]) -> acc(T)[*R]:
    let n = size(C)
    let d = x - sum(x over C) / n
    return sum(d * d over C) / max(n - 1, 1)

rowwise ramp[T: Float](x: T[*R, C]) -> T[*R, C]:
    return x * (index(C) - size(C) // 2)

rowwise box[T: Float](x: T[*R, W], k: int) -> T[*R, W]:
    let first = index(W) - k // 2
    return sum(x.at(W = first + i, outside = 0) * (2 - abs(i - k // 2)) over i: 0 .. k) / k

elementwise decayed[T: Float, N: int](x: T, t: int) -> T:
    return x * pow(acc(T)(0.5), t) + N

kernel rows(x: f32[R, C], y: mut f32[R]):
    launch grid(R) block(1)
    var total = f32(0)
    for c in range(C):
        total += x[block.x, c]
    y[block.x] = total / C

fn share[N: int](x: f32) -> f32:
    return x / N

elementwise quarter(x: f32) -> f32:
    return share[4](x)
"""

TYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("element", TYPES)
def test_an_average_is_the_one_of_a_written_cast(element: torch.dtype) -> None:
    k = quern.compile(TEXT)
    # No f16 is 70000, and no bf16 257.
    for extent in (1, 3, 257, 70000):
        x = torch.ones(2, extent, dtype=element)
        got = k.averages(x)
        assert got.dtype == element
        assert torch.equal(got, torch.ones(2, dtype=element))
        assert torch.equal(got, k.written(x))


@pytest.mark.parametrize("element", [np.float32, np.float64])
def test_what_is_made_of_extents_alone_is_computed_as_integers(element: type) -> None:
    k = quern.compile(TEXT)
    x = np.random.default_rng(0).normal(size=(3, 9)).astype(element)
    np.testing.assert_allclose(k.variances(x), x.var(axis=1, ddof=1), rtol=1e-5)
    np.testing.assert_allclose(k.ramp(x), x * (np.arange(9) - 4), rtol=1e-6)
    padded = np.pad(x, ((0, 0), (1, 1)))
    weighed = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    np.testing.assert_allclose(k.box(x, 3), weighed / 3, rtol=1e-5, atol=1e-6)


def test_numbers_of_a_call_and_of_compile_time() -> None:
    k = quern.compile(TEXT)
    x = np.array([1.0, 2.0, -3.0], np.float32)
    np.testing.assert_array_equal(k.decayed(x, 3, N=5), x * 0.125 + 5)
    np.testing.assert_array_equal(k.quarter(x), x / 4)
    rows, averages = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros(3, np.float32)
    k.rows(rows, averages)
    np.testing.assert_array_equal(averages, rows.mean(axis=1))
