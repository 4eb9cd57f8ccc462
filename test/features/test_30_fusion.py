"""Get a chain fused: twenty `sin` steps are one kernel; norm + activation + residual one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import quern
import torch
from torch.nn import functional


def launches(function: Callable[..., torch.Tensor], *inputs: Any) -> int:
    quern.reset_counters()
    torch.testing.assert_close(torch.compile(function, backend="quern")(*inputs), function(*inputs))
    counts = quern.counters()
    assert not counts["fallbacks"]
    assert not counts["preferred"]
    return int(counts["launches"])


def test_chain() -> None:
    def chain(x: torch.Tensor) -> torch.Tensor:
        for _ in range(20):
            x = x.sin()
        return x

    assert launches(chain, torch.randn(100)) == 1


def test_norm_activation_residual() -> None:
    def block(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return functional.gelu(functional.layer_norm(x, (64,), w, b)) + r

    assert launches(block, *torch.randn(2, 8, 64), *torch.randn(2, 64)) == 1


def test_result_meets_its_transpose() -> None:
    """Both read one square result along exchanged axes: no single loop computes them."""

    def scaled(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        return y + y.T

    def normed(x: torch.Tensor) -> torch.Tensor:
        y = torch.softmax(x, -1)
        return y + y.T

    def scanned(x: torch.Tensor) -> torch.Tensor:
        y = torch.cumsum(x, 0)
        return y * y.T

    for function in (scaled, normed, scanned):
        assert launches(function, torch.randn(6, 6)) == 2
