"""Places that a step keeps, whatever the order in which elements come to it."""

from __future__ import annotations

import pytest
import quern
import torch
from torch.nn import functional

SOURCE = """
@commutative
reduction first_of:
    state: (value: f32 = -inf, place: i64 = -1)
    step(s, x: f32, i: index):
        let takes = x > s.value or (x == s.value and i < s.place)
        return (x if takes else s.value, i if takes else s.place)
    merge(a, b):
        let takes = b.value > a.value or (a.value == b.value and b.place < a.place)
        return (b.value if takes else a.value, b.place if takes else a.place)
    finish(s): s.place

@commutative
reduction last_of:
    state: (value: f32 = -inf, place: i64 = -1)
    step(s, x: f32, i: index):
        let takes = x > s.value or (x == s.value and s.place <= i)
        return (x if takes else s.value, i if takes else s.place)
    merge(a, b):
        let takes = b.value > a.value or (a.value == b.value and a.place <= b.place)
        return (b.value if takes else a.value, b.place if takes else a.place)
    finish(s): s.place

rowwise rows(x: f32[R, C, D]) -> (i64[R], i64[R]):
    return first_of(x over (C, D)), last_of(x over (C, D))

rowwise chosen(x: f32[R, C, D], least: f32[R]) -> (i64[R], i64[R]):
    return first_of(x over (C, D) where x < least), last_of(x over (C, D) where x < least)

rowwise triangle(x: f32[R, N]) -> i64[R]:
    return last_of(x.at(N = i - j) over (i: 0 .. size(N), j: 0 .. size(N) - i) where j <= i)
"""

ORDERS = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


def places(flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    ends = flat == flat.amax(1, keepdim=True)
    return ends.long().argmax(1), flat.shape[1] - 1 - ends.flip(1).long().argmax(1)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", [(3, 5, 70), (40, 3, 3), (2, 33, 129), (17, 300, 2)])
def test_in_every_layout(
    kernels: quern.Module, shape: tuple[int, int, int], order: tuple[int, int, int]
) -> None:
    """Few values, so that most of them are equal to others."""
    x = torch.randint(0, 6, shape).float().permute(order).contiguous()
    x = x.permute(torch.argsort(torch.tensor(order)).tolist())
    assert x.shape == shape
    for ours, wanted in zip(kernels.rows(x), places(x.flatten(1)), strict=True):
        assert torch.equal(ours, wanted)
    least = torch.full(shape[:1], 4.0)
    below = torch.where(x < least[:, None, None], x, -1.0).flatten(1)
    for ours, wanted in zip(kernels.chosen(x, least), places(below), strict=True):
        assert torch.equal(ours, wanted)


def test_lines_of_unequal_lengths_are_not_counted_in_order(kernels: quern.Module) -> None:
    x = torch.randint(0, 3, (5, 37)).float()
    size = x.shape[1]
    for row, ours in zip(x, kernels.triangle(x), strict=True):
        pairs = [(i, j) for i in range(size) for j in range(size - i) if j <= i]
        best = max(row[i - j].item() for i, j in pairs)
        assert ours == max(i * (size - i) + j for i, j in pairs if row[i - j] == best)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize(
    ("window", "step", "border", "apart"), [(3, 2, 1, 1), (3, 1, 1, 2), (4, 4, 2, 1), (9, 9, 0, 1)]
)
def test_pools_give_the_first_place_where_nothing_is_above_the_lowest(
    window: int, step: int, border: int, apart: int, layout: torch.memory_format
) -> None:
    x = torch.randn(2, 20, 9, 9)
    x[:, ::3] = -torch.inf
    x[:, 1::3] = x[:, 1::3].round()
    x[0, :, 2, 3] = x[1, :, 3, 3] = torch.nan
    x = x.to(memory_format=layout)

    def pool(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return functional.max_pool2d(x, window, step, border, apart, return_indices=True)

    torch._dynamo.reset()
    for ours, eager in zip(torch.compile(pool, backend="quern")(x), pool(x), strict=True):
        torch.testing.assert_close(ours, eager, equal_nan=True)
