"""Rows that draw random numbers: shares, bounds and types, and that a seed says all."""

from __future__ import annotations

import math
from typing import Any

import pytest
import quern
import torch
from aten_binding import Call
from aten_draws import CASES, CPU, OTHERS, SQUARE, X
from aten_types import draws, overload

N = 1 << 16
ROWS = {row["overload"]: row for row in quern.operators() if draws(row)}


def drawn(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    op = overload(name)
    expected = op(*args, **kwargs)
    results = list(expected) if isinstance(expected, tuple) else [expected]
    found = Call(ROWS[name], op, args, kwargs).run(results)
    for one, other in zip(found, results, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
    return found


def test_every_row_is_here() -> None:
    assert set(ROWS) == set(CASES) | OTHERS


@pytest.mark.parametrize("name", CASES)
def test_shares(name: str) -> None:
    args, kwargs, shares = CASES[name]
    values = drawn(name, args, kwargs)[0].double()
    for place, share in shares.items():
        found = (values <= place).double().mean().item()
        assert abs(found - share) < 5 * math.sqrt(share * (1 - share) / N)


@pytest.mark.parametrize("name", CASES)
def test_a_seed_says_all(name: str) -> None:
    args, kwargs, _ = CASES[name]
    assert torch.equal(drawn(name, args, kwargs)[0], drawn(name, args, kwargs)[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("name", ["aten::rand", "aten::randn"])
def test_types(name: str, dtype: torch.dtype) -> None:
    values = drawn(name, (SQUARE,), {"dtype": dtype})[0].double()
    assert abs(values.mean().item() - (0.5 if name == "aten::rand" else 0)) < 0.02
    if name == "aten::rand":
        assert values.min().item() >= 0
        assert values.max().item() < 1


def test_mask_of_dropout() -> None:
    y, mask = drawn("aten::native_dropout", (X, 0.5, True), {})
    assert torch.equal(y, torch.where(mask, 2 * X, 0))
    y, mask = drawn("aten::native_dropout", (X, 0.5, False), {})
    assert torch.equal(y, X)
    assert mask.all()
    y, mask = drawn("aten::native_dropout", (X, 1.0, True), {})
    assert not y.any()
    assert not mask.any()


def test_permutation() -> None:
    places = drawn("aten::randperm", (1000,), {"dtype": torch.int64})[0]
    assert torch.equal(places.sort()[0], torch.arange(1000))
    assert not torch.equal(places, torch.arange(1000))


def test_neighbours_are_apart() -> None:
    """What one element draws says nothing about the next one, nor about one of the next row."""
    x = drawn("aten::rand", (SQUARE,), CPU)[0].double() - 0.5
    for other in (x.roll(1, 1), x.roll(1, 0)):
        assert abs((x * other).mean().item()) < 5 / 12 / math.sqrt(N)
