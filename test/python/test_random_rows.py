"""Rows that draw random numbers: shares, bounds and types, and that a seed says all."""

from __future__ import annotations

import math
from typing import Any

import pytest
import quern
import torch
from aten_binding import Call
from aten_types import draws, overload

N = 1 << 16
X = torch.full((256, 256), 0.25)
ROWS = {row["overload"]: row for row in quern.operators() if draws(row)}
SQUARE, CPU = [256, 256], {"dtype": torch.float32}
# Arguments, and the share of a distribution at or below places on the line.
CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any], dict[float, float]]] = {
    "aten::rand": ((SQUARE,), CPU, {0.1: 0.1, 0.5: 0.5, 0.9: 0.9}),
    "aten::rand_like": ((X,), {}, {0.25: 0.25, 0.75: 0.75}),
    "aten::randn": ((SQUARE,), CPU, {-1: 0.158655, 0: 0.5, 2: 0.977250}),
    "aten::randn_like": ((X,), {}, {-1: 0.158655, 1: 0.841345}),
    "aten::normal_functional": ((X, 3.0, 2.0), {}, {1: 0.158655, 3: 0.5}),
    "aten::normal.Tensor_Tensor": ((X, X), {}, {0.25: 0.5, 0.5: 0.841345}),
    "aten::normal.Tensor_float": ((X, 2.0), {}, {0.25: 0.5, 2.25: 0.841345}),
    "aten::normal.float_Tensor": ((1.0, X), {}, {1: 0.5, 0.75: 0.158655}),
    "aten::uniform": ((X, -1.0, 3.0), {}, {0: 0.25, 2: 0.75}),
    "aten::exponential": ((X, 2.0), {}, {0.5: 1 - math.exp(-1)}),
    "aten::cauchy": ((X, 1.0, 2.0), {}, {1: 0.5, 3: 0.75}),
    "aten::log_normal": ((X, 0.0, 1.0), {}, {1: 0.5, math.e: 0.841345}),
    "aten::geometric": ((X, 0.25), {}, {1: 0.25, 2: 0.4375}),
    "aten::randint": ((8, SQUARE), {"dtype": torch.int64}, {0: 0.125, 3: 0.5}),
    "aten::randint.low": ((-4, 4, SQUARE), {"dtype": torch.int64}, {-1: 0.5}),
    "aten::randint_like": ((X, 8), {}, {3: 0.5}),
    "aten::randint_like.low_dtype": ((X, -4, 4), {}, {-1: 0.5}),
    "aten::bernoulli": ((X,), {}, {0.5: 0.75}),
    "aten::bernoulli.p": ((X, 0.3), {}, {0.5: 0.7}),
    "aten::bernoulli.Tensor": ((X, X), {}, {0.5: 0.75}),
    "aten::native_dropout": ((X, 0.4, True), {}, {0.1: 0.4}),
}
OTHERS = {"aten::randperm", "prims::normal"}


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
