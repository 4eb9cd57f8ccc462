"""Integer division in lanes against NumPy: every width, and quotients that floats cannot hold."""

from __future__ import annotations

import numpy as np
import pytest
import quern

SOURCE = """
elementwise quotient[T: Int](a: T, b: T) -> T:
    return a // b

elementwise rest[T: Int](a: T, b: T) -> T:
    return a % b

rowwise by_each[T: Int](x: T[N], divisors: T[R]) -> (T[R, N], T[R, N]):
    return (x // divisors, x % divisors)

rowwise by_number(x: i64[N], d: int) -> (i64[N], i64[N]):
    return (x // d, x % d)
"""

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


def around(dtype: str) -> np.ndarray:
    """Numbers around every power of two, and the ends of the type."""
    info = np.iinfo(dtype)
    found = {0, 1, 2, 3, 7, 10, info.max, info.max - 1, info.min, info.min + 1}
    for power in range(info.bits):
        found |= {sign * (1 << power) + step for sign in (1, -1) for step in (-1, 0, 1)}
    return np.array([x for x in sorted(found) if info.min <= x <= info.max], dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_all_pairs(kernels: quern.Module, dtype: str) -> None:
    numbers = around(dtype)
    divisors = numbers[numbers != 0]
    a, b = (x.reshape(-1).copy() for x in np.meshgrid(numbers, divisors, indexing="ij"))
    with np.errstate(over="ignore"):
        wanted, rest = np.floor_divide(a, b), np.mod(a, b)
    np.testing.assert_array_equal(kernels.quotient(a, b), wanted)
    np.testing.assert_array_equal(kernels.rest(a, b), rest)


@pytest.mark.parametrize("divisor", [1, -1, 3, 56, 1000003, 1 << 40, -(1 << 51), (1 << 62) + 1])
def test_one_divisor(kernels: quern.Module, divisor: int) -> None:
    rng = np.random.default_rng(5)
    for bits in (8, 31, 50, 51, 52, 53, 63):
        x = rng.integers(-(1 << bits), (1 << bits) - 1, 1001)
        quotient, rest = kernels.by_number(x, divisor)
        np.testing.assert_array_equal(quotient, x // divisor)
        np.testing.assert_array_equal(rest, x % divisor)


@pytest.mark.parametrize("dtype", TYPES)
def test_a_divisor_for_each_row(kernels: quern.Module, dtype: str) -> None:
    """Lanes share a divisor, so its reciprocal is multiplied."""
    numbers = around(dtype)
    near = [n * d + step for n in numbers[::3].tolist() for d in (3, 5, 7, 100) for step in (-1, 0)]
    info = np.iinfo(dtype)
    dividends = np.unique(np.array([x for x in near if info.min <= x <= info.max], dtype))
    dividends, divisors = np.concatenate([numbers, dividends]), numbers[numbers != 0]
    quotient, rest = kernels.by_each(dividends, divisors)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(quotient, np.floor_divide(dividends, divisors[:, None]))
        np.testing.assert_array_equal(rest, np.mod(dividends, divisors[:, None]))
