"""Stack equal layers: four equal layers need one set of kernels."""

from __future__ import annotations

import quern
import torch
from torch import nn


class Block(nn.Module):
    """A feed-forward layer behind a norm."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def kernels(layers: int) -> tuple[int, int]:
    """Distinct kernels of the program, and launches of a call."""
    model = nn.Sequential(*(Block() for _ in range(layers)))
    with torch.no_grad():
        record = quern.explain(model, torch.randn(5, 32)).graphs[0]
    return len(record.graph.stages()), sum("kernel" in step for step in record.graph.steps())


def test_one_set() -> None:
    three, launched = kernels(3)
    four, launched_more = kernels(4)
    assert launched_more > launched
    assert four == three
