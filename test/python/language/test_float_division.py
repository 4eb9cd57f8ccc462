"""`fmod`, `%` and `//` on floats: exact for every pair of operands."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import quern

SOURCE = """
elementwise truncated[T: Float](x: T, y: T) -> T:
    return fmod(x, y)

elementwise floored[T: Float](x: T, y: T) -> T:
    return x % y

elementwise quotient[T: Float](x: T, y: T) -> T:
    return x // y
"""
TYPES = [(np.float32, np.uint32), (np.float64, np.uint64)]


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "division.qn")


def pairs(dtype: type, bits: type) -> tuple[np.ndarray, np.ndarray]:
    """Random bit patterns, every pair of edges, and quotients of usual size."""
    rng = np.random.default_rng(1)
    info = np.finfo(dtype)
    edges = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, info.max, info.tiny]
    edges += [info.smallest_subnormal, 3 * info.smallest_subnormal, -7.5, 2.25]
    e: np.ndarray = np.array(edges, dtype=dtype)
    a, b = rng.integers(0, np.iinfo(bits).max, (2, 20000), dtype=bits, endpoint=True).view(dtype)
    c, d = rng.normal(size=(2, 2000)) * np.array([[1000], [1]])
    x = np.concatenate([a, np.repeat(e, len(e)), c.astype(dtype)])
    return x, np.concatenate([b, np.tile(e, len(e)), d.astype(dtype)])


@pytest.mark.parametrize(("dtype", "bits"), TYPES)
def test_fmod(k: quern.Module, dtype: type, bits: type) -> None:
    x, y = pairs(dtype, bits)
    with np.errstate(all="ignore"):
        wanted = np.fmod(x, y)
    got = k.truncated(x, y)
    same = (got == wanted) & (np.signbit(got) == np.signbit(wanted))
    assert np.all(same | (np.isnan(got) & np.isnan(wanted)))


@pytest.mark.parametrize(("dtype", "bits"), TYPES)
def test_remainder_and_quotient(k: quern.Module, dtype: type, bits: type) -> None:
    x, y = pairs(dtype, bits)
    x, y = x[-2000:], y[-2000:]
    rest, quotient = k.floored(x, y), k.quotient(x, y)
    for a, b, r, q in zip(x, y, rest, quotient, strict=True):
        whole = Fraction(float(a)) // Fraction(float(b))
        assert q == dtype(int(whole))
        assert r == dtype(float(Fraction(float(a)) - whole * Fraction(float(b))))


def test_a_folded_quotient_is_rounded_step_by_step() -> None:
    text = """
const FOLDED: f32 = 1.0 / 68500804.25
const QUOTIENT: f32 = 1.0 // FOLDED

rowwise k(x: f32[A]) -> (f32[A], f32[A]):
    return x // FOLDED, x * QUOTIENT
"""
    one = np.ones(4, np.float32)
    computed, folded = quern.compile(text).k(one)
    assert np.array_equal(computed, one // (one / np.float32(68500804.25)))
    assert np.array_equal(folded, computed)
