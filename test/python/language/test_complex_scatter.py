"""Scatters of complex numbers against NumPy's loops over the places."""

from __future__ import annotations

import numpy as np
import pytest
import quern

SOURCE = """
reduction product[T: Complex]:
    state: T = 1
    step(s, x: T): s * x
    merge(a, b): a * b

rowwise added[T: Complex](into: T[R], i: i64[N], v: T[N]) -> T[R]:
    return scatter(into, at = (R = i), v, with = sum)

rowwise multiplied[T: Complex](into: T[R], i: i64[N], v: T[N]) -> T[R]:
    return scatter(into, at = (R = i), v, with = product)

rowwise last[T: Complex](into: T[R], i: i64[N], v: T[N], c: bool[N]) -> T[R]:
    return scatter(into, at = (R = i), v, with = last, when = c)

rowwise alone[T: Complex](into: T[R], i: i64[N], v: T[N]) -> T[R]:
    return scatter(into, at = (R = i), v, with = sum, include_self = false)

rowwise rows[T: Complex](into: T[R, C], i: i64[N], v: T[N, C]) -> T[R, C]:
    return scatter(into, at = (R = i), v, with = sum)

rowwise used[T: Complex](into: T[R], i: i64[N], v: T[N]) -> T[R]:
    let s = scatter(into, at = (R = i), v, with = sum)
    return s * s.at(R = size(R) - 1 - index(R))
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "complex.qn")


def drawn(dtype: str, *shape: int) -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)


PLACES = np.array([0, 4, 4, 2, 0, 4, 1])


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_one_axis(k: quern.Module, dtype: str) -> None:
    into, v = drawn(dtype, 6), drawn(dtype, 7)
    total = into.copy()
    np.add.at(total, PLACES, v)
    np.testing.assert_allclose(k.added(into, PLACES, v), total, rtol=1e-5)
    np.testing.assert_allclose(k.used(into, PLACES, v), total * total[::-1], rtol=1e-5)
    product, alone, last = into.copy(), into.copy(), into.copy()
    alone[np.unique(PLACES)] = 0
    chosen = np.arange(7) % 3 != 2
    for place, value, takes in zip(PLACES, v, chosen, strict=True):
        product[place] *= value
        alone[place] += value
        last[place] = value if takes else last[place]
    np.testing.assert_allclose(k.multiplied(into, PLACES, v), product, rtol=1e-5)
    np.testing.assert_allclose(k.alone(into, PLACES, v), alone, rtol=1e-5)
    np.testing.assert_array_equal(k.last(into, PLACES, v, chosen), last)


@pytest.mark.parametrize("columns", [1, 5, 64])
def test_rows(k: quern.Module, columns: int) -> None:
    into, v = drawn("c8", 6, columns), drawn("c8", 7, columns)
    total = into.copy()
    np.add.at(total, PLACES, v)
    np.testing.assert_allclose(k.rows(into, PLACES, v), total, rtol=1e-4, atol=1e-5)


def test_bad_place(k: quern.Module) -> None:
    with pytest.raises(quern.Error, match="QN2050"):
        k.added(drawn("c8", 3), PLACES, drawn("c8", 7))
