"""Ask whose fault a wrong result is: the same graph through ATen."""

from __future__ import annotations

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
