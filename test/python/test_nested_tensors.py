"""Nested tensors with ragged parts: their lengths pass through graphs, and kernels do the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from torch import nn
from torch.nn import functional

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def ragged(lengths: tuple[int, ...], width: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(lengths))
    parts = [torch.randn(length, width, generator=generator) for length in lengths]
    nested: torch.Tensor = torch.nested.nested_tensor(parts, layout=torch.jagged)
    return nested


def check_parts(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    assert ours.is_nested
    torch.testing.assert_close(list(ours.unbind()), list(theirs.unbind()), rtol=1e-4, atol=1e-5)


WEIGHT = torch.linspace(-1, 1, 20).view(4, 5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.sin() @ WEIGHT).cos(),
        lambda x: functional.layer_norm(x + x.mean(-1, keepdim=True), (4,)) * 2,
        lambda x: x.transpose(1, 2) * 3,
    ],
)
def test_values(function: Callable[..., torch.Tensor]) -> None:
    compiled = torch.compile(function, backend="quern")
    quern.reset_counters()
    for lengths in ((2, 3), (4, 1, 3), (5, 5)):
        x = ragged(lengths, 4)
        check_parts(compiled(x), function(x))
    assert quern.counters()["launches"] > 0
    assert quern.counters()["fallbacks"] == {}


@pytest.mark.filterwarnings("ignore")
def test_gradients() -> None:
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.LayerNorm(6))
    compiled = torch.compile(layers, backend="quern")
    for lengths in ((2, 3), (4, 1, 3)):
        outcomes: list[Any] = []
        for call in (compiled, layers):
            layers.zero_grad()
            x = ragged(lengths, 4).requires_grad_()
            y = call(x)
            y.values().sin().sum().backward()
            assert x.grad is not None
            gradients = [p.grad for p in layers.parameters()]
            outcomes.append([y.values().detach(), x.grad.values(), gradients])
        torch.testing.assert_close(outcomes[0], outcomes[1], rtol=1e-4, atol=1e-5)
