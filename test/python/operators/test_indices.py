"""Lists of index tensors run as own kernels, wherever the indexed axes stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

ROWS = torch.tensor([0, 2, -1])
GRID = torch.tensor([[1], [3]])


def put(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:, ROWS] = 2.0
    return y


FORMS: dict[str, Callable[[torch.Tensor], Any]] = {
    "first": lambda x: x[ROWS],
    "second": lambda x: x[:, ROWS],
    "last": lambda x: x[..., ROWS],
    "run": lambda x: x[:, ROWS, ROWS],
    "apart": lambda x: x[ROWS, :, ROWS],
    "broadcast": lambda x: x[:, ROWS, GRID],
    "narrow": lambda x: x[:, ROWS.int(), GRID],
    "permuted": lambda x: x.permute(3, 1, 0, 2)[:, ROWS],
    "all": lambda x: x[ROWS, ROWS, ROWS, ROWS],
    "scalar": lambda x: x[:, torch.tensor(2)],
    "write": put,
    "add": lambda x: x.index_put((ROWS, ROWS), torch.ones(7, 4), accumulate=True),
}


@pytest.mark.parametrize("name", FORMS)
def test_indices(name: str) -> None:
    x = torch.linspace(-3, 3, 840).view(6, 5, 7, 4).requires_grad_()
    function = FORMS[name]
    quern.reset_counters()
    ours, eager = torch.compile(function, backend="quern", fullgraph=True)(x), function(x)
    assert torch.equal(ours, eager)
    assert ours.stride() == eager.stride()
    assert quern.counters()["fallbacks"] == {}
    weights = torch.linspace(0, 1, eager.numel()).view(eager.shape)
    (mine,) = torch.autograd.grad(ours, x, weights)
    (wanted,) = torch.autograd.grad(eager, x, weights)
    torch.testing.assert_close(mine, wanted)


# Results larger than a processor's last cache have code of their own.
LARGE: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "rows": lambda x, i: x.index_select(0, i[:, 0]),
    "rows by a list": lambda x, i: x[i[:, 0]],
    "in rows": lambda x, i: x.gather(1, i % x.shape[1]),
    "in long rows": lambda x, i: x.gather(1, i[:, :700] % x.shape[1]),
    "in columns": lambda x, i: x.gather(0, i),
}


@pytest.mark.parametrize("name", LARGE)
def test_more_than_the_caches_hold(name: str) -> None:
    x = torch.arange(16384 * 1021, dtype=torch.float32).view(-1, 1021)
    i = torch.randint(0, x.shape[0], x.shape)
    function = LARGE[name]
    compiled = torch.compile(function, backend="quern", fullgraph=True)
    torch.testing.assert_close(compiled(x, i), function(x, i), rtol=0, atol=0)
    i[-1, 0] = 1 << 40
    if name != "in rows" and name != "in long rows":
        with pytest.raises((RuntimeError, IndexError), match=r"1099511627776|out of range"):
            compiled(x, i)
