"""Elements that are kept move together: counts and scans along scatters, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import quern
import torch
from aten_types import KERNELS

TEXT = """
from reductions use sum

rowwise squeezed(into: mut i64[*R, K], x: f32[*R, C]):
    let place = scan(sum, i64(x > 0) over C, exclusive)
    into = scatter(into, at = (K = place), index(C), with = last, when = x > 0)

rowwise across(into: mut f32[K, D], x: f32[C, D]):
    let place = scan(sum, i64(x.at(D = 0) > 0) over C, exclusive)
    into = scatter(into, at = (K = place), x, with = sum)

rowwise old(x: mut i64[C], keep: i64[C]):
    let place = scan(sum, x % 2 over C, exclusive)
    x = scatter(x, at = (C = place), keep, with = last)

rowwise kept(x: f32[*R, C], least: f32) -> i64[*R]:
    return count(x > least over C where x < 3)

elementwise bits(x: bool) -> u8:
    return bitcast[u8](x)

elementwise holds(x: u8) -> bool:
    return bitcast[bool](x)
"""

MODULE = quern.compile(TEXT, "squeezed.qn")
RANKS = quern.load(KERNELS / "ranks.qn")


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-5, 6, shape).astype(np.float32)


@pytest.mark.parametrize("columns", [1, 7, 16, 33, 1000])
def test_places_of_what_is_kept(columns: int) -> None:
    x = values(3, columns)
    into = np.full((3, columns), -1, np.int64)
    expected = into.copy()
    for row, of in zip(expected, x, strict=True):
        (places,) = np.nonzero(of > 0)
        row[: len(places)] = places
    MODULE.squeezed(into, x)
    np.testing.assert_array_equal(into, expected)


def test_a_scan_along_other_axes_than_the_innermost() -> None:
    x = values(40, 5)
    into = np.zeros((41, 5), np.float32)
    expected = into.copy()
    place = np.cumsum(x[:, 0] > 0) - (x[:, 0] > 0)
    np.add.at(expected, place, x)
    MODULE.across(into, x)
    np.testing.assert_array_equal(into, expected)


def test_a_scan_of_what_is_written() -> None:
    x = np.arange(50, dtype=np.int64) % 3
    keep = np.arange(100, 150, dtype=np.int64)
    expected = x.copy()
    expected[np.cumsum(x % 2) - x % 2] = keep
    MODULE.old(x, keep)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("columns", [0, 1, 15, 64, 1000])
def test_counts(columns: int) -> None:
    x = values(3, columns)
    expected = ((x > -2) & (x < 3)).sum(1)
    np.testing.assert_array_equal(MODULE.kept(x, -2.0), expected)
    np.testing.assert_array_equal(MODULE.kept(np.asfortranarray(x), -2.0), expected)


def test_bits_of_truth_values() -> None:
    x = np.array([True, False, True])
    np.testing.assert_array_equal(MODULE.bits(x), x.view(np.uint8))
    np.testing.assert_array_equal(MODULE.holds(x.view(np.uint8)), x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int64, torch.int8])
@pytest.mark.parametrize(("shape", "k"), [((7, 100), 5), ((3, 300), 70), ((1000,), 1), ((2, 9), 5)])
@pytest.mark.parametrize("largest", [True, False])
def test_largest_and_smallest(
    dtype: torch.dtype, shape: tuple[int, ...], k: int, largest: bool
) -> None:
    """Equal values in the order of their places, NaN as the largest."""
    x = (torch.randn(shape) * 3).to(dtype)
    if dtype.is_floating_point:
        x.view(-1)[::7] = float("nan")
    values, places = torch.sort(x, dim=-1, descending=largest, stable=True)
    name = "topk" if largest else "topk_smallest"
    found = getattr(RANKS, name)(x, k)
    torch.testing.assert_close(found[1], places[..., :k])
    torch.testing.assert_close(found[0], values[..., :k], equal_nan=True)
