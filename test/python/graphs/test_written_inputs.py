"""Gradients of graphs that write their inputs read what the inputs were before.

Eager itself says what is right: it keeps the values, or their versions.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from quern.torch_backend import compilation


def bias(weight: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
    made = (weight + written).sin()
    written.copy_(written.sin() * 3)
    return made


def linear(weight: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
    made = (torch.nn.functional.linear(weight.tanh(), weight.t(), written) * 0.5).sin()
    written.mul_(0.25)
    return made


def view(weight: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
    made = (weight.exp() * written.reshape(1, -1).expand(weight.shape).cos() + weight).tanh()
    written.add_(weight.detach()[0])
    return made


def twice(weight: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
    first = (weight + written).sin()
    written.add_(1)
    second = (weight * 0.5 + written).sin()
    written.mul_(2)
    return first * second


def chosen(weight: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
    made = torch.where(written > 0, weight * weight, weight.sin())
    written.neg_()
    return made


def gradient(function: Callable[..., torch.Tensor], rows: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(rows)
    weight = torch.randn(rows, 33, generator=generator, requires_grad=True)
    written = torch.randn(66, generator=generator)[::2]
    made = function(weight, written)
    (grad,) = torch.autograd.grad((made * made.detach().cos()).sum(), weight)
    return made.detach(), grad, written


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("function", [bias, linear, view, twice, chosen])
def test_gradient(function: Callable[..., torch.Tensor], dynamic: bool) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="quern", dynamic=dynamic)
    for rows in (33, 7) if dynamic else (33,):
        if function is linear:
            rows = 33
        for ours, eager in zip(gradient(compiled, rows), gradient(function, rows), strict=True):
            torch.testing.assert_close(ours, eager, rtol=1e-4, atol=1e-4)


def test_eager_refuses_what_was_written() -> None:
    """The gradient needs the old numbers, which eager has not kept: the trace says so too."""

    def scaled(weight: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
        made = weight * written
        written.zero_()
        return made

    for function in (scaled, torch.compile(scaled, backend="quern")):
        with pytest.raises(Exception, match="modified by an inplace operation"):
            gradient(function, 33)


def test_running_statistics_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backward of a batch norm does not need the statistics that its forward writes."""
    graphs: list[torch.fx.GraphModule] = []
    monkeypatch.setattr(compilation, "mark_recomputed", lambda *parts: graphs.extend(parts))
    torch._dynamo.reset()
    compiled = torch.compile(torch.nn.BatchNorm1d(6), backend="quern")
    x = torch.randn(20, 6, requires_grad=True)
    compiled(x).sum().backward()
    forward, _ = graphs
    written = forward.graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default)
    assert len(written) == 3
    assert not forward.graph.find_nodes(op="call_function", target=torch.ops.aten.clone.default)
