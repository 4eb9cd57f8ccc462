"""An axis `(A B)` is as long as its parts multiply to, in numbers without an end."""

from __future__ import annotations

import numpy as np
import pytest
import quern
import torch
from numpy.lib.stride_tricks import as_strided

SOURCE = """
rowwise joined(a: u8[A], b: u8[B], x: f32[(A B)]) -> f32[A]:
    return sum(x over B)

rowwise triple(a: u8[A], b: u8[B], c: u8[C], x: f32[(A B C)]) -> f32[]:
    return sum(x over (A, B, C))

rowwise inner(a: u8[A], x: f32[(A B)]) -> f32[B]:
    return sum(x over A)

rowwise total(x: u8[*R, C]) -> i64[C]:
    return sum(i64(x) over *R)

elementwise plain(x: f32, y: f32) -> f32:
    return x + y
"""


@pytest.fixture(scope="module")
def k() -> object:
    return quern.compile(SOURCE)


def expanded(*sizes: int) -> np.ndarray:
    """One element in memory, seen as many."""
    return as_strided(np.ones(1, dtype=np.uint8), sizes, (0,) * len(sizes))


@pytest.mark.parametrize(
    ("first", "second", "wrapped"),
    [(2**61 + 1, 8, 8), (2**33, 2**31, 0), (2**32 + 1, 2**32, 2**32), (2**62, 4, 0)],
)
def test_product_that_wraps_is_refused(k: object, first: int, second: int, wrapped: int) -> None:
    """In 64 bits the product of the parts would be the tensor's extent."""
    assert first * second % 2**64 == wrapped
    if wrapped > 2**31:
        x = as_strided(np.ones(1, dtype=np.float32), (wrapped,), (0,))
    else:
        x = np.ones(wrapped, dtype=np.float32)
    with pytest.raises(quern.Error, match=r"`\(A B\)`.*overflows"):
        k.joined(expanded(first), expanded(second), x)


def test_torch_tensors_of_huge_extents_are_refused(k: object) -> None:
    a = torch.ones(1, dtype=torch.uint8).expand(2**61 + 1)
    b = torch.ones(8, dtype=torch.uint8)
    with pytest.raises(quern.Error, match="overflows"):
        k.joined(a, b, torch.ones(8))


def test_three_parts_are_refused(k: object) -> None:
    parts = expanded(2**22), expanded(2**22), expanded(2**20)
    with pytest.raises(quern.Error, match=r"`\(A B C\)`.*overflows"):
        k.triple(*parts, np.ones(0, np.float32))


def test_a_part_that_does_not_divide(k: object) -> None:
    with pytest.raises(quern.Error, match="QN2025"):
        k.inner(expanded(2**62), np.ones(4, np.float32))


def test_a_part_without_elements(k: object) -> None:
    """No element: whatever the other parts are, the product is zero."""
    a, x = np.ones(0, dtype=np.uint8), np.ones(0, dtype=np.float32)
    for count in (0, 3, 2**40):
        result = k.joined(a, expanded(count), x)
        assert result.shape == (0,)
    with pytest.raises(quern.Error, match="must be 0"):
        k.joined(a, expanded(3), np.ones(6, dtype=np.float32))
    with pytest.raises(quern.Error, match="QN2026"):
        k.inner(a, np.ones(4, dtype=np.float32))
    # Nothing says how long `B` is.
    with pytest.raises(quern.Error, match="QN2027"):
        k.inner(a, x)


def test_a_product_that_fits_is_taken(k: object) -> None:
    x = np.arange(12, dtype=np.float32)
    result = k.joined(np.ones(3, np.uint8), np.ones(4, np.uint8), x)
    np.testing.assert_array_equal(result, x.reshape(3, 4).sum(1))


def test_expanded_operands_of_many_elements(k: object) -> None:
    """Their counts fit 64 bits and no product of extents and strides wraps."""
    huge = as_strided(np.full(1, 7, dtype=np.uint8), (1, 2**40, 0, 3), (2**62, 0, 2**61, 1))
    np.testing.assert_array_equal(k.total(huge), np.zeros(3, dtype=np.int64))
    none = as_strided(np.ones(1, dtype=np.float32), (2**40, 0), (0, 2**62))
    assert k.plain(none, none).shape == (2**40, 0)
