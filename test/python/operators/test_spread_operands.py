"""Operands with fewer axes than their operator's row names, and operators without an axis,
against eager, with the library's kernels throughout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from torch.nn import functional

LEFT, RIGHT = torch.randn(5, 7), torch.randn(7, 6)
MANY_LEFT, MANY_RIGHT = torch.randn(3, 5, 7), torch.randn(3, 7, 6)
HEADS = [torch.randn(2, 4, 9, 8) for _ in range(3)]
SHARED = [torch.randn(2, 2, 9, 8) for _ in range(2)]


def addmm(c: torch.Tensor) -> torch.Tensor:
    return torch.addmm(c, LEFT, RIGHT, beta=0.5, alpha=2)


def baddbmm(c: torch.Tensor) -> torch.Tensor:
    return torch.baddbmm(c, MANY_LEFT, MANY_RIGHT)


def addmv(c: torch.Tensor) -> torch.Tensor:
    return torch.addmv(c, LEFT, RIGHT[:, 0])


def attention(mask: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(*HEADS, attn_mask=mask)


def shared(mask: torch.Tensor) -> torch.Tensor:
    call = functional.scaled_dot_product_attention
    return call(HEADS[0], *SHARED, attn_mask=mask, enable_gqa=True)


def own(f: Callable[..., Any], x: torch.Tensor) -> Any:
    """By the library alone."""
    torch._dynamo.reset()
    compiled = torch.compile(f, backend="quern", fullgraph=True, options={"preferred": "own"})
    quern.reset_counters()
    result = compiled(x)
    counters = quern.counters()
    assert counters["launches"]
    assert not counters["fallbacks"]
    assert not counters["preferred"]
    return result


@pytest.mark.parametrize(
    ("f", "shape"),
    [
        *((addmm, shape) for shape in [(6,), (5, 1), (1, 6), (1,), ()]),
        *((baddbmm, shape) for shape in [(6,), (5, 1), (3, 1, 6), (1, 5, 6)]),
        (addmv, (1,)),
        *((attention, shape) for shape in [(9, 9), (2, 1, 1, 9), (1, 4, 9, 9)]),
        *((shared, shape) for shape in [(9, 9), (2, 1, 1, 9), (1, 4, 9, 9)]),
    ],
    ids=lambda each: each.__name__ if callable(each) else str(each),
)
def test_operands_are_spread(f: Callable[..., Any], shape: tuple[int, ...]) -> None:
    x = torch.randn(shape)
    torch.testing.assert_close(own(f, x), f(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("x", [torch.randn(4, 5, 6), torch.randn(4, 5).T, torch.randn(())])
@pytest.mark.parametrize("keepdim", [False, True])
def test_places_in_all_elements(x: torch.Tensor, keepdim: bool) -> None:
    for op in (torch.argmax, torch.argmin):
        ours = own(lambda x, op=op: op(x, keepdim=keepdim), x)
        wanted = op(x, keepdim=keepdim)
        assert ours.stride() == wanted.stride()
        assert torch.equal(ours, wanted)


@pytest.mark.parametrize("shift", [0, 7, -3])
def test_rolls_of_all_elements(shift: int) -> None:
    for x in (torch.randn(4, 5, 6), torch.randn(4, 5).T):
        assert torch.equal(own(lambda x: x.roll(shift), x), x.roll(shift))


@pytest.mark.parametrize("dims", [(1, 2), (0, 2), (0, 1, 2), (2, 0), (1, 1), (-2, -1)])
def test_rolls_of_several_axes(dims: tuple[int, ...]) -> None:
    shifts = (2, -3, 11)[: len(dims)]
    for x in (torch.randn(5, 7, 9), torch.randn(9, 7, 5).T):
        assert torch.equal(own(lambda x: x.roll(shifts, dims), x), x.roll(shifts, dims))
