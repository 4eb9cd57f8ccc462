"""Have graph breaks (print, item, loop, string): several graphs, right answer."""

from __future__ import annotations

import pytest
import torch
from support import CountingBackend


def printing(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    print("between")
    return y + 1


def with_item(x: torch.Tensor) -> torch.Tensor:
    y = x.sum()
    return x * 2 if y.item() > 0 else x * 3


def looping(x: torch.Tensor) -> torch.Tensor:
    for _ in range(int(x.max().item())):
        x = x + 1
    return x * 2


def with_text(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    text = f"{y.sum().item():.1f}"
    return y + len(text)


@pytest.mark.parametrize("function", [printing, with_item, looping, with_text])
def test_right_answer(function: object) -> None:
    backend = CountingBackend()
    x = torch.tensor([1.0, 2.0, 3.0])
    expected = function(x)
    torch.testing.assert_close(torch.compile(function, backend=backend)(x), expected)
    assert backend.graphs >= 2
