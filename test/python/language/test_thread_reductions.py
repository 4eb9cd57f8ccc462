"""Reductions and scans over the threads of a block or a warp against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import quern
from thread_texts import SUMS


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SUMS, "together.qn")


@pytest.mark.parametrize("count", [1, 15, 16, 37, 200])
def test_totals(k, count):
    x = np.random.default_rng(5).standard_normal(count)
    x[0] = -1
    y = np.zeros((4, count))
    size = np.zeros(count, "i8")
    k.totals(x, y, size)
    np.testing.assert_allclose(y[0], x.sum())
    np.testing.assert_array_equal(y[1], x[x < 0.5].max())
    for first in range(0, count, size[0]):
        part = slice(first, first + size[0])
        np.testing.assert_allclose(y[2, part], x[part].sum())
    np.testing.assert_allclose(y[3], x - x.mean())


@pytest.mark.parametrize("shape", [(4, 24), (3, 5), (2, 32), (1, 1)])
def test_scans(k, shape):
    x = np.random.default_rng(6).integers(-50, 50, shape)
    y = np.zeros((5, *shape), "i8")
    k.scans(x, y, X=shape[1], Y=shape[0])
    flat, rows = x.reshape(-1), y.reshape(5, -1)
    sums = flat.cumsum()
    np.testing.assert_array_equal(rows[0], sums)
    np.testing.assert_array_equal(rows[1], sums - flat)
    np.testing.assert_array_equal(rows[2], np.maximum.accumulate(flat[::-1])[::-1])
    np.testing.assert_array_equal(rows[3], flat[::-1].cumsum()[::-1] - flat)


@pytest.mark.parametrize("shape", [(4, 24), (3, 5), (2, 32), (1, 1)])
def test_places(k, shape):
    """Values repeat, so that the first place counts."""
    x = np.random.default_rng(8).integers(-3, 3, shape)
    best, seen = np.zeros((3, *shape), "i8"), np.zeros((2, *shape), "i8")
    k.places(x, best, seen, X=shape[1], Y=shape[0])
    flat = x.reshape(-1)
    assert (best[0] == flat.argmax()).all()
    assert (best[1] == flat.argmin()).all()
    largest = np.maximum.accumulate(flat)
    np.testing.assert_array_equal(seen[0].reshape(-1), largest)
    first = [int(flat[: n + 1].argmax()) for n in range(flat.size)]
    np.testing.assert_array_equal(seen[1].reshape(-1), first)
    warp, width = best[2].reshape(-1), np.zeros(1, "i8")
    k.totals(np.zeros(1), np.zeros((4, 1)), width)
    for start in range(0, flat.size, width[0]):
        part = slice(start, start + width[0])
        assert (warp[part] == flat[part].argmax()).all()


@pytest.mark.parametrize("count", [1, 128, 1000])
def test_one_total_a_block(k, count):
    x = np.random.default_rng(7).integers(-9, 9, count).astype("i4")
    y = np.zeros(-(-count // 128), "i4")
    k.blocks(x, y)
    padded = np.zeros(len(y) * 128, "i4")
    padded[:count] = x
    np.testing.assert_array_equal(y, padded.reshape(-1, 128).sum(axis=1))
