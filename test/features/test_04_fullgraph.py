"""Ask for `fullgraph=True`: no break, or an error that names the line."""

from __future__ import annotations

import pytest
import torch


def test_no_break() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x.sin(), -1).sum()

    x = torch.randn(4, 4)
    assert torch._dynamo.explain(f)(x).graph_break_count == 0
    torch._dynamo.reset()
    torch.testing.assert_close(torch.compile(f, backend="quern", fullgraph=True)(x), f(x))


def test_error_names_the_line() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x + 1

    with pytest.raises(Exception, match=r"test_04_fullgraph\.py"):
        torch.compile(f, backend="quern", fullgraph=True)(torch.ones(2))
