"""Numbers of the host where a parameter's type is complex."""

from __future__ import annotations

import numpy as np
import quern

TEXT = """
elementwise scaled[T: Complex](x: T, factor: T = 1) -> T:
    return x * x if factor == T(3) else x * factor
"""


def test_number_for_a_complex_parameter() -> None:
    k = quern.compile(TEXT)
    for dtype in (np.complex64, np.complex128):
        x = np.array([1 + 2j, -0.5j, 3], dtype)
        np.testing.assert_array_equal(k.scaled(x), x)
        np.testing.assert_array_equal(k.scaled(x, 2.5), x * dtype(2.5))
        np.testing.assert_allclose(k.scaled(x, 3), x * x)
