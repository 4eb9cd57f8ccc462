"""Compile a function, a module, a class's method."""

from __future__ import annotations

import torch
from torch import nn


class Scaler:
    """Something with a method."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    @torch.compile(backend="quern")
    def scale(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


def test_three_forms() -> None:
    x = torch.randn(8, 16)
    function = torch.compile(torch.sin, backend="quern")
    torch.testing.assert_close(function(x), torch.sin(x))
    module = nn.Sequential(nn.Linear(16, 4), nn.Tanh())
    torch.testing.assert_close(torch.compile(module, backend="quern")(x), module(x))
    torch.testing.assert_close(Scaler(3.0).scale(x), x * 3)


def test_module_compiled_in_place() -> None:
    module = nn.Linear(16, 4)
    x = torch.randn(2, 16)
    expected = module(x)
    module.compile(backend="quern")
    torch.testing.assert_close(module(x), expected)
