"""Constants, annotations and choices, run and compared with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import quern
import torch

SOURCE = """
const WEIGHTS: f32[3] = [share(1), share(2), share(3)]
const CHUNK: int = ceildiv(17, 6)

fn share(n: int) -> f32:
    var total: f32 = 0
    for i in range(n):
        total += 0.25
    return total

reduction farthest[T: Float]:
    state: (value: acc(T) = 0, at: i64 = -1)
    step(s, x: T, i: index): (abs(acc(T)(x)), i) if abs(acc(T)(x)) > s.value else (s.value, s.at)
    merge(a, b): a if a.value >= b.value else b

rowwise far(x: f32[*R, C]) -> (f32[*R], i64[*R]):
    return farthest(x over C)

rowwise chosen[MASK: bool[2]](x: f32[R, C]) -> (f32[R, C]?, f32[R]?):
    return x * 2 if const MASK[0] else none, sum(x over C) if const MASK[1] else none

rowwise weighted(x: f32[R, C], w: f32[C]?) -> f32[R, C]:
    let y: f32[R, C] = x * WEIGHTS[2]
    return y + (w * w if const present(w) else x)

rowwise blocks(x: f32[H]) -> f32[P = parts(size(H))]:
    return max(x.at(H = P * CHUNK + i, outside = -inf) over i: 0 .. CHUNK)

fn parts(extent: int) -> int:
    return ceildiv(extent, CHUNK)
"""


@pytest.fixture(scope="module")
def kernels() -> Any:
    return quern.compile(SOURCE, "choices.qn")


def test_a_choice_between_tuples(kernels: Any) -> None:
    x = torch.randn(5, 37)
    value, at = kernels.far(x)
    torch.testing.assert_close(value, x.abs().amax(1), rtol=0, atol=0)
    torch.testing.assert_close(at, x.abs().argmax(1), rtol=0, atol=0)


@pytest.mark.parametrize("mask", ["11", "10", "01"])
def test_results_under_a_mask(kernels: Any, mask: str) -> None:
    x = torch.randn(4, 9)
    results = kernels.chosen(x, MASK=mask)
    given = list(results) if isinstance(results, (tuple, list)) else [results]
    given = [one for one in given if one is not None]
    expected = [x * 2] * int(mask[0]) + [x.sum(1)] * int(mask[1])
    assert len(given) == len(expected)
    for one, other in zip(given, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_absent_and_present(kernels: Any) -> None:
    x, w = torch.randn(3, 8), torch.randn(8)
    torch.testing.assert_close(kernels.weighted(x, w), x * 0.75 + w * w)
    torch.testing.assert_close(kernels.weighted(x, None), x * 0.75 + x)


@pytest.mark.parametrize("extent", [1, 3, 4, 17])
def test_extents_by_functions_below(kernels: Any, extent: int) -> None:
    x = torch.randn(extent)
    expected = torch.stack([part.amax() for part in x.split(3)])
    torch.testing.assert_close(kernels.blocks(x), expected, rtol=0, atol=0)
