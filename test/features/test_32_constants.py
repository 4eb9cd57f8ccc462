"""Use constants in the function: no recompile."""

from __future__ import annotations

import torch
from support import CountingBackend


def test_constant_tensor() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x * torch.tensor([1.0, 2.0, 3.0]) + torch.arange(3)

    backend = CountingBackend()
    compiled = torch.compile(f, backend=backend)
    for _ in range(3):
        x = torch.randn(3)
        torch.testing.assert_close(compiled(x), f(x))
    assert backend.graphs == 1
