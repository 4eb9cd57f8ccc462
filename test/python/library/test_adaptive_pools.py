"""Adaptive pools take axis after axis: places and values as eager's, whatever the layout."""

from __future__ import annotations

import math

import pytest
import torch

SIZES = [
    ((4, 3, 32, 32), (7, 7)),
    ((2, 3, 5, 9), (8, 8)),
    ((2, 3, 32, 32), (32, 3)),
    ((2, 3, 9, 40), (12, 2)),
    ((2, 3, 5, 9), (1, 1)),
    ((3, 6, 7), (2, 4)),
    ((2, 4, 8, 16, 16), (5, 5, 7)),
    ((2, 3, 5, 9, 4), (8, 2, 8)),
    ((0, 3, 5, 9, 6), (2, 2, 2)),
]
LAST = {4: torch.channels_last, 5: torch.channels_last_3d}
aten = torch.ops.aten


def maxima(x: torch.Tensor, sizes: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    return (aten.adaptive_max_pool2d if len(sizes) == 2 else aten.adaptive_max_pool3d)(x, sizes)


def means(x: torch.Tensor, sizes: tuple[int, ...]) -> torch.Tensor:
    return (aten._adaptive_avg_pool2d if len(sizes) == 2 else aten._adaptive_avg_pool3d)(x, sizes)


def derivative(grad: torch.Tensor, x: torch.Tensor, sizes: tuple[int, ...]) -> torch.Tensor:
    of = aten._adaptive_avg_pool2d_backward, aten._adaptive_avg_pool3d_backward
    return of[len(sizes) - 2](grad, x)


def layouts(x: torch.Tensor) -> list[torch.Tensor]:
    wide = [x.to(memory_format=LAST[x.dim()])] if x.dim() in LAST and len(x) else []
    return [x, x.mT.contiguous().mT, *wide]


def few(*shape: int) -> torch.Tensor:
    """Small whole numbers with some that are infinite and some that are none."""
    chance = torch.rand(shape)
    x = torch.randint(0, 3, shape).float()
    x[chance < 0.6] = -math.inf
    return x.where(chance < 0.9, math.nan)


@pytest.mark.parametrize(("shape", "sizes"), SIZES, ids=str)
def test_maxima(shape: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: maxima(x, sizes), backend="quern", dynamic=False)
    for given in (torch.randn(shape), few(*shape), torch.full(shape, -math.inf)):
        for x in layouts(given):
            (value, place), (best, first) = compiled(x), maxima(x, sizes)
            torch.testing.assert_close(value, best, rtol=0, atol=0, equal_nan=True)
            assert torch.equal(place, first)
            assert value.stride() == best.stride()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("shape", "sizes"), SIZES, ids=str)
def test_means(shape: tuple[int, ...], sizes: tuple[int, ...], dtype: torch.dtype) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: means(x, sizes), backend="quern", dynamic=False)
    for x in layouts(torch.randn(shape).to(dtype)):
        torch.testing.assert_close(compiled(x), means(x.double(), sizes).to(dtype))


@pytest.mark.parametrize(("shape", "sizes"), SIZES, ids=str)
def test_derivatives_of_means(shape: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    torch._dynamo.reset()
    back = torch.compile(lambda g, x: derivative(g, x, sizes), backend="quern", dynamic=False)
    x = torch.randn(shape)
    for grad in layouts(torch.randn(*shape[: -len(sizes)], *sizes)):
        exact = derivative(grad.double(), x.double(), sizes)
        torch.testing.assert_close(back(grad, x), exact.float())
