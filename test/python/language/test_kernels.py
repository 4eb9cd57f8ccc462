"""Explicit kernels of test/kernels against NumPy: odd sizes, several blocks."""

from __future__ import annotations

import numpy as np
import pytest
import quern
from thread_texts import KERNELS, MORE, TOGETHER, pick

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


@pytest.fixture(scope="module")
def together() -> quern.Module:
    return quern.compile(TOGETHER, "together.qn")


def test_threads_that_part_before_a_barrier(together):
    """QN2054, and no error where all agree."""
    y = np.zeros(64, "i4")
    together.divided(np.ones(64, "i4"), y)
    assert y.all()
    x = np.ones(64, "i4")
    x[37] = 0
    with pytest.raises(quern.Error, match="QN2054"):
        together.divided(x, y)


def test_too_many_threads(together):
    """QN2055 when running."""
    y = np.zeros(700, "i4")
    together.fill(y, 1000)
    assert y.all()
    with pytest.raises(quern.Error, match="QN2055"):
        together.fill(y, 4096)
    for side in (1 << 16, 1 << 32, 1 << 62):  # squares of some have no low bits
        with pytest.raises(quern.Error, match="QN2055"):
            together.square(y, side)


@pytest.mark.parametrize(("blocks", "threads"), [(-1, 32), (1, 0), (1, -4), (-2, 0)])
def test_launches_of_less_than_nothing(together, blocks, threads):
    """QN2056, where an empty grid is legal and does nothing."""
    y = np.zeros(64, "i4")
    with pytest.raises(quern.Error, match="QN2056"):
        together.shaped(y, blocks, threads)
    together.shaped(y, 0, 32)
    together.shaped(y, 0, 0)
    assert not y.any()
    together.shaped(y, 2, 32)
    assert y.all()


@pytest.mark.parametrize("bad", [-1, 10, 1 << 40])
def test_index_out_of_range(together, bad):
    x = np.arange(10, dtype="f4")
    i = np.arange(45) % 10
    y = np.zeros(45, "f4")
    together.gather(x, i, y)
    np.testing.assert_array_equal(y, x[i])
    i[33] = bad
    with pytest.raises(quern.Error, match=f"gather`: index {bad} .* axis `N` of extent 10"):
        together.gather(x, i, y)


@pytest.mark.parametrize("count", [1, 16, 23, 64, 100])
def test_warps(together, count, rng):
    x = rng.integers(0, 100, count).astype("i4")
    y = np.zeros((6, count), "i4")
    bits = np.zeros(count, "i8")
    together.lanes(x, y, bits)
    size = int(y[5, 0])
    for first in range(0, count, size):
        v = x[first : first + size]
        lane = np.arange(len(v))

        part = y[:, first : first + size]
        np.testing.assert_array_equal(part[0], pick(v, lane ^ 1))
        np.testing.assert_array_equal(part[1], pick(v, lane - 2))
        np.testing.assert_array_equal(part[2], pick(v, lane + 3))
        np.testing.assert_array_equal(part[3], pick(v, (lane * 5 + 1) % size))
        np.testing.assert_array_equal(part[4], int((v > 90).any()) + 2 * int((v > 5).all()))
        word = sum(1 << int(k) for k in lane if v[k] % 2 == 0)
        np.testing.assert_array_equal(bits[first : first + size], word)


def test_atomics(together, rng):
    x = rng.integers(-1000, 1000, 1000).astype("i4")
    y = np.zeros(8, "i4")
    y[3] = -1
    won = np.zeros(1000, "i4")
    together.atomics(x, y, won)
    wanted = [x.sum(), min(x.min(), 0), max(x.max(), 0), np.bitwise_and.reduce(x),
              np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x), 1, 16]  # fmt: skip
    np.testing.assert_array_equal(y, wanted)
    assert won.sum() == 1


@pytest.fixture(scope="module")
def more() -> quern.Module:
    return quern.compile(MORE, "more.qn")


def test_an_op_calls_a_kernel(more, rng):
    x = rng.standard_normal((37, 50))
    np.testing.assert_array_equal(more.transposed(x), x.T)


def test_views(more, rng):
    x = rng.standard_normal((40, 60))[::2, ::-3]
    out = np.zeros((20, 40)).T[::2]
    more.transpose(x, out)
    np.testing.assert_array_equal(out, x.T)


def test_provably_parted(more):
    with pytest.raises(quern.Error, match="part before a barrier"):
        more.parted(np.zeros(64, "i4"))


def test_lanes_leave_a_loop_one_by_one(more):
    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    x = np.arange(1, 151)
    out = np.zeros(150, "i4")
    more.collatz(x, out)
    np.testing.assert_array_equal(out, [steps(int(n)) for n in x])


def test_bounds_differ_between_lanes(more, rng):
    first = rng.integers(0, 50, 70)
    last = rng.integers(0, 50, 70)
    x = rng.standard_normal(50)
    y = np.zeros(70)
    more.ragged(first, last, x, y)
    np.testing.assert_allclose(y, [x[a:b:2].sum() for a, b in zip(first, last, strict=True)])


def test_own_arrays_outlive_a_barrier(more, rng):
    x = rng.standard_normal((45, 8)).astype("f4")
    y = np.zeros_like(x)
    more.own_arrays(x, y)
    np.testing.assert_array_equal(y, 2 * x[:, ::-1])


@pytest.mark.parametrize("count", [1, 7, 16, 50, 300])
def test_barriers_in_loops_and_branches(more, count, rng):
    x = rng.integers(0, 9, count).astype("i4")
    y = np.zeros(count, "i4")
    more.rounds(x, y)
    a, b = x.copy(), np.arange(count, dtype="i4")
    for k in range(3):
        s = a.copy()
        if k < 2:
            a, b = b, np.roll(s, -1)
        else:
            a = a + s[0]
    np.testing.assert_array_equal(y, a * 1000 + b)
