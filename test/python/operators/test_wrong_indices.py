"""Compiled graphs raise where eager does: indices out of range and sizes that values decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from slices import matrix
from torch.nn import functional

X = torch.arange(12.0).reshape(4, 3)


def at(*values: int) -> torch.Tensor:
    return torch.tensor(values)


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "gather": (lambda x, i: x.gather(1, i), (X, at(0, 3)[None])),
    "gather, negative": (lambda x, i: x.gather(1, i), (X, at(0, -1)[None])),
    "scatter": (lambda x, i: x.scatter(1, i, x), (X, at(0, 5)[None])),
    "scatter, negative": (lambda x, i: x.scatter(1, i, 1.0), (X, at(0, -1)[None])),
    "scatter_add": (lambda x, i: x.scatter_add(0, i, x), (X, at(0, 5, 1)[None])),
    "scatter_reduce": (lambda x, i: x.scatter_reduce(0, i, x, "amax"), (X, at(0, 9, 1)[None])),
    "index_select": (lambda x, i: x.index_select(0, i), (X, at(0, 4))),
    "index_select, negative": (lambda x, i: x.index_select(0, i), (X, at(0, -1))),
    "index": (lambda x, i: x[i], (X, at(0, 4))),
    "index, negative": (lambda x, i: x[i], (X, at(0, -5))),
    "index of a second axis": (lambda x, i: x[:, i], (X, at(0, 3))),
    "index_put": (lambda x, i: x.index_put((i,), x[:2]), (X, at(0, 4))),
    "index_put, added": (lambda x, i: x.index_put((i,), x[:2], accumulate=True), (X, at(0, -5))),
    "index_add": (lambda x, i: x.index_add(0, i, x[:2]), (X, at(0, 4))),
    "index_add, negative": (lambda x, i: x.index_add(0, i, x[:2]), (X, at(0, -1))),
    "index_copy": (lambda x, i: x.index_copy(0, i, x[:2]), (X, at(0, 4))),
    "index_fill": (lambda x, i: x.index_fill(0, i, 1.0), (X, at(0, 4))),
    "index_reduce": (lambda x, i: x.index_reduce(0, i, x[:2], "prod"), (X, at(0, 4))),
    "take": (lambda x, i: x.take(i), (X, at(0, 12))),
    "put": (lambda x, i: x.put(i, x[0, :2]), (X, at(0, 12))),
    "embedding": (lambda x, i: functional.embedding(i, x), (X, at(0, 4))),
    "embedding, negative": (lambda x, i: functional.embedding(i, x), (X, at(0, -1))),
    "embedding_bag": (lambda x, i: functional.embedding_bag(i, x, at(0)), (X, at(0, 9))),
    "nll_loss": (lambda x, i: functional.nll_loss(x, i), (X, at(0, 1, 3, 2))),
    "nll_loss, negative": (lambda x, i: functional.nll_loss(x, i), (X, at(0, 1, -1, 2))),
    "cross_entropy": (lambda x, i: functional.cross_entropy(x, i), (X, at(0, 1, 7, 2))),
    "multi_margin_loss": (lambda x, i: functional.multi_margin_loss(x, i), (X, at(0, 1, 9, 2))),
    "max_unpool": (
        lambda x, i: functional.max_unpool2d(x[None], i.view(1, 1, 2).expand(1, 4, 2), (1, 2)),
        (X[:, None, :2], at(0, 99)),
    ),
    "masked_scatter": (lambda x, i: x.masked_scatter(x > 2, x[0]), (X, at(0))),
    "repeat_interleave": (lambda x, i: x.repeat_interleave(i, 0), (X, at(0, -1, 1, 1))),
    "bincount": (lambda _, i: i.bincount(), (X, at(0, -1))),
}


@pytest.mark.parametrize("name", matrix("wrong indices", CASES, group=lambda _: 0, quick=0.3))
def test_raises_as_eager(name: str) -> None:
    function, arguments = CASES[name]
    with pytest.raises((IndexError, RuntimeError), match=r"\S") as eager:
        function(*arguments)
    torch._dynamo.reset()
    with pytest.raises(eager.type, match=r"\S"):
        torch.compile(function, backend="quern")(*arguments)
