"""Forms of indices that reach kernels as another form: masks, lists of several shapes,
indices without axes, places of a tensor as if it had one axis, means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch

X = torch.linspace(-2, 3, 30).reshape(5, 6)
MASK = X[:, 0] > 0
PLACES = torch.tensor([[0, 4, 2], [1, 1, 3]])
VALUES = torch.arange(18.0).reshape(3, 6)
AT = torch.tensor([3, 0, 3])
ZERO_D = torch.tensor(2)

CASES: dict[str, Callable[[torch.Tensor], Any]] = {
    "mask of rows": lambda x: torch.index_put(x, (MASK,), torch.tensor(7.0)),
    "mask, added": lambda x: torch.index_put(x, (x > 1,), torch.tensor([7.0]), accumulate=True),
    "masked store": lambda x: _stored(x, x < 0, 0.5),
    "masked store of permuted axes": lambda x: (
        _stored(x.reshape(5, 2, 3).permute(2, 0, 1), torch.arange(15).reshape(3, 5) % 2 > 0, 0.5),
        _stored(x.t(), torch.arange(30).reshape(6, 5) % 4 > 0, 0.5),
        _stored(x, torch.arange(30).reshape(6, 5).t() % 4 > 0, 0.5),
    ),
    "five tensors of indices": lambda x: x.reshape(1, 5, 2, 1, 3)[
        AT * 0, AT, AT % 2, AT * 0, AT - 1
    ],
    "stores at four tensors of indices": lambda x: [
        x.reshape(5, 2, 1, 3).index_put((AT, AT % 2, AT * 0, AT - 3), x[0, :3], accumulate=added)
        for added in (False, True)
    ],
    "truth values stored at four": lambda x: [
        (x > 2)
        .reshape(5, 2, 1, 3)
        .index_put((AT, AT % 2, AT * 0, AT - 3), AT > 1, accumulate=added)
        for added in (False, True)
    ],
    "take": lambda x: x.take(PLACES * 7 - 3),
    "put": lambda x: x.put(PLACES * 3, PLACES.float()),
    "put, added": lambda x: x.put(PLACES * 3, PLACES.float(), accumulate=True),
    "row of a 0-d index": lambda x: x.index_select(0, ZERO_D),
    "added at a 0-d index": lambda x: x.index_add(0, ZERO_D, VALUES[:1]),
    "copied to a 0-d index": lambda x: x.index_copy(1, ZERO_D, VALUES[:1, :5].t()),
    "truth values added": lambda x: (
        (x > 2).scatter_add(0, PLACES, VALUES > 9),
        (x > 2).index_add(0, AT, VALUES > 9),
        (x > 2).index_add(0, AT, VALUES > 9, alpha=False),
        (x > 2).index_put((AT,), VALUES > 9, accumulate=True),
        (x > 2).index_put((AT, AT + 1), VALUES[:, 0] > 5, accumulate=True),
        (x > 2)[:, None].index_put((AT, AT * 0, AT), AT > 1, accumulate=True),
    ),
    "truth values reduced": lambda x: [
        (x > 2).scatter_reduce(dim, PLACES, VALUES > 9, how, include_self=alone)
        for dim in (0, 1)
        for how in ("sum", "prod", "amax", "amin")
        for alone in (True, False)
    ],
    "scattered means": lambda x: x.scatter_reduce(1, PLACES, VALUES, "mean"),
    "scattered means alone": lambda x: x.scatter_reduce(
        0, PLACES, VALUES, "mean", include_self=False
    ),
    "means of rows": lambda x: x.index_reduce(0, AT, VALUES, "mean"),
    "means of rows alone": lambda x: x.index_reduce(0, AT, VALUES, "mean", include_self=False),
    "integer means": lambda x: (x * 9).int().scatter_reduce(1, PLACES, VALUES.int() - 9, "mean"),
    "pad of five axes": lambda x: torch.constant_pad_nd(
        x.reshape(1, 5, 2, 1, 3), [0, 1, 2, 0, 1, 1, 0, -2, 1, 2], 2.5
    ),
    "pad of four axes": lambda x: torch.constant_pad_nd(
        x.reshape(1, 5, 2, 3), [1, 0, 2, 1, 0, -1, 1, 1], 2.5
    ),
    "views copied": lambda x: (
        torch.narrow_copy(x, 1, 1, 3),
        torch.permute_copy(x, [1, 0]),
        torch.as_strided_copy(x, [3, 2], [6, 2], 1),
    ),
    "distance": lambda x: torch.dist(x, x.cos(), 3),
}


def _stored(x: torch.Tensor, mask: torch.Tensor, value: float) -> torch.Tensor:
    copy = x.clone()
    copy[mask] = value
    return copy


@pytest.mark.filterwarnings("ignore:index_reduce|scatter_reduce")
@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    function = CASES[name]
    explained = quern.explain(function, X)
    theirs = function(X)
    torch.testing.assert_close(explained.output, theirs)
    assert not explained.fallbacks
    for one, other in zip(
        torch.utils._pytree.tree_leaves(explained.output),
        torch.utils._pytree.tree_leaves(theirs),
        strict=True,
    ):
        assert one.stride() == other.stride()


def test_bad_places() -> None:
    taken = torch.compile(lambda x, i: x.take(i), backend="quern")
    with pytest.raises(IndexError):
        taken(X, torch.tensor([30]))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: x.gather(0, i),
        lambda x, i: x.scatter_add(0, i, x),
        lambda x, i: x.scatter_reduce(0, i, x, "amax"),
        lambda x, i: x.index_select(0, i),
        lambda x, i: x[i],
        lambda x, i: x.index_put((i,), x),
        lambda x, i: torch.nn.functional.nll_loss(x[:, None].expand(-1, 3), i),
    ],
)
def test_bad_places_are_what_eager_says(function: Callable[..., torch.Tensor]) -> None:
    """An IndexError of some operators, a RuntimeError of others."""
    x, i = torch.arange(4.0), torch.tensor([0, 1, 2, 9])
    with pytest.raises((IndexError, RuntimeError)) as eager:
        function(x, i)
    with pytest.raises(eager.type):
        torch.compile(function, backend="quern")(x, i)
