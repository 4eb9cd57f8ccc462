"""Ask whose fault a wrong result is: the same graph through ATen."""

from __future__ import annotations

import pytest
import quern
import torch


def test_nothing_of_ours_runs() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return (x * 2 + 1).sum(0)

    x = torch.randn(5, 6)
    compiled = torch.compile(f, backend="quern", options={"executor": "aten"})
    compiled(x)
    quern.reset_counters()
    torch.testing.assert_close(compiled(x), f(x))
    counted = quern.counters()
    assert counted["launches"] == 0
    assert counted["calls"] == 1


@pytest.mark.filterwarnings("error:.*through ATen")
def test_nor_do_copies() -> None:
    """Copies, casts and fills need no kernel of the library, and are ATen's as well;
    nobody is warned of what he asked for."""

    def f(x: torch.Tensor) -> torch.Tensor:
        turned = x.transpose(0, 1).contiguous().to(torch.float64)
        return torch.full_like(turned, 2) * turned.clone().sin()

    x = torch.randn(5, 6, requires_grad=True)
    compiled = torch.compile(f, backend="quern", options={"executor": "aten"})
    torch.testing.assert_close(compiled(x), f(x))
    gradient = torch.autograd.grad(compiled(x).sum(), x)
    torch.testing.assert_close(gradient, torch.autograd.grad(f(x).sum(), x))
