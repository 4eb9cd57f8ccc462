"""Get attention recognised: `softmax(q @ k.T / s) @ v` becomes one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch

Attention = Callable[..., torch.Tensor]


def plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) / 8, -1) @ v


def scaled_first(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax((q * 0.125) @ k.mT, dim=-1).matmul(v)


def biased(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) * 0.125 + bias, -1) @ v


def masked(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    scores = (q @ k.transpose(-1, -2)) / 8
    return torch.softmax(scores.masked_fill(bias < -1, float("-inf")), -1) @ v


def run(function: Attention, *inputs: Any) -> dict[str, Any]:
    torch._dynamo.reset()
    quern.reset_counters()
    compiled = torch.compile(function, backend="quern", fullgraph=True)
    torch.testing.assert_close(compiled(*inputs), function(*inputs))
    counts: dict[str, Any] = quern.counters()
    return counts


@pytest.mark.parametrize("batch", [(), (6,), (2, 3)])
def test_one_kernel(batch: tuple[int, ...]) -> None:
    q, k = torch.randn(*batch, 70, 64), torch.randn(*batch, 90, 64)
    v, bias = torch.randn(*batch, 90, 64), torch.randn(70, 90)
    for function in (plain, scaled_first):
        counts = run(function, q, k, v)
        assert (counts["launches"], counts["preferred"], counts["fallbacks"]) == (1, {}, {})
    for function in (biased, masked):
        counts = run(function, q, k, v, bias)
        assert (counts["launches"], counts["preferred"], counts["fallbacks"]) == (1, {}, {})


def test_weights_are_needed() -> None:
    """What is returned besides is stored: the pieces stay apart."""

    def both(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
        weights = torch.softmax(q @ k.transpose(-1, -2) / 8, -1)
        return weights @ v, weights

    q, k, v = torch.randn(3, 2, 70, 64)
    torch.testing.assert_close(torch.compile(both, backend="quern")(q, k, v), both(q, k, v))


def test_gradients() -> None:
    def gradients(function: Attention) -> list[torch.Tensor]:
        torch.manual_seed(0)
        inputs = [torch.randn(2, 3, 70, 64, requires_grad=True) for _ in range(3)]
        function(*inputs).square().sum().backward()
        return [each.grad for each in inputs if each.grad is not None]

    expected = gradients(plain)
    assert len(expected) == 3
    torch.testing.assert_close(gradients(torch.compile(plain, backend="quern")), expected)
