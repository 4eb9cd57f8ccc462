"""Outputs in one piece of memory are refused where their elements meet, and only there."""

from __future__ import annotations

import itertools
import random

import pytest
import quern
import torch

TWO = """
elementwise two(x: f32) -> (f32, f32):
    return x + 1, x * 2
"""


def kernel() -> quern.Module:
    return quern.compile(TWO)


def addresses(view: torch.Tensor) -> set[int]:
    places = itertools.product(*map(range, view.shape))
    return {
        view.storage_offset() + sum(i * s for i, s in zip(place, view.stride(), strict=True))
        for place in places
    }


@pytest.mark.parametrize("shape", [(20, 16, 3, 6), (4, 5, 7), (2, 3, 4, 5, 6), (33, 1, 3)])
def test_parts_of_a_joined_axis(shape: tuple[int, ...]) -> None:
    """What positional encodings store: sines beside cosines in every row."""
    row = shape[-1] * shape[-2]
    whole = torch.full((*shape[:-2], 3 + 2 * row), -1.0)
    sines = whole[..., 3 : 3 + row].unflatten(-1, shape[-2:])
    cosines = whole[..., 3 + row :].unflatten(-1, shape[-2:])
    x = torch.randn(shape)
    kernel().two(x, out=(sines, cosines))
    joined = torch.cat([(x + 1).flatten(-2), (x * 2).flatten(-2)], -1)
    assert torch.equal(whole[..., 3:], joined)
    assert (whole[..., :3] == -1).all()


def test_parts_that_meet_in_one_element() -> None:
    whole = torch.zeros(20, 16, 39)
    left, right = whole[..., 3:21], whole[..., 20:38]
    with pytest.raises(quern.Error, match="shares memory"):
        kernel().two(torch.randn(20, 16, 18), out=(left, right))
    assert (whole == 0).all()


def self_overlaps(view: torch.Tensor) -> bool:
    return len(addresses(view)) < view.numel()


def test_random_views_against_their_sets_of_addresses() -> None:
    rng = random.Random(11)
    taken = refused = 0
    for _ in range(400):
        shape = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
        views = []
        for _ in range(2):
            strides = [rng.choice((1, 2, 3, 4, 6, 8, 12, 13, 24, 39)) for _ in shape]
            views.append(torch.zeros(400).as_strided(shape, strides, rng.randint(0, 40)))
        if any(map(self_overlaps, views)):
            continue
        memory = torch.zeros(400)
        outputs = tuple(memory.as_strided(shape, v.stride(), v.storage_offset()) for v in views)
        meet = bool(addresses(views[0]) & addresses(views[1]))
        x = torch.randn(shape)
        try:
            kernel().two(x, out=outputs)
        except quern.Error:
            refused += 1
            assert meet or any(map(may_overlap_itself, views))
            assert (memory == 0).all()
            continue
        taken += 1
        assert not meet
        assert torch.equal(outputs[0], x + 1)
        assert torch.equal(outputs[1], x * 2)
    assert taken > 20
    assert refused > 20


def may_overlap_itself(view: torch.Tensor) -> bool:
    """A single output is refused where a stride does not step over the smaller
    ones' reach, without a look at the elements."""
    reach = 0
    axes = [a for a in zip(view.stride(), view.shape, strict=True) if a[1] > 1]
    for stride, size in sorted(axes):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False
