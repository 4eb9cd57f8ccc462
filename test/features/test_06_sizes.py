"""Change sizes: automatic, `dynamic=True`, `mark_dynamic`; at most two compiles."""

from __future__ import annotations

import pytest
import torch
from support import CountingBackend


@pytest.mark.parametrize("how", ["automatic", "dynamic", "marked"])
def test_four_sizes(how: str) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x * 2, -1)

    backend = CountingBackend()
    compiled = torch.compile(f, backend=backend, dynamic=True if how == "dynamic" else None)
    for size in (5, 9, 17, 33):
        x = torch.randn(3, size)
        if how == "marked":
            torch._dynamo.mark_dynamic(x, 1)
        torch.testing.assert_close(compiled(x), f(x))
    assert backend.graphs <= 2
