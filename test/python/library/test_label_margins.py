"""Labels behind a first -1 count for nothing: values and derivatives as eager's."""

from __future__ import annotations

import pytest
import quern
import torch
from torch.nn import functional

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

ROWS = [
    [1, 2, -1, 0, 0, 0, 0],
    [1, 2, -1, -1, -1, -1, -1],
    [0, 0, 0, 0, 0, 0, 0],
    [-1, 3, 4, 5, 6, 0, 1],
    [6, 5, 4, 3, 2, 1, 0],
    [3, 3, -1, 5, 5, 5, 5],
]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("rows", [slice(None), 0, 5])
def test_as_eager(reduction: str, rows: slice | int) -> None:
    labels = torch.tensor(ROWS)[rows]
    mine, theirs = (
        torch.linspace(-2, 3, 42).sin().reshape(6, 7)[rows].clone().requires_grad_()
        for _ in range(2)
    )

    def loss(x: torch.Tensor) -> torch.Tensor:
        return functional.multilabel_margin_loss(x, labels, reduction=reduction) * 3

    quern.reset_counters()
    result, expected = torch.compile(loss, backend="quern")(mine), loss(theirs)
    torch.testing.assert_close(result, expected)
    (result * result.detach().cos()).sum().backward()
    (expected * expected.detach().cos()).sum().backward()
    torch.testing.assert_close(mine.grad, theirs.grad)
    assert not quern.counters()["fallbacks"]


def test_a_number_is_one_class() -> None:
    for label in (0, -1):
        x = torch.tensor(0.5, requires_grad=True)
        loss = torch.compile(functional.multilabel_margin_loss, backend="quern")
        given = loss(x, torch.tensor(label))
        assert given.shape == ()
        assert given.item() == 0
        (slope,) = torch.autograd.grad(given, x)
        assert slope.shape == ()
        assert slope.item() == 0
