"""Operators that call graphs: the branches of `cond`, the bodies of loops and marked regions are
compiled, and give eager's values and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from torch._higher_order_ops import map as mapped
from torch._higher_order_ops import scan, while_loop

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

Tensor = torch.Tensor


def branch(x: Tensor, w: Tensor) -> Tensor:
    chosen: Tensor = torch.cond(
        x.sum() > 0, lambda x, w: (x @ w).sin() * 2, lambda x, w: (x @ w).cos() - x, (x, w)
    )
    return chosen + 1


def rounds(x: Tensor, w: Tensor) -> Tensor:
    def more(i: Tensor, _: Tensor) -> Tensor:
        return i < 4

    def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return i + 1, torch.tanh(y @ w.detach()) + i

    _, y = while_loop(more, body, (torch.tensor(0), x.detach()))
    return y * x


def each(x: Tensor, w: Tensor) -> Tensor:
    result: Tensor = mapped(lambda row, w: torch.softmax(row @ w, -1) * row, x, w)
    return result


def carried(x: Tensor, w: Tensor) -> Tensor:
    def step(state: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
        new = torch.tanh(state @ w + row)
        return new, torch.sin(state @ w) * row

    last, every = scan(step, torch.zeros(x.shape[1]), x)
    return every + last


@torch.compiler.nested_compile_region
def region(x: Tensor, w: Tensor) -> Tensor:
    return torch.relu(x @ w) + x


def regions(x: Tensor, w: Tensor) -> Tensor:
    return region(region(x, w), w)


def nested(x: Tensor, w: Tensor) -> Tensor:
    def inner(x: Tensor, w: Tensor) -> Tensor:
        result: Tensor = torch.cond(x.mean() > 0.5, lambda x: x.exp(), lambda x: x.square(), (x,))
        return result @ w

    result: Tensor = torch.cond(x.sum() > 0, inner, lambda x, w: x @ w, (x, w))
    return result


def outcome(call: Callable[..., Tensor], x: Tensor, w: Tensor) -> list[Any]:
    own = [x.clone().requires_grad_(), w.clone().requires_grad_()]
    y = call(*own)
    return [y, torch.autograd.grad(y.sin().sum(), own, allow_unused=True)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [branch, rounds, each, carried, regions, nested])
def test_a_step(function: Callable[..., Tensor]) -> None:
    w = torch.linspace(-1, 1, 16).view(4, 4)
    compiled = torch.compile(function, backend="quern", fullgraph=True)
    for sign, rows in ((1, 3), (-1, 3), (1, 5)):
        x = sign * torch.linspace(0.1, 1.5, rows * 4).view(rows, 4)
        quern.reset_counters()
        ours = outcome(compiled, x, w)
        torch.testing.assert_close(ours, outcome(function, x, w), rtol=1e-4, atol=1e-5)
        counters = quern.counters()
        # The calls of what is inside, beside those of the forward and the backward.
        assert counters["calls"] > 2
        assert not any(name.startswith("aten") for name in counters["fallbacks"])


@pytest.mark.filterwarnings("ignore")
def test_what_is_inside_is_explained() -> None:
    x, w = torch.ones(3, 4), torch.eye(4)
    names = [record.name for record in quern.explain(branch, x, w).graphs]
    assert len(names) == 3
    assert sum("true_graph" in name for name in names) == 1
    assert sum("false_graph" in name for name in names) == 1
