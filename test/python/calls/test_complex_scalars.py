"""Numbers of the host where a parameter's type is complex."""

from __future__ import annotations

import numpy as np
import pytest
import quern

TEXT = """
elementwise scaled[T: Complex](x: T, factor: T = 1) -> T:
    return x * x if factor == T(3) else x * factor

rowwise turned[T: Complex](x: T[N], n: int, z: T, m: int) -> T[N]:
    return x * z + T(n * 10 + m)

op twice[T: Complex](x: T[N], z: T) -> T[N]:
    return turned(x, 1, (z * 2 + 1) / z - z, 2)

op made(x: c128[N], re: f64, im: f64) -> c128[N]:
    return turned(x, 0, -complex(re, im), 0)

op read[T: Complex](x: T[N], z: T[]) -> T[N]:
    return turned(x, 0, host(z) + 1, 0)

elementwise product(x: f32, y: f32) -> f32:
    return x * y

rowwise shifted(x: f32[N], n: int, y: f32) -> f32[N]:
    return x * f32(n) + y
"""

TYPES = (np.complex64, np.complex128)


def values(dtype: type) -> np.ndarray:
    return np.array([1 + 2j, -0.5j, 3], dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_number_for_a_complex_parameter(dtype: type) -> None:
    k = quern.compile(TEXT)
    x = values(dtype)
    np.testing.assert_array_equal(k.scaled(x), x)
    np.testing.assert_array_equal(k.scaled(x, 2.5), x * dtype(2.5))
    np.testing.assert_allclose(k.scaled(x, 3), x * x)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("z", [1.5 - 2.25j, 1j, 1, -0.5, np.complex64(2 + 1j)])
def test_complex_number(dtype: type, z: complex) -> None:
    k = quern.compile(TEXT)
    x, near = values(dtype), {"rtol": 1e-6}
    own = z if isinstance(z, np.generic) else dtype(z)
    if own.dtype == dtype:
        np.testing.assert_allclose(k.scaled(x, z), x * z, **near)
    for n, m in ((1, 1), (3, 1), (1, 4)):
        np.testing.assert_allclose(k.turned(x, n, z, m), x * z + n * 10 + m, **near)
    np.testing.assert_allclose(k.twice(x, z), x * ((z * 2 + 1) / z - z) + 12, **near)


def test_number_made_by_an_op() -> None:
    x = values(np.complex128)
    np.testing.assert_allclose(quern.compile(TEXT).made(x, 1.5, -2.0), x * (-1.5 + 2j))


@pytest.mark.parametrize("dtype", TYPES)
def test_number_read_from_a_tensor(dtype: type) -> None:
    k, x = quern.compile(TEXT), values(dtype)
    for z in (2 - 1j, 2 + 3j, -1.5):
        np.testing.assert_allclose(k.read(x, np.array(z, dtype)), x * (z + 1), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "arguments"), [("product", (1j,)), ("shifted", (2, 1j)), ("shifted", (2j, 1.0))]
)
def test_complex_number_for_a_real_parameter(name: str, arguments: tuple[complex, ...]) -> None:
    k = quern.compile(TEXT)
    with pytest.raises(quern.Error, match=r"QN2006.*not a complex number"):
        getattr(k, name)(np.ones(3, np.float32), *arguments)
