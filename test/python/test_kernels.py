"""Explicit kernels of test/kernels against NumPy: odd sizes, several blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import quern

KERNELS = Path(__file__).parents[1] / "kernels"
SIZES = [(1, 1), (5, 3), (33, 17), (64, 64), (100, 257)]


def kernel(family: str, name: str | None = None) -> quern.Kernel:
    """A kernel of a file in test/kernels."""
    return getattr(quern.load(KERNELS / f"{family}.qn"), name or family)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("tile", [8, 16, 32])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1", "?", "c8"])
def test_transpose(shape, tile, dtype, rng):
    src = (rng.standard_normal(shape) * 100).astype(dtype)
    out = np.zeros(shape[::-1], dtype)
    kernel("transpose")(src, out, TILE=tile)
    np.testing.assert_array_equal(out, src.T)


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 3, 7), (16, 32, 48), (33, 50, 65)])
@pytest.mark.parametrize("tile", [4, 8, 16, 32])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_matmul(shape, tile, dtype, rng):
    m, k, n = shape
    a = rng.standard_normal((m, k)).astype(dtype)
    b = rng.standard_normal((k, n)).astype(dtype)
    out = np.zeros((m, n), dtype)
    kernel("matmul")(a, b, out, TILE=tile)
    np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", [1, 31, 1000, 100003])
@pytest.mark.parametrize("threads", [32, 100, 256])
def test_histogram(count, threads, rng):
    x = rng.integers(0, 256, count).astype("i4")
    counts = np.zeros(256, "i4")
    kernel("histogram")(x, counts, THREADS=threads)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=256))


@pytest.mark.parametrize("count", [1, 255, 256, 1000])
@pytest.mark.parametrize("threads", [32, 100, 256])
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_block_scan(count, threads, dtype, rng):
    x = rng.integers(-9, 9, count).astype(dtype)
    blocks = -(-count // threads)
    out = np.zeros(count, dtype)
    totals = np.zeros(blocks, dtype)
    kernel("scan", "block_scan")(x, out, totals, THREADS=threads)
    padded = np.zeros(blocks * threads, dtype)
    padded[:count] = x
    sums = padded.reshape(blocks, threads).cumsum(axis=1)
    np.testing.assert_array_equal(out, sums.reshape(-1)[:count])
    np.testing.assert_array_equal(totals, sums[:, -1])


@pytest.mark.parametrize("count", [1, 100, 1024, 5000])
@pytest.mark.parametrize("threads", [64, 100, 256])
def test_radix_sort(count, threads, rng):
    keys = rng.integers(0, 2**32, count, dtype="u4")
    wanted = np.sort(keys)
    blocks = -(-count // threads)
    for shift in range(0, 32, 4):
        counts = np.zeros((16, blocks), "i4")
        kernel("radix", "radix_count")(keys, counts, shift, THREADS=threads)
        ends = counts.reshape(-1).cumsum(dtype="i4")
        starts = (ends - counts.reshape(-1)).reshape(16, blocks)
        out = np.zeros_like(keys)
        kernel("radix", "radix_scatter")(keys, starts, out, shift, THREADS=threads)
        keys = out
    np.testing.assert_array_equal(keys, wanted)


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("block", [(32, 8), (16, 16), (5, 3)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_stencil(shape, block, dtype, rng):
    src = rng.standard_normal(shape).astype(dtype)
    out = np.zeros_like(src)
    kernel("stencil")(src, out, 0.25, X=block[0], Y=block[1])
    wide = np.pad(src, 1)
    around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    np.testing.assert_allclose(out, src + 0.25 * around, rtol=1e-5, atol=1e-5)
