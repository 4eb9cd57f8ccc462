"""Transposed convolution and derivatives for images against ATen: phases, short images."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import quern
import torch
from aten_types import module

RANKS = [1, 2, 3]
# of every axis: how many elements, taps, step, padding, spread, what is added behind
AXES = [
    (5, 3, 1, 1, 1, 0),
    (6, 4, 2, 1, 1, 1),
    (4, 3, 3, 0, 2, 2),
    (5, 2, 4, 1, 6, 3),
    (3, 3, 2, 2, 2, 0),
    (2, 9, 2, 3, 1, 1),
    (3, 7, 1, 0, 1, 0),
    (2, 1, 5, 0, 1, 4),
    (1, 6, 3, 2, 3, 0),
]


@pytest.fixture(scope="module")
def transposed() -> quern.Module:
    return module("convolution_transposed.qn")


@pytest.fixture(scope="module")
def derivatives() -> quern.Module:
    return module("convolution_backward.qn")


def mixed(rank: int) -> list[list[tuple[int, ...]]]:
    """Axes that differ: each of them stands once in every place."""
    count = len(AXES)
    return [[AXES[(n * (k + 1) + k) % count] for k in range(rank)] for n in range(count)]


def close(got: torch.Tensor, wanted: torch.Tensor) -> None:
    assert got.shape == wanted.shape
    torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-11)


def columns(axes: list[tuple[int, ...]]) -> list[list[int]]:
    return [list(column) for column in zip(*axes, strict=True)]


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("groups", [1, 2])
def test_transposed(transposed: quern.Module, rank: int, groups: int) -> None:
    """Every step, padding and spread, with and without a bias."""
    function: Any = getattr(transposed, f"conv{rank}d_transposed")
    for n, axes in enumerate(mixed(rank)):
        extents, taps, s, p, d, extra = columns(axes)
        x = torch.randn(1 + n % 3, 4, *extents, dtype=torch.float64)
        w = torch.randn(4, 3, *taps, dtype=torch.float64)
        b = torch.randn(3 * groups, dtype=torch.float64) if n % 2 else None
        wanted = torch.ops.aten.convolution(x, w, b, s, p, d, True, extra, groups)
        close(function(x, w, b, *s, *p, *d, *extra, groups), wanted)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("groups", [1, 2])
def test_derivatives(derivatives: quern.Module, rank: int, groups: int) -> None:
    """What a step leaves over at the end gets nothing."""
    function: Any = getattr(derivatives, f"conv{rank}d_backward")
    for n, axes in enumerate(mixed(rank)):
        places, taps, s, p, d, extra = columns(axes)
        extents = [
            (a - 1) * b - 2 * c + e * (t - 1) + r + 1
            for a, t, b, c, e, r in zip(places, taps, s, p, d, extra, strict=True)
        ]
        x = torch.randn(1 + n % 3, 4, *extents, dtype=torch.float64)
        w = torch.randn(2 * groups, 4 // groups, *taps, dtype=torch.float64)
        y = torch.ops.aten.convolution(x, w, None, s, p, d, False, [0] * rank, groups)
        grad = torch.randn_like(y)
        for mask in ("111", "100", "010", "001"):
            wanted = torch.ops.aten.convolution_backward(
                *(grad, x, w, [2 * groups], s, p, d, False, [0] * rank, groups),
                [each == "1" for each in mask],
            )
            got = function(grad, x, w, *s, *p, *d, groups, output_mask=mask)
            for one, other in zip(got, wanted, strict=True):
                assert (one is None) == (other is None)
                if one is not None:
                    close(one, other)


@pytest.mark.parametrize("rank", RANKS)
def test_derivatives_of_transposed(transposed: quern.Module, rank: int) -> None:
    """Each result alone, and all of them."""
    function: Any = getattr(transposed, f"conv{rank}d_transposed_backward")
    for n, axes in enumerate(mixed(rank)):
        extents, taps, s, p, d, extra = columns(axes)
        x = torch.randn(1 + n % 3, 4, *extents, dtype=torch.float64)
        w = torch.randn(4, 3, *taps, dtype=torch.float64)
        grad = torch.randn_like(torch.ops.aten.convolution(x, w, None, s, p, d, True, extra, 2))
        for mask in ("111", "100", "010", "001"):
            chosen = [each == "1" for each in mask]
            arguments = (s, p, d, True, extra, 2, chosen)
            wanted = torch.ops.aten.convolution_backward(grad, x, w, [6], *arguments)
            got = function(grad, x, w, *s, *p, *d, output_mask=mask)
            for one, other in zip(got, wanted, strict=True):
                assert (one is None) == (other is None)
                if one is not None:
                    close(one, other)


def test_nothing(transposed: quern.Module, derivatives: quern.Module) -> None:
    """No images; no channels, where a bias is all that is left."""
    for n, c in product((0, 2), (0, 3)):
        x, w = torch.zeros(n, c, 4, 5), torch.zeros(c, 2, 3, 3)
        y = transposed.conv2d_transposed(x, w, torch.ones(2), 2, 2, 1, 1, 1, 1, 0, 0, 1)
        assert torch.equal(y, torch.ones(n, 2, 7, 9))
    grad, x, w = torch.zeros(0, 2, 4, 4), torch.zeros(0, 3, 8, 8), torch.zeros(2, 3, 3, 3)
    dx, dw, db = derivatives.conv2d_backward(grad, x, w, 2, 2, 1, 1, 1, 1, 1, output_mask="111")
    assert dx.shape == x.shape
    assert not dw.any()
    assert not db.any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_types_and_layouts(transposed: quern.Module, dtype: torch.dtype) -> None:
    """Channels side by side, and results in memory that lies otherwise."""
    x, w = torch.randn(2, 8, 5, 6), torch.randn(8, 4, 3, 4)
    x, w = x.to(dtype).to(memory_format=torch.channels_last), w.to(dtype)
    arguments = ([2, 3], [1, 0], [1, 2], True, [1, 0])
    wanted = torch.ops.aten.convolution(x.double(), w.double(), None, *arguments, 1)
    out = torch.empty_like(wanted, dtype=dtype, memory_format=torch.channels_last)
    numbers = (2, 3, 1, 0, 1, 2, 1, 0, 1)
    for given in (None, out):
        got = transposed.conv2d_transposed(x, w, None, *numbers, out=given)
        scale = float(wanted.abs().max()) * torch.finfo(dtype).eps * 4
        torch.testing.assert_close(got.double(), wanted, rtol=0, atol=scale)
